"""Measured comparisons, one subcommand each."""
