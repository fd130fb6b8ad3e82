"""Kinds of things and what can be done with them, read from a label space (docs/label_spaces.md)."""
