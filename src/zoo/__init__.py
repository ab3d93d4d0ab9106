"""Layers and networks by name: those of papers on mappers, on schedules and on fusion, and small operators."""
