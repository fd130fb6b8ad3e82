"""Runs one GGUF model for all who use it: replies and scores, behind a lock, with the prompts that it has read."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LateError, TooLongError
from memory_node.llm.llama.candidate_reading import CandidateReading
from memory_node.llm.llama.candidate_tree import candidate_tree, portions
from memory_node.llm.llama.chat_template import ChatTemplate
from memory_node.llm.llama.native_model import PASS_TOKENS, NativeModel, Row
from memory_node.llm.llama.prefix_slots import SEQUENCE, PrefixSlots, Slot
from memory_node.llm.llama.reply_guesses import ReadAhead, ReplyGuesses
from memory_node.llm.llama.sampling import Grammar, TokenChoice
from memory_node.llm.llama.vector_tokens import Vectors, passes

# Prompts that are kept for each adapter: the one that is read, and the last of another use (lessons, knowledge).
_SLOTS = 2
# Candidates that are scored side by side, and the tokens that they may have besides shared beginnings.
_BRANCHES = 60
_FIRST_BRANCH = SEQUENCE + 1
_MOST_NODES = 512


@dataclass(frozen=True)
class Prompt:
    """What is read before a reply. adapter: path of the LoRA adapter that reads it, "" for none. vectors: the embedding
    (width,) that each number below 0 among the tokens stands for."""

    tokens: tuple[int, ...]
    adapter: str = ""
    vectors: Mapping[int, Vectors] = field(default_factory=dict)


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen. grammar: GBNF that the reply keeps to, "" for none."""

    temperature: float
    random: np.random.Generator
    grammar: str = ""


@dataclass(frozen=True)
class Written:
    """What a reply took. known_tokens: of the prompt, read in an earlier call. said: the reply's tokens. whole: the
    model ended its turn."""

    known_tokens: int
    said: tuple[int, ...]
    whole: bool

    @property
    def tokens(self) -> int:
        """How many tokens the reply has."""
        return len(self.said)


