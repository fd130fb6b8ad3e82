"""A language model answers from statements: which kind of memory, what to look for next, and what follows from it.

PlugMem's GetMode, planned retrieval with early stop, and reasoning. The model sees what the search found alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Annotated, Protocol

from pydantic import BaseModel, Field

from memory_node.knowledge.answering import NOTHING, KnowledgeAnswer, dated
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.mode import Mode, mode_of
from memory_node.llm.ask import Schema, ask_by_prompt
from memory_node.llm.chat import ChatModel, Deadline, LlmError, RejectedReplyError

_MOST = 40  # statements that it reads


class ChosenMode(BaseModel):
    """The reply to: which kind of memory?"""

    mode: Mode


class NextSearch(BaseModel):
    """The reply to: is it enough, or what is looked for next? query: "" where nothing else would help."""

    enough: bool
    query: Annotated[str, Field(max_length=300)] = ""


class Reasoned(BaseModel):
    """The reply to: what is the answer? uses: numbers of the statements that it follows from, from 1; none: unknown."""

    answer: Annotated[str, Field(max_length=1000)]
    uses: Annotated[list[int], Field(max_length=_MOST)]


class FindStatements(Protocol):
    """Finds statements by words and meaning."""

    def __call__(self, query: str, k: int) -> Sequence[Proposition]:
        """Return what up to k steps say, best first."""


@dataclass(frozen=True)
class ModelAnswers:
    """Answers questions by a model.

    find: searches; hops: searches for one question at most (T_max of PlugMem); timeout_s: for one question, all calls
    and corrections included; zone: of the days of statements.
    """

    model: ChatModel
    find: FindStatements
    hops: int = 2
    timeout_s: float = 60.0
    max_repairs: int = 1
    zone: tzinfo | None = None

    def mode(self, question: str, deadline: Deadline) -> Mode:
        """Return the one kind of memory that a question wants; by rules where the model fails."""
        try:
            return self._asked(ChosenMode, "memory_mode.j2", deadline, question=question).mode
        except LlmError:
            return mode_of(question)

    def answer(self, question: str, k: int, otherwise: Callable[[Mode], KnowledgeAnswer]) -> KnowledgeAnswer:
        """Return what follows from the statements; otherwise: answers in the mode where the model fails."""
        deadline = Deadline(self.timeout_s)
        mode = self.mode(question, deadline)
        if mode is Mode.PROCEDURAL:
            return otherwise(mode)
        try:
            found = self._found(question, k, deadline)
            reply = self._reasoned(question, found, deadline)
        except LlmError:
            return otherwise(mode)
        used = tuple(found[number - 1] for number in dict.fromkeys(reply.uses))
        if not used:
            return KnowledgeAnswer(question, NOTHING, mode, 0.0)
        return replace(KnowledgeAnswer(question, reply.answer.strip(), mode, 1.0), propositions=used)

    def _found(self, question: str, k: int, deadline: Deadline) -> list[Proposition]:
        """Return the statements of at most `hops` searches; the model stops as soon as they are enough."""
        found, asked = {one.text: one for one in self.find(question, k)}, {question.lower()}
        for _ in range(self.hops - 1):
            lines = [dated(one, self.zone) for one in found.values()]
            plan = self._asked(NextSearch, "memory_search.j2", deadline, question=question, statements=lines)
            query = " ".join(plan.query.split())
            if plan.enough or not query or query.lower() in asked:
                break
            asked.add(query.lower())
            found |= {one.text: one for one in self.find(query, k) if one.text not in found}
        return list(found.values())[:_MOST]

    def _reasoned(self, question: str, found: Sequence[Proposition], deadline: Deadline) -> Reasoned:
        def check(reply: Reasoned) -> None:
            strange = [number for number in reply.uses if not 1 <= number <= len(found)]
            if strange:
                raise RejectedReplyError("unfounded", f"uses {strange}: expected numbers from 1 to {len(found)}")
            if reply.uses and not reply.answer.strip():
                raise RejectedReplyError("empty", "answer: expected words where statements are used")

        lines = [dated(one, self.zone) for one in found]
        return self._asked(Reasoned, "memory_answer.j2", deadline, check, question=question, statements=lines)

    def _asked(
        self,
        schema: type[Schema],
        prompt: str,
        deadline: Deadline,
        check: Callable[[Schema], None] = lambda _: None,
        **said: object,
    ) -> Schema:
        def checked(reply: Schema) -> Schema:
            check(reply)
            return reply

        return ask_by_prompt(self.model, schema, prompt, deadline, self.max_repairs, checked, **said)
