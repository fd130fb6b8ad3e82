"""Soft-Mem: what the compiler says as latent tokens in the executor's embedding space (MemCompiler)."""
