"""Training of the instruction model: people's words -> goals (torch lives here, never at run time)."""
