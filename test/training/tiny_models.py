"""A language model made from scratch, small enough to be trained in a test."""

import torch
import transformers


def tiny_llama(words: int, width: int = 48, seed: int = 0, **others: object) -> transformers.LlamaForCausalLM:
    """Return a new model of two layers. words: of its vocabulary; others: of its configuration."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        **{"intermediate_size": 64, "max_position_embeddings": 2048, **others},
    )
    return transformers.LlamaForCausalLM(config)
