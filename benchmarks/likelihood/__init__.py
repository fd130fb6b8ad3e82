"""How likely a model in this process finds given replies: exact, over a tree of candidates."""
