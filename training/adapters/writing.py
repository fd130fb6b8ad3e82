"""Replies that a model in training writes: by torch on any machine, or by llama.cpp as the robot runs it."""

from __future__ import annotations

import contextlib
import ctypes
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import BrokenReplyError, Deadline, Message
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.engine import PROMPT, LlamaEngine, Prompt
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.llama.native import Pointer, Vocabulary, llama_library
from memory_node.llm.open_model import ModelShelf
from training.adapters.adapter import inner, save_adapter
from training.adapters.example import Speller

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama_token_data
_FIRST_LOOK = 64


class _TokenDataArray(ctypes.Structure):
    """struct llama_token_data_array."""

    _fields_ = (("data", Pointer), ("size", ctypes.c_size_t), ("selected", ctypes.c_int64), ("sorted", ctypes.c_bool))


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen. grammar: GBNF that the reply keeps to, "" for none."""

    temperature: float
    random: np.random.Generator
    grammar: str = ""


class Grammar:
    """A GBNF grammar and how far a reply has followed it; `close` frees it.

    Raises:
        InvalidValueError: llama.cpp cannot read the grammar.
    """

    def __init__(self, vocabulary: Vocabulary, text: str) -> None:
        self._library = llama_library()
        self._library.llama_sampler_init_grammar.restype = Pointer
        made = self._library.llama_sampler_init_grammar(vocabulary.pointer, text.encode("utf-8", "replace"), b"root")
        if not made:
            raise InvalidValueError(f"llama.cpp cannot read this grammar:\n{text[:400]}")
        self._pointer = Pointer(made)

    def allows(self, tokens: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these tokens may come next."""
        rows = np.zeros(len(tokens), dtype=_TOKEN_DATA)
        rows["id"] = tokens
        candidates = _TokenDataArray(rows.ctypes.data, len(rows), -1, False)
        self._library.llama_sampler_apply(self._pointer, ctypes.byref(candidates))
        return np.isfinite(rows["logit"])

    def follow(self, token: int) -> None:
        """Go on with a token that it allows."""
        self._library.llama_sampler_accept(self._pointer, token)

    def close(self) -> None:
        """Free it; again does nothing."""
        if self._pointer:
            self._library.llama_sampler_free(self._pointer)
            self._pointer = Pointer()


class TokenChoice:
    """Chooses tokens one after the other.

    By chance, a token is drawn with probability proportional to exp(logit / temperature) among those allowed: the
    greatest of logit / temperature + Gumbel noise is such a draw (Maddison et al. 2014), and the greatest allowed one
    is a draw among the allowed.
    """

    def __init__(self, temperature: float, random: np.random.Generator, grammar: Grammar | None = None) -> None:
        self._temperature = temperature
        self._random = random
        self._grammar = grammar

    def next(self, logits: NDArray[np.float32]) -> int:
        """Return the next token; logits: (vocabulary,).

        Raises:
            BrokenReplyError: the grammar allows none.
        """
        weights = logits
        if self._temperature > 0.0:
            noise = self._random.gumbel(size=len(logits)).astype(np.float32)
            weights = logits / np.float32(self._temperature) + noise
        best = int(weights.argmax())
        if self._grammar is None:
            return best
        # A grammar looks at tokens one by one, so the likeliest are tried first.
        looks = (
            lambda: np.array([best]),
            lambda: np.argpartition(weights, -_FIRST_LOOK)[-_FIRST_LOOK:],
            lambda: np.arange(len(weights)),
        )
        for look in looks:
            tokens = look()
            allowed = tokens[self._grammar.allows(tokens.astype(np.int32))]
            if len(allowed):
                return int(allowed[weights[allowed].argmax()])
        raise BrokenReplyError("the grammar allows no token that the model has")

    def follow(self, token: int) -> None:
        """Take note that a token was written."""
        if self._grammar is not None:
            self._grammar.follow(token)


def written(
    engine: LlamaEngine, prompt: Prompt, most_tokens: int, choice: TokenChoice, deadline: Deadline
) -> tuple[tuple[int, ...], bool]:
    """Return a reply's tokens, at most `most_tokens`, and whether the model ended its turn.

    Raises:
        LateError: the deadline passed. TooLongError: prompt and reply do not fit the window.
    """
    said: list[int] = []
    ends: Callable[[int], bool] = engine.native.vocabulary.ends
    with engine.behind(prompt, most_tokens, deadline) as logits:
        while len(said) < most_tokens:
            deadline.left_s()
            token = choice.next(logits)
            if ends(token):
                return tuple(said), True
            choice.follow(token)
            row = (token, len(prompt.tokens) + len(said), (PROMPT,), True)
            said.append(token)
            logits = engine.native.compute([row])[0]
    return tuple(said), False


