"""What a frozen model has read, so that it is not read again: of the last prompt, and of some before it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from training.adapters.text_model import decoder, width


class KeptPrompt:
    """The attention memory of a causal model behind its last prompt. Nothing of it gets gradients.

    most: prompts that are kept besides, in half precision (10 MB each for the embedded model), for when they come
        again.
    """

    def __init__(self, model: Any, most: int = 0) -> None:
        self._model = model
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Forget all prompts."""
        self._tokens: list[int] = []
        self._memory: Any = DynamicCache(config=self._model.config)
        self._states = torch.zeros(0, width(self._model))
        self._kept: dict[tuple[int, ...], tuple[list[tuple[Tensor, Tensor]], Tensor]] = {}

    def behind(self, tokens: Sequence[int]) -> tuple[Any, Tensor]:
        """Read a prompt. Return a memory to go on from, and the last-layer states (tokens, width) of the prompt."""
        known = self._kept.get(tuple(tokens))
        if known is not None:
            return self._restored(known[0]), known[1]
        limit = min(len(tokens), len(self._tokens))
        shared = next((at for at in range(limit) if tokens[at] != self._tokens[at]), limit)
        if shared < len(self._tokens):
            self._memory.crop(shared - len(self._tokens))  # below 0: how many are taken out
        self._states = self._states[:shared]
        if shared < len(tokens):
            with torch.no_grad():
                read = torch.tensor([list(tokens[shared:])])
                out = decoder(self._model)(read, past_key_values=self._memory, use_cache=True)
            self._states = torch.cat((self._states, out.last_hidden_state[0]))
        self._tokens = list(tokens)
        if len(self._kept) < self._most:
            layers = [(layer.keys.bfloat16(), layer.values.bfloat16()) for layer in self._memory.layers]
            self._kept[tuple(tokens)] = (layers, self._states)
        return copy.deepcopy(self._memory), self._states

    def _restored(self, layers: Sequence[tuple[Tensor, Tensor]]) -> Any:
        memory = DynamicCache(config=self._model.config)
        for number, (keys, values) in enumerate(layers):
            memory.update(keys.float(), values.float(), number)
        return memory
