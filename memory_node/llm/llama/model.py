"""A language model in this process, for one use: a GGUF file, perhaps with a LoRA adapter of its own."""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.chat import GrammarForm, JsonForm, Message, Reply, ReplyForm, Score, ignore
from memory_node.llm.config import ModelConfig
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import UnsupportedError
from memory_node.llm.fitted_wording import FILLER, fitted
from memory_node.llm.json_grammar import json_grammar
from memory_node.llm.llama.shared_model import LlamaEngine, Prompt, Sampling
from memory_node.llm.llama.vector_tokens import vector_tokens
from memory_node.llm.reply_lines import ReplyLines


class LlamaModel:
    """A ScoringModel and LatentModel. Several of them may share one engine, each with its own adapter and parameters.

    random: draws the tokens where the temperature is above 0; default: by the seed of the config.
    """

    def __init__(self, engine: LlamaEngine, config: ModelConfig, random: np.random.Generator | None = None) -> None:
        self._engine = engine
        self._config = config
        self._random = random or np.random.default_rng(config.seed)

    @property
    def name(self) -> str:
        """The model's own name, and its adapter's file."""
        adapter = self._config.adapter_path.rpartition("/")[2]
        return f"{self._engine.native.title}{f' with {adapter}' if adapter else ''}"

    @property
    def engine(self) -> LlamaEngine:
        """What runs it."""
        return self._engine

    @property
    def adapter(self) -> str:
        """Path of its adapter, "" for none."""
        return self._config.adapter_path

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model's tokenizer makes of a text."""
        return self._engine.count_tokens(text)

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Write a reply; it keeps to the form by construction. See ChatModel."""
        prompt, sampling = self._prompt(messages), Sampling(self._config.temperature, self._random, _grammar_of(form))
        # A token may end in the middle of a letter.
        lines, decoder = ReplyLines(on_line), codecs.getincrementaldecoder("utf-8")("replace")
        written = self._engine.write(
            prompt,
            self._config.max_reply_tokens,
            self._within(deadline),
            sampling,
            lambda piece: lines.add(decoder.decode(piece)),
        )
        lines.add(decoder.decode(b"", final=True))
        return Reply(
            lines.end(), len(prompt.tokens), written.tokens, written.known_tokens, written.whole, lines.first_s
        )

    def scores(
        self,
        messages: Sequence[Message],
        candidates: Sequence[str],
        deadline: Deadline | None = None,
        whole: bool = True,
    ) -> tuple[Score, ...]:
        """Score candidates, all that fit into one pass together. See ScoringModel."""
        tokens = self._read_as_replies(candidates, whole)
        found = self._engine.log_likelihoods(self._prompt(messages), tokens, self._within(deadline))
        return tuple(Score(text, score, len(read)) for text, score, read in zip(candidates, found, tokens))

    def likeliest(
        self, messages: Sequence[Message], values: Mapping[str, float], deadline: Deadline | None = None
    ) -> Score:
        """Return the whole reply with the highest likelihood times value. See ChoosingModel."""
        tokens = self._read_as_replies(tuple(values), whole=True)
        bonuses = [math.log(value) for value in values.values()]
        number, score = self._engine.likeliest(self._prompt(messages), tokens, bonuses, self._within(deadline))
        return Score(tuple(values)[number], score, len(tokens[number]))

    def read(self, messages: Sequence[Message], deadline: Deadline | None = None) -> int:
        """Read a prompt ahead of time. See ScoringModel."""
        prompt = self._prompt(messages)
        self._engine.read(prompt, self._within(deadline))
        return len(prompt.tokens)

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
        adapter: str = "",
    ) -> NDArray[np.float32]:
        """Return the states of vectors behind a reply. See LatentModel."""
        asked = self._prompt(messages)
        said = (*self._engine.native.vocabulary.tokens(reply), self._engine.template.end)
        whole = replace(asked, tokens=asked.tokens + said + self.wording_tokens(wording, len(vectors)))
        return self._engine.states(whole, vectors, self._within(deadline), adapter)

    def wording_tokens(self, wording: str, count: int) -> tuple[int, ...]:
        """Return a wording in `count` tokens; see fitted."""
        tokens = self._engine.native.vocabulary.tokens
        return fitted(tokens(wording), count, tokens(FILLER)[0])

    def _read_as_replies(self, texts: Sequence[str], whole: bool) -> list[list[int]]:
        end = [self._engine.template.end] if whole else []
        tokens = [[*self._engine.native.vocabulary.tokens(text), *end] for text in texts]
        if not all(tokens):
            raise UnsupportedError("an empty candidate has no score of its own")
        return tokens

    def _within(self, deadline: Deadline | None) -> Deadline:
        own = Deadline(self._config.timeout_s)
        return own if deadline is None else deadline.within(self._config.timeout_s)

    def _prompt(self, messages: Sequence[Message]) -> Prompt:
        if any(message.pictures for message in messages):
            raise UnsupportedError(f"{self.name} reads no pictures; an endpoint of a model that does is needed")
        latent = [message.latent for message in messages if message.latent is not None]
        if any(vectors.shape[1:] != (self._engine.native.width,) for vectors in latent):
            raise UnsupportedError(f"{self.name} takes latent tokens of width {self._engine.native.width} alone")
        known = {number: row for vectors in latent for number, row in zip(vector_tokens(vectors), vectors)}
        return Prompt(tuple(self._engine.template.tokens(messages)), self._config.adapter_path, known)


def _grammar_of(form: ReplyForm | None) -> str:
    if isinstance(form, JsonForm):
        return json_grammar(form.schema)
    return form.grammar if isinstance(form, GrammarForm) else ""
