"""Prompts as a model's tokens, and one GGUF model with one adapter that reads them for likelihoods and inner states."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, Protocol

import jinja2
import numpy as np
from jinja2.sandbox import ImmutableSandboxedEnvironment
from numpy.typing import NDArray

from memory_node.llm.chat import Deadline, LateError, Message, ModelMissingError, TooLongError
from memory_node.llm.llama.native import EVERY, PASS_TOKENS, NativeModel, Row, Vectors


def vector_tokens(vectors: Vectors) -> list[int]:
    """Return a number below 0 for each of the vectors (n, width): the same for the same vector, and for no other."""
    digests = (hashlib.blake2b(np.ascontiguousarray(row, np.float32).tobytes(), digest_size=7) for row in vectors)
    return [-1 - int.from_bytes(digest.digest(), "big") for digest in digests]


def passes(tokens: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Yield portions of at most `most`, each of tokens alone or of vectors alone, in their order."""
    start = 0
    while start < len(tokens):
        end, is_vector = start + 1, tokens[start] < 0
        while end < len(tokens) and end - start < most and (tokens[end] < 0) is is_vector:
            end += 1
        yield tokens[start:end]
        start = end


# Stands for what is said while the template is filled in; the template's own text has no such letters.
_MARK = "\ue000{}\ue001"
_MARKS = re.compile("\ue000(\\d+)\ue001")


