"""A policy that simulates several others and follows the best, for comparison: no robot runs it."""
