"""Search for tiles, loop orders and spatial splits of one kernel."""
