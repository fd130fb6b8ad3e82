"""A compiler's model that writes what is drawn, and notes what it decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.llm.chat import Deadline, GrammarForm, JsonForm, Message, Reply, ReplyForm, ignore
from memory_node.llm.gbnf import json_grammar
from training.adapters.sampling import Sampling
from training.adapters.writing import Writer
from training.grpo.rollouts import Decision, Decisions

# Returns the last-layer states (N, width) of vectors behind a decision, whose reply is put in N tokens of the wording.
StatesOf = Callable[[Decisions, str, NDArray[np.float32]], NDArray[np.float32]]


@dataclass
class NotingCompiler:
    """A LatentModel. count: tokens of a text. random: draws the replies."""

    writer: Writer
    states_of: StatesOf
    count: Callable[[str], int]
    temperature: float
    random: np.random.Generator
    decisions: Decisions
    name: str = "in training"

    def reply(
        self,
        messages: Sequence[Message],
        deadline: Deadline | None = None,
        form: ReplyForm | None = None,
        on_line: Callable[[str], None] = ignore,
    ) -> Reply:
        """Write a reply; where its form is not kept, what cannot be used of it delivers nothing. See ChatModel."""
        grammar = form.grammar if isinstance(form, GrammarForm) else ""
        grammar = json_grammar(form.schema) if isinstance(form, JsonForm) else grammar
        (written,) = self.writer.write(messages, 1, Sampling(self.temperature, self.random, grammar))
        self.decisions.add(Decision(written))
        return Reply(written.text, len(written.prompt), len(written.tokens), whole=written.whole)

    def states(
        self,
        messages: Sequence[Message],
        reply: str,
        wording: str,
        vectors: NDArray[np.float32],
        deadline: Deadline | None = None,
    ) -> NDArray[np.float32]:
        """Return the states of the placeholders behind the last reply. See LatentModel."""
        return self.states_of(self.decisions, wording, vectors)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return self.count(text)
