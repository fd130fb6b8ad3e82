"""A language model in this process: llama.cpp, as the xllamacpp wheel ships it, through its C interface."""
