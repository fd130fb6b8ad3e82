"""Propositions with their provenance."""
