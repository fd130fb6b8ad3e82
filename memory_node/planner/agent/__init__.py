"""The agent loop: a language model reads the instruction, says its goals, calls skills and memory, and ends."""
