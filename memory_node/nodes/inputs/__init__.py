"""Inputs from topics in the order of their stamps, so that a recording gives the same memory at any rate."""
