"""Reads where the rest goes of what was spoken of: "put one book on the shelf [and the other on the desk]"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.command_grammar import CommandReader
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.spoken_command import Command
from memory_node.planner.language.spoken_instruction import Heard

_ONWARD = frozenset({"and", ",", "then"})


class Shares:
    """Takes a thing without a noun, and its own place, behind a command that names such things."""

    def __init__(self, commands: CommandReader) -> None:
        self._commands = commands

    def read(self, words: Sequence[str], at: int, heard: Heard) -> int | None:
        """Take "[put the red mug on the shelf] and the blue one on the desk"; return where it ends, None where none
        begins."""
        said = heard.parts[-1] if heard.parts else None
        share = self._commands.phrase(words, at) if at and words[at - 1] in _ONWARD else None
        if share is None or not isinstance(said, Command) or not _is_share(said, share):
            return None
        if "and" not in words[at - 2 : at] and not share.other:
            return None  # "[four eggs,] two in the bowl" says where they are, or how they are shared out
        found = self._commands.read(["put", "it", *words[share.end :]], 0)
        if found is None or found[0].unread or not (found[0].destination or found[0].to_user):
            return None
        thing = replace(
            said.targets[0],
            text=f"{share.text} {said.targets[0].head}",
            count=share.count,
            every=share.every,
            plural=share.plural,
            definite=share.definite,
            attributes=share.attributes,
            states=share.states,
            other=True,
            places=(),
        )
        heard.parts.append(replace(found[0], targets=(thing,)))
        return share.end + found[1] - 2


def _is_share(said: Command, share: NounPhrase) -> bool:
    """Return whether a phrase means some of the things that a command puts somewhere. "The others" and "all" may be
    any number of them, and are asked about."""
    single = share.pronoun == "one" or (share.pronoun == "them" and share.count > 1)
    vague = share.every or (share.plural and share.count < 2)
    placed = said.kind in (GoalKind.PLACE, GoalKind.PLACE_TWO) and len(said.targets) == 1 and not said.unread
    placed &= said.destination is not None
    return single and not vague and placed and (said.targets[0].called is not None or said.targets[0].pronoun == "one")
