"""The `.acg` text of targets: grammar, parser, printer."""
