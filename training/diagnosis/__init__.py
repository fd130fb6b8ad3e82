"""Why compiled memory helps, in pictures: how much attention it gets, and where latent tokens lie (MemCompiler)."""
