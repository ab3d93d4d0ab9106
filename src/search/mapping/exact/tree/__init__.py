"""The search tree: skeletons in the order of their bounds, walks through their loops, prices of leaves."""
