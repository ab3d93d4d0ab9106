"""`convert-nest-to-codelet`: mapped groups, alone or fused, as codelets."""
