"""Calls chosen one by one among those that can be made, by likelihood or by chance: rows of benchmarks."""
