"""Traffic: words of tiles and of windows that slide, and what they cost when loops move them."""
