"""A language model decides what becomes of two like statements that no rule combines (PlugMem's update, C.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.text.names import names_in
from memory_node.knowledge.updating import Update
from memory_node.llm.ask import ask_by_prompt
from memory_node.llm.chat import ChatModel, Deadline, LlmError, RejectedReplyError

_NUMBER = re.compile(r"\d+")
_REASON = "a language model's judgement"


class Merging(BaseModel):
    """The reply. fuller: of two that say the same, the one that says it all: 1 the earlier, 2 the later."""

    relationship: Literal["same", "conflict", "apart"]
    fuller: Literal[1, 2] = 2


@dataclass(frozen=True)
class ModelJudge:
    """Judges two statements as an UpdateJudge does; where the model fails both stay.

    timeout_s: for one pair, corrections included.
    """

    model: ChatModel
    timeout_s: float = 30.0
    max_repairs: int = 1

    def __call__(self, earlier: Proposition, later: Proposition) -> Update:
        """Return what becomes of them: words are never made up, so of two that say the same one stays as it is."""

        def checked(reply: Merging) -> Update:
            if reply.relationship == "apart":
                return Update("weak", reason=_REASON)
            if reply.relationship == "conflict":
                return Update("conflict", deactivate_earlier=True, reason=_REASON)
            kept, gone = (earlier, later) if reply.fuller == 1 else (later, earlier)
            if lost := _told_by(gone) - _told_by(kept):
                raise RejectedReplyError("lost", f"fuller {reply.fuller}: it does not say {', '.join(sorted(lost))}")
            if gone.structure and not kept.structure:
                return Update("weak", reason="what was read stays")
            return Update("same", kept.text, kept is later, kept is earlier, _REASON)

        said = {"earlier": earlier.text, "later": later.text}
        try:
            return ask_by_prompt(
                self.model, Merging, "memory_merge.j2", Deadline(self.timeout_s), self.max_repairs, checked, **said
            )
        except LlmError as error:
            return Update("weak", reason=str(error))


def _told_by(statement: Proposition) -> set[str]:
    """Return the names and numbers of a statement, which no other one may lose."""
    names = {word for name in names_in(statement.text) for word in name.split()}
    return names | set(_NUMBER.findall(statement.text))
