"""PlugMem's modules as calls of a language model, each asked, checked and repaired by llm.ask; off without a model."""
