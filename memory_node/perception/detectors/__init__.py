"""Detectors as people export them: what a model is told by its file, how images enter it, what its outputs mean."""
