"""What a frozen model has read of its last prompt, so that it is not read again."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from training.adapters.text_model import decoder, width


class KeptPrompt:
    """The attention memory of a causal model behind its last prompt. Nothing of it gets gradients."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.forget()

    def forget(self) -> None:
        """Forget the prompt."""
        self._tokens: list[int] = []
        self._memory: Any = DynamicCache(config=self._model.config)
        self._states = torch.zeros(0, width(self._model))

    def behind(self, tokens: Sequence[int]) -> tuple[Any, Tensor]:
        """Read a prompt. Return a memory to go on from, and the last-layer states (tokens, width) of the prompt."""
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
        return copy.deepcopy(self._memory), self._states
