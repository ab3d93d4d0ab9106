"""From codelets to instructions, without IR: what is moved and issued, with which fields, waiting on what."""
