"""Dominance and symmetries: what need not be searched, as something as good is."""
