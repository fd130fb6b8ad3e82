"""How much a model attends to what memory says: the mean pre-softmax attention logit on its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from memory_node.llm.chat import Message
from training.adapters.example import Tokenizer


def memory_tokens(messages: Sequence[Message], memory: str, tokenizer: Tokenizer) -> tuple[list[int], range]:
    """Return a dialogue's tokens, and the places of what memory says in it: the last occurrence of `memory`.

    Raises:
        ValueError: no message says it.
    """
    tokens = tokenizer.prompt(messages)
    index = next((at for at in reversed(range(len(messages))) if memory in messages[at].text), None)
    if index is None:
        raise ValueError(f"no message of the dialogue contains {memory[:60]!r}")
    message = messages[index]
    head, _, tail = message.text.rpartition(memory)
    # Without it and what follows, and without it and what goes before, the rest stays as it is.
    before = tokenizer.prompt([*messages[:index], Message(message.role, f"{head}\0{tail}"), *messages[index + 1 :]])
    start = _shared(tokens, before)
    end = len(tokens) - _shared(tokens[::-1], before[::-1])
    return tokens, range(start, max(start + 1, end))


def mean_logit(model: Any, tokens: Sequence[int], places: range) -> float:
    """Return the mean over layers and heads of q k / sqrt(d), from the last token to the tokens at some places.

    model: a causal model of the architecture "llama", without gradients.
    """
    with torch.no_grad(), _projections(model) as (queries, keys):
        ids = torch.tensor([list(tokens)])
        model.model(ids, use_cache=False)
        positions = torch.arange(len(tokens)).unsqueeze(0)
        turned = model.model.rotary_emb(queries[0], position_ids=positions)
        logits = [_logits(query, key, turned, model.config, places) for query, key in zip(queries, keys, strict=True)]
    return float(torch.stack(logits).mean())


def _logits(query: Tensor, key: Tensor, turned: tuple[Tensor, Tensor], config: Any, places: range) -> Tensor:
    """Return the logits (heads, places) of one layer. query, key: what its projections gave, (1, tokens, width)."""
    size = config.hidden_size // config.num_attention_heads
    heads = (values.view(1, values.shape[1], -1, size).transpose(1, 2) for values in (query, key))
    asks, keys = apply_rotary_pos_emb(*heads, *turned)
    keys = keys.repeat_interleave(config.num_attention_heads // config.num_key_value_heads, dim=1)
    return torch.as_tensor(keys[0, :, places.start : places.stop] @ asks[0, :, -1:].transpose(1, 2) / size**0.5)[..., 0]


@contextmanager
def _projections(model: Any) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Give the outputs of the query and key projections, layer by layer, of what the model reads meanwhile."""
    queries, keys = list[Tensor](), list[Tensor]()
    hooks = []
    for layer in model.model.layers:
        for projection, found in ((layer.self_attn.q_proj, queries), (layer.self_attn.k_proj, keys)):
            hooks.append(projection.register_forward_hook(lambda _m, _i, out, found=found: found.append(out)))
    try:
        yield queries, keys
    finally:
        for hook in hooks:
            hook.remove()


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    limit = min(len(one), len(other))
    return next((at for at in range(limit) if one[at] != other[at]), limit)
