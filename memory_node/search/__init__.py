"""Embedders, vector search and the ranking of what memory recalls."""