class TemplateVocabulary(Protocol):
    """What a template needs of a model's tokenizer; see Vocabulary, which is llama.cpp's."""

    begin: int
    begins_with_it: bool
    end: int

    def tokens(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens of a text. control: names of control tokens in it are those tokens."""

    def ends(self, token: int) -> bool:
        """Return whether a token ends the model's turn."""

    def text_of_control(self, token: int) -> str:
        """Return how a control token is written in a template, "" for none."""


class ChatTemplate:
    """A template in the form that Hugging Face gave it (Jinja2), run in a sandbox: it comes with a file from outside.

    What is said is put in as plain text: "<|im_end|>" in a label or a reply stays these ten letters, and can never end
    a turn or begin one that a person or the system did not say.

    source: "" for a model without one, which gets the texts separated by empty lines. `end` is the token that ends a
    turn of the model.

    Raises:
        ModelMissingError: the template cannot be read.
    """

    def __init__(self, source: str, vocabulary: TemplateVocabulary) -> None:
        self._vocabulary = vocabulary
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        try:
            self._template = environment.from_string(source or _PLAIN)
        except jinja2.TemplateError as error:
            raise ModelMissingError(f"the model's chat template cannot be read: {error}") from error
        self.end = self._end_of_turn()

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """Return the tokens of a dialogue, up to where the model's turn begins or goes on.

        Latent vectors of a message stand behind its text, under numbers below 0, see vector_tokens.

        Raises:
            ModelMissingError: the template fails.
        """
        said = list(messages)
        begun = said.pop().text if said and said[-1].role == "assistant" else ""
        try:
            text = self._filled(said)
        except jinja2.TemplateError:
            said = _without_system(said)  # some templates know no system
            try:
                text = self._filled(said)
            except jinja2.TemplateError as error:
                raise ModelMissingError(f"the model's chat template fails: {error}") from error
        tokens: list[int] = []
        for index, part in enumerate(_MARKS.split(text)):
            if index % 2 == 0:
                tokens += self._vocabulary.tokens(part, control=True)
                continue
            message = said[int(part)]
            tokens += self._vocabulary.tokens(message.text.strip())
            tokens += vector_tokens(message.latent) if message.latent is not None else []
        tokens += self._vocabulary.tokens(begun)
        if self._vocabulary.begins_with_it and tokens[:1] != [self._vocabulary.begin]:
            tokens.insert(0, self._vocabulary.begin)
        return tokens

    def _end_of_turn(self) -> int:
        """Return the token that the template writes behind what the model said."""
        try:
            behind = _MARKS.split(self._filled([Message("user", ""), Message("assistant", "")]))[-1]
        except jinja2.TemplateError:
            behind = ""
        ends = (token for token in self._vocabulary.tokens(behind, control=True) if self._vocabulary.ends(token))
        return next(ends, self._vocabulary.end)

    def _filled(self, messages: Sequence[Message]) -> str:
        """Return the template with a mark for each message. Those of image-text models may take a list of parts only,
        and say nothing of a plain text."""
        marks = [_MARK.format(number) for number in range(len(messages))]
        for contents in (marks, [[{"type": "text", "text": mark}] for mark in marks]):
            text = self._template.render(
                messages=[{"role": one.role, "content": content} for one, content in zip(messages, contents)],
                add_generation_prompt=True,
                bos_token=self._vocabulary.text_of_control(self._vocabulary.begin),
                eos_token=self._vocabulary.text_of_control(self._vocabulary.end),
            )
            if all(mark in text for mark in marks):
                return text
        raise jinja2.TemplateError("it leaves out what is said")


_PLAIN = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"


def _refuse(text: str) -> NoReturn:
    raise jinja2.TemplateError(text)


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Return the dialogue with what the system says before what the user says first."""
    system = [message.text for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    if not others:
        return [Message("user", "\n\n".join(system))]
    return [replace(others[0], text="\n\n".join([*system, others[0].text])), *others[1:]]


PROMPT = 0  # the sequence that prompts are read into
FIRST_FREE = PROMPT + 1
FREE_SEQUENCES = 60


@dataclass(frozen=True)
class Prompt:
    """What is read. vectors: the embedding (width,) that each number below 0 among the tokens stands for."""

    tokens: tuple[int, ...]
    vectors: Mapping[int, Vectors] = field(default_factory=dict)


class LlamaEngine:
    """A loaded model; thread-safe. Who waits for it gives up at the deadline.

    The last prompt is kept: the beginning that the next one shares with it is not read again.

    Args:
        path: the GGUF file.
        window_tokens: tokens of the longest prompt with what follows it.
        threads: that compute.
        adapter: path of a LoRA adapter, "" for none.

    Raises:
        ModelMissingError: see NativeModel.
    """

    def __init__(self, path: Path, window_tokens: int, threads: int, adapter: str = "") -> None:
        self.native = NativeModel(path, window_tokens, FIRST_FREE + FREE_SEQUENCES, threads, adapter)
        self.template = ChatTemplate(self.native.chat_template, self.native.vocabulary)
        self._kept: list[int] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def behind(self, prompt: Prompt, room: int, deadline: Deadline) -> Iterator[NDArray[np.float32]]:
        """Read a prompt and give the logits (vocabulary,) behind it. Until the end nobody else has the model.

        The caller may read up to `room` tokens behind the prompt, in its sequence and in free ones, which it cuts.

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        if len(prompt.tokens) + room > self.native.window_tokens:
            window = self.native.window_tokens
            raise TooLongError(f"a prompt of {len(prompt.tokens)} tokens and {room} behind it; the window has {window}")
        if not self._lock.acquire(timeout=deadline.left_s()):
            raise LateError(f"the model was busy with other requests for {deadline.seconds:g} s")
        try:
            yield self._read(prompt, deadline)
            self.native.cut(PROMPT, len(prompt.tokens))
        except BaseException:
            # After a pass that failed or was interrupted nobody knows what the memory holds.
            self._forget()
            raise
        finally:
            self._lock.release()

    def states(self, prompt: Prompt, vectors: Vectors, deadline: Deadline) -> Vectors:
        """Return the last layer's states (n, width) of vectors (n, width) behind a prompt; at most PASS_TOKENS.

        Raises:
            LateError: the deadline passed. TooLongError: they do not fit the window.
        """
        with self.behind(prompt, len(vectors), deadline):
            first = len(prompt.tokens)
            return self.native.states([(0, first + index, (PROMPT,), True) for index in range(len(vectors))], vectors)

    def forget(self) -> None:
        """Forget the prompt that was read last."""
        with self._lock:
            self._forget()

    def close(self) -> None:
        """Free the model; nothing can be asked afterwards."""
        with self._lock:
            self.native.close()

    def _forget(self) -> None:
        self.native.cut(EVERY, 0)
        self._kept = []

    def _read(self, prompt: Prompt, deadline: Deadline) -> NDArray[np.float32]:
        """Read what is not known of a prompt, its last token in any case; return the logits behind it.

        It is read in the same passes whatever is known: llama.cpp computes wide and narrow passes a little differently.
        """
        limit = min(len(self._kept), len(prompt.tokens) - 1)
        known = next((at for at in range(limit) if self._kept[at] != prompt.tokens[at]), max(limit, 0))
        logits, end = np.empty((1, 0), dtype=np.float32), 0
        for part in passes(prompt.tokens, PASS_TOKENS):
            start, end = end, end + len(part)
            if end <= known:
                continue
            deadline.left_s()
            self.native.cut(PROMPT, start)
            del self._kept[start:]
            rows: list[Row] = [(token, start + i, (PROMPT,), False) for i, token in enumerate(part)]
            rows[-1] = (*rows[-1][:3], end == len(prompt.tokens))
            vectors = np.stack([prompt.vectors[token] for token in part]) if part[0] < 0 else None
            logits = self.native.compute(rows, vectors)
            self._kept += part
        return logits[0]
