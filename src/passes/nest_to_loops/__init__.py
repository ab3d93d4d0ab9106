"""Code for machines of control model `loops`: what their actions are called, and groups of instructions."""
