"""Training of the learned compiler of memory."""
