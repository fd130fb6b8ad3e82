"""The executor policy: a LoRA adapter that lets the embedded model choose the next command of a text game."""