@dataclass(frozen=True)
class Written:
    """A reply. prompt, tokens: of the dialogue, and of the reply with its end. whole: whether it came to its end.
    grammar: that the reply was held to, "" for none."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    text: str
    whole: bool
    grammar: str = ""


class Writer(Protocol):
    """Writes as a model does that learns."""

    def renew(self) -> None:
        """Write with the weights that the model has now."""

    def write(self, messages: Sequence[Message], count: int, sampling: Sampling) -> list[Written]:
        """Return `count` replies to a dialogue. sampling: its grammar is for writers that hold replies to a form."""

    def allowed(self, written: Written) -> Tensor | None:
        """Return which tokens might be said at each place of a reply, (tokens, vocabulary), None for all."""


class TorchWriter:
    """A Writer by torch. most_tokens: of a reply. Replies are held to no form."""

    def __init__(self, model: Any, speller: Speller, most_tokens: int) -> None:
        self._model = inner(model)
        self._speller = speller
        self._most_tokens = most_tokens

    def renew(self) -> None:
        """Do nothing: what writes is what is trained."""

    @torch.no_grad()
    def write(self, messages: Sequence[Message], count: int, sampling: Sampling) -> list[Written]:
        """Return replies to a dialogue, which is read once; see Writer."""
        self._model.eval()
        draws = torch.Generator("cpu").manual_seed(int(sampling.random.integers(2**31)))
        prompt = tuple(self._speller.prompt(messages))
        read = self._model(torch.tensor([prompt]), use_cache=True)
        cache = read.past_key_values
        cache.batch_repeat_interleave(count)
        logits = read.logits[:, -1].expand(count, -1)
        said: list[list[int]] = [[] for _ in range(count)]
        going_on = set(range(count))
        while True:
            chosen = _chosen(logits, sampling.temperature, draws)
            for row in tuple(going_on):
                said[row].append(int(chosen[row]))
                if said[row][-1] == self._speller.end or len(said[row]) >= self._most_tokens:
                    going_on.discard(row)
            if not going_on:
                return [self._written(prompt, tokens) for tokens in said]
            read = self._model(chosen[:, None].to(logits.device), past_key_values=cache, use_cache=True)
            cache, logits = read.past_key_values, read.logits[:, -1]

    def allowed(self, written: Written) -> None:
        """Return that every token might be said."""

    def _written(self, prompt: tuple[int, ...], tokens: Sequence[int]) -> Written:
        whole = tokens[-1] == self._speller.end
        return Written(prompt, tuple(tokens), self._speller.text(tokens), whole)


def log_probabilities(
    logits: Tensor, tokens: Sequence[int], temperature: float, allowed: Tensor | None = None
) -> Tensor:
    """Return the log-probabilities (tokens,) with which tokens are drawn by their logits (tokens, vocabulary).

    temperature: 0 counts as 1. allowed: which tokens might be said at each place, (tokens, vocabulary), None for all.
    """
    spread = logits / temperature if temperature else logits
    own = spread.gather(1, torch.tensor(tokens).unsqueeze(1))[:, 0]
    may = spread if allowed is None else spread.masked_fill(~allowed.to(spread.device), float("-inf"))
    return own - may.logsumexp(-1)


def _chosen(logits: Tensor, temperature: float, draws: torch.Generator) -> Tensor:
    """Return a token for each row of logits (rows, vocabulary)."""
    if not temperature:
        return logits.argmax(-1).cpu()
    chances = (logits.float() / temperature).softmax(-1).cpu()
    return torch.multinomial(chances, 1, generator=draws)[:, 0]


# Of a reply, on whatever machine; nobody waits for it.
REPLY_S = 3600.0


class LlamaWriter:
    """A Writer by llama.cpp. model: whose adapter is exported at each `renew`. config: of the file under it."""

    def __init__(self, model: Any, config: ModelConfig) -> None:
        self._model = model
        self._config = config
        self._shelf = ModelShelf()
        self._folder = tempfile.TemporaryDirectory()  # each process of a run writes its own
        self.renew()

    @property
    def opened(self) -> LlamaModel:
        """What runs the model as it was at the last `renew`."""
        return self._opened

    def renew(self) -> None:
        """Write with the weights that the model has now."""
        self._shelf.close()
        adapter = Path(self._folder.name) / "adapter.gguf"
        save_adapter(self._model, adapter)
        self._opened = self._shelf.open_in_process(self._config.changed(adapter_path=str(adapter)))

    def write(self, messages: Sequence[Message], count: int, sampling: Sampling) -> list[Written]:
        """Return replies in their form; see Writer."""
        return [self._written(messages, sampling) for _ in range(count)]

    def allowed(self, reply: Written) -> Tensor | None:
        """Return what a reply's grammar allowed at each place; see Writer."""
        if not reply.grammar:
            return None
        vocabulary = self._opened.file.vocabulary
        every = np.arange(vocabulary.size, dtype=np.int32)
        found = np.zeros((len(reply.tokens), len(every)), bool)
        with contextlib.closing(Grammar(vocabulary, reply.grammar)) as grammar:
            for place, token in enumerate(reply.tokens):
                found[place] = grammar.allows(every)
                if not vocabulary.ends(token):
                    grammar.follow(token)
        return torch.as_tensor(found)

    def _written(self, messages: Sequence[Message], sampling: Sampling) -> Written:
        engine, deadline = self._opened.engine, Deadline(REPLY_S)
        prompt = tuple(engine.template.tokens(messages))
        with contextlib.ExitStack() as stack:
            grammar: Grammar | None = None
            if sampling.grammar:
                grammar = stack.enter_context(contextlib.closing(Grammar(engine.native.vocabulary, sampling.grammar)))
            choice = TokenChoice(sampling.temperature, sampling.random, grammar)
            said, whole = written(engine, Prompt(prompt), self._config.max_reply_tokens, choice, deadline)
        text = engine.native.vocabulary.text(said)
        return Written(prompt, (*said, engine.template.end) if whole else said, text, whole, sampling.grammar)
