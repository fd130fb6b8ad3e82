"""Propositions and prescriptions with their provenance."""
