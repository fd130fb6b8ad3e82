"""Offline training; the only place where torch lives."""