class LlamaEngine:
    """A loaded model; thread-safe. Who waits for it gives up at the deadline.

    Args:
        path: the GGUF file.
        window_tokens: tokens that all kept prompts and replies have together.
        threads: 0: one for each core, at most 8.
        weights: a GGUF file with other weights of the same model, None for its own.
        merged: path of the LoRA adapter that these weights contain, "" for none.

    Raises:
        ModelMissingError: see NativeModel.
    """

    def __init__(
        self, path: Path, window_tokens: int, threads: int = 0, weights: Path | None = None, merged: str = ""
    ) -> None:
        self._native = NativeModel(path, window_tokens, _FIRST_BRANCH + _BRANCHES, threads, weights)
        self._merged = merged
        self.template = ChatTemplate(self._native.chat_template, self._native.vocabulary)
        self._slots = PrefixSlots(self._native, _SLOTS, self._native.window_tokens)
        self._guesses = ReplyGuesses()
        self._lock = threading.Lock()

    @property
    def native(self) -> NativeModel:
        """What it runs, for its name and figures."""
        return self._native

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self._native.vocabulary.tokens(text))

    def write(
        self,
        prompt: Prompt,
        most_tokens: int,
        deadline: Deadline,
        sampling: Sampling,
        on_piece: Callable[[bytes], None],
    ) -> Written:
        """Write a reply: up to the end of the model's turn, or `most_tokens`. on_piece gets its bytes token by token.

        Raises:
            LateError: the deadline passed. TooLongError: prompt and reply do not fit the window.
            InvalidValueError: a grammar that cannot be read.
        """
        with self._taken(deadline), contextlib.ExitStack() as stack:
            grammar: Grammar | None = None
            if sampling.grammar:
                grammar = stack.enter_context(contextlib.closing(self._native.grammar(sampling.grammar)))
            choice = TokenChoice(sampling.temperature, sampling.random, grammar)
            slot = self._slot(prompt, most_tokens)
            known = len(slot.tokens)
            logits = self._read(slot, prompt, deadline)

            def guess(said: Sequence[int]) -> Sequence[int]:
                # Replies in a form are alike; free text seldom says again what stood before.
                guesses = self._guesses.behind(prompt.tokens, said) if grammar is not None else ()
                return guesses[: most_tokens - len(said)]

            reply = stack.enter_context(contextlib.closing(ReadAhead(self._native, slot, guess)))
            whole = False
            while not whole and len(reply.said) < most_tokens:
                deadline.left_s()
                token = choice.next(logits)
                whole = self._native.vocabulary.ends(token)
                if not whole:
                    choice.follow(token)
                    on_piece(self._native.vocabulary.piece(token))
                    logits = reply.behind(token)
            if grammar is not None:
                self._guesses.keep(reply.said)
        return Written(known, tuple(reply.said), whole)

    def read(self, prompt: Prompt, deadline: Deadline) -> None:
        """Read a prompt, so that it is known later.

        Raises:
            LateError: the deadline passed; what was read till then stays. TooLongError: it does not fit the window.
        """
        with self._taken(deadline):
            slot = self._slot(prompt, 0)
            self._read(slot, prompt, deadline)

    def states(self, prompt: Prompt, vectors: Vectors, deadline: Deadline, adapter: str = "") -> Vectors:
        """Return the last layer's states (n, width) of vectors (n, width) behind a prompt; at most PASS_TOKENS.

        adapter: reads the vectors, and them alone, beside the prompt's own adapter.

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        with self._taken(deadline):
            slot = self._slot(prompt, len(vectors))
            self._read(slot, prompt, deadline)
            first = len(slot.tokens)
            rows: list[Row] = [(0, first + index, (slot.sequence,), True) for index in range(len(vectors))]
            self._native.use_adapters(*self._beside(prompt), adapter)
            found = self._native.states(rows, vectors)
            self._native.cut(slot.sequence, first)
            return found

    def log_likelihoods(self, prompt: Prompt, candidates: Sequence[Sequence[int]], deadline: Deadline) -> list[float]:
        """Return for each candidate, each of one token at least, log p(its tokens | prompt).

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        found = [0.0] * len(candidates)
        with self._taken(deadline):
            slot, behind = self._slot_for(prompt, candidates, deadline)
            for portion in portions(candidates, _BRANCHES, _MOST_NODES):
                tree = candidate_tree([candidates[i] for i in portion])
                with CandidateReading(self._native, slot, tree, behind, _FIRST_BRANCH, deadline) as reading:
                    for i, score in zip(portion, reading.scores()):
                        found[i] = score
        return found

    def likeliest(
        self, prompt: Prompt, candidates: Sequence[Sequence[int]], bonuses: Sequence[float], deadline: Deadline
    ) -> tuple[int, float]:
        """Return the number of the candidate with the highest log p(its tokens | prompt) plus bonus, and that log p.

        candidates: one at least. It reads only what may be part of the best one.

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        best: tuple[float, int, float] | None = None
        with self._taken(deadline):
            slot, behind = self._slot_for(prompt, candidates, deadline)
            for portion in portions(candidates, _BRANCHES, _MOST_NODES):
                tree = candidate_tree([candidates[i] for i in portion])
                own = [bonuses[i] for i in portion]
                with CandidateReading(self._native, slot, tree, behind, _FIRST_BRANCH, deadline) as reading:
                    at, score = reading.likeliest(own)
                if best is None or score + own[at] > best[0]:
                    best = score + own[at], portion[at], score
        assert best is not None, "one candidate at least"
        return best[1:]

    def forget(self) -> None:
        """Forget all prompts that were read."""
        with self._lock:
            self._forget()

    def close(self) -> None:
        """Free the model; nothing can be asked afterwards."""
        with self._lock:
            self._native.close()

    @contextlib.contextmanager
    def _taken(self, deadline: Deadline) -> Iterator[None]:
        if not self._lock.acquire(timeout=deadline.left_s()):
            raise LateError(f"the model was busy with other requests for {deadline.seconds:g} s")
        try:
            yield
        except (LateError, TooLongError):
            raise
        except BaseException:
            # After a pass that failed or was interrupted nobody knows what the memory holds.
            self._forget()
            raise
        finally:
            self._lock.release()

    def _forget(self) -> None:
        self._native.clear()
        self._slots.forget_all()

    def _slot_for(
        self, prompt: Prompt, candidates: Sequence[Sequence[int]], deadline: Deadline
    ) -> tuple[Slot, NDArray[np.float32]]:
        """Return the slot with a prompt and room for candidates behind it, and the logits behind its last token."""
        longest = max(map(len, candidates), default=0)
        if longest > _MOST_NODES:
            raise TooLongError(f"a candidate of {longest} tokens; at most {_MOST_NODES} are scored")
        slot = self._slot(prompt, _MOST_NODES)
        return slot, self._read(slot, prompt, deadline).copy()

    def _slot(self, prompt: Prompt, room: int) -> Slot:
        self._native.use_adapters(*self._beside(prompt))
        return self._slots.take(prompt.adapter, prompt.tokens, room)

    def _beside(self, prompt: Prompt) -> Sequence[str]:
        """Return the adapters that read a prompt beside the weights."""
        assert prompt.adapter == self._merged or not self._merged, "these weights serve one adapter only"
        return () if self._merged else (prompt.adapter,)

    def _read(self, slot: Slot, prompt: Prompt, deadline: Deadline) -> NDArray[np.float32]:
        """Read what the slot lacks of a prompt; return the logits (vocabulary,) behind its last token."""
        logits = np.empty((1, 0), dtype=np.float32)
        for part in passes(prompt.tokens[len(slot.tokens) :], PASS_TOKENS):
            deadline.left_s()
            first = len(slot.tokens)
            last = first + len(part) == len(prompt.tokens)
            rows: list[Row] = [(token, first + i, (slot.sequence,), False) for i, token in enumerate(part)]
            rows[-1] = (*rows[-1][:3], last)
            vectors = np.stack([prompt.vectors[token] for token in part]) if part[0] < 0 else None
            logits = self._native.compute(rows, vectors)
            slot.tokens += part
        return logits[0]
