"""Scores given replies by a model in this process, which an endpoint cannot do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.likelihood.candidate_reading import CandidateReading
from benchmarks.likelihood.candidate_tree import candidate_tree, portions
from memory_node.domain.errors import InvalidValueError
from memory_node.llm.chat import ChatModel, Deadline, Message, TooLongError, UnsupportedError
from memory_node.llm.llama.engine import FREE_SEQUENCES
from memory_node.llm.llama.model import LlamaModel

# Tokens that candidates scored side by side may have besides shared beginnings.
_MOST_NODES = 512


@dataclass(frozen=True)
class Score:
    """How likely a model finds a text as the reply. log_likelihood: natural logarithm, over all its tokens."""

    text: str
    log_likelihood: float
    tokens: int

    @property
    def mean(self) -> float:
        """The log-likelihood of a token, for comparing texts of different lengths."""
        return self.log_likelihood / max(self.tokens, 1)


def scoring_model(model: ChatModel, wanted_by: str) -> LlamaScores:
    """Return what scores by a model. wanted_by: the option that needs it.

    Raises:
        InvalidValueError: it is an endpoint.
    """
    if not isinstance(model, LlamaModel):
        raise InvalidValueError(f"{wanted_by} needs a model in this process: an endpoint tells no likelihoods")
    return LlamaScores(model)


class LlamaScores:
    """Says how likely a model finds given replies. model: its adapter, deadline and template count."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    def count_tokens(self, text: str) -> int:
        """Return the model's tokens."""
        return self._model.count_tokens(text)

    def read(self, messages: Sequence[Message], deadline: Deadline | None = None) -> int:
        """Read a prompt ahead of time; return its tokens.

        Raises:
            LlmError: it could not be read.
        """
        prompt = self._model.prompt(messages)
        with self._model.engine.behind(prompt, 0, self._model.within(deadline)):
            return len(prompt.tokens)

    def scores(
        self,
        messages: Sequence[Message],
        candidates: Sequence[str],
        deadline: Deadline | None = None,
        whole: bool = True,
    ) -> tuple[Score, ...]:
        """Return the scores of the candidates as replies, in their order; all that fit go into one pass.

        whole: a candidate is the whole reply, so the end of the turn counts as its last token. Without it "open" can
        never be less likely than "open the door".

        Raises:
            LlmError: they could not be computed.
        """
        tokens = self._as_replies(candidates, whole)
        found = self._log_likelihoods(messages, tokens, self._model.within(deadline))
        return tuple(Score(text, score, len(read)) for text, score, read in zip(candidates, found, tokens))

    def likeliest(
        self, messages: Sequence[Message], values: Mapping[str, float], deadline: Deadline | None = None
    ) -> Score:
        """Return the score of the whole reply with the highest likelihood times value, reading only what may be in it.

        values: in (0, 1], by reply; one at least.

        Raises:
            LlmError: it could not be found.
        """
        texts, bonuses = tuple(values), [math.log(value) for value in values.values()]
        tokens, within = self._as_replies(texts, whole=True), self._model.within(deadline)
        prompt, engine = self._model.prompt(messages), self._model.engine
        best, score = -1, 0.0
        with engine.behind(prompt, _MOST_NODES, within) as behind:
            for portion in portions(tokens, FREE_SEQUENCES, _MOST_NODES):
                tree = candidate_tree([tokens[i] for i in portion])
                with CandidateReading(engine.native, len(prompt.tokens), tree, behind, within) as reading:
                    at, found = reading.likeliest([bonuses[i] for i in portion])
                if best < 0 or found + bonuses[portion[at]] > score + bonuses[best]:
                    best, score = portion[at], found
        return Score(texts[best], score, len(tokens[best]))

    def _log_likelihoods(
        self, messages: Sequence[Message], candidates: Sequence[Sequence[int]], deadline: Deadline
    ) -> list[float]:
        """Return for each candidate, each of one token at least, log p(its tokens | dialogue)."""
        found = [0.0] * len(candidates)
        prompt, engine = self._model.prompt(messages), self._model.engine
        with engine.behind(prompt, _MOST_NODES, deadline) as behind:
            for portion in portions(candidates, FREE_SEQUENCES, _MOST_NODES):
                tree = candidate_tree([candidates[i] for i in portion])
                with CandidateReading(engine.native, len(prompt.tokens), tree, behind, deadline) as reading:
                    for i, score in zip(portion, reading.scores()):
                        found[i] = score
        return found

    def _as_replies(self, texts: Sequence[str], whole: bool) -> list[list[int]]:
        end = [self._model.engine.template.end] if whole else []
        tokens = [[*self._model.file.vocabulary.tokens(text), *end] for text in texts]
        if not all(tokens):
            raise UnsupportedError("an empty candidate has no score of its own")
        if any(len(read) > _MOST_NODES for read in tokens):
            raise TooLongError(f"at most {_MOST_NODES} tokens of a candidate are scored")
        return tokens
