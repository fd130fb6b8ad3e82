"""`memory-node bench memento`: other people's memory tasks, on personal things and habits (Kwon et al. 2025)."""
