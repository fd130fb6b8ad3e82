"""What memory gives of the past at the beginning of an instruction; deeds in words, with the names that things have
now."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from memory_node.domain.clock import spoken_moment
from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.knowledge.told.fact import ToldFact


@dataclass(frozen=True)
class Recalled:
    """facts: every told fact that was read, those that count no longer with the time when they did; tried: what the
    robot did and what failed, the newest last; unfinished: instructions that were begun and did not succeed, the newest
    first; said: earlier ones that say more than what was to be done, the newest last; zone: of days and clock times,
    None for the machine's; asked: the instructions of the newest episodes, by their ids; has_past: whether memory tells
    what the robot did; waiting: an instruction that was asked back about a short time ago, and nobody answered, "" for
    none."""

    facts: tuple[ToldFact, ...] = ()
    tried: tuple[Deed, ...] = ()
    unfinished: tuple[EpisodeSummary, ...] = ()
    said: tuple[str, ...] = ()
    zone: tzinfo | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    has_past: bool = True
    waiting: str = ""

    @property
    def deeds(self) -> tuple[Deed, ...]:
        """What the robot did."""
        return tuple(deed for deed in self.tried if not deed.reason)


# Characters of an earlier instruction that are told.
_LONGEST_TASK = 160
_LONGEST_QUOTE = 400
_LONGEST_REASON = 40
_WORD = re.compile(r"\w+")


def episode_lines(
    deeds: Iterable[Deed], asked: Mapping[str, str], names: Mapping[str, str], now_ns: int, zone: tzinfo | None
) -> list[str]:
    """Return a line for each instruction: when it was, in which words, and what was done in it.

    deeds: the oldest first. asked: the instructions by episode, of some. names: of things, by memory's ids; a thing
    without one is told by its class.
    """
    return [
        f"{task_in_words(asked.get(episode, ''), done[0].stamp_ns, now_ns, zone)}: {deeds_in_words(done, names)}"
        for episode, done in ((key, list(group)) for key, group in itertools.groupby(deeds, lambda one: one.episode_id))
    ]


def task_in_words(instruction: str, stamp_ns: int, now_ns: int, zone: tzinfo | None) -> str:
    """Return when an instruction was given, and its words, quoted."""
    said = f", {quoted(instruction, _LONGEST_TASK)}" if instruction.split() else ""
    return f"{spoken_moment(stamp_ns, now_ns, zone)}{said}"


def quoted(text: str, most: int = _LONGEST_QUOTE) -> str:
    """Return a stranger's words as one quoted line: they cannot end the quote."""
    plain = " ".join(text.replace('"', "'").split())
    return f'"{plain[:most].rstrip()}{" ..." if len(plain) > most else ""}"'


def deeds_in_words(deeds: Sequence[Deed], names: Mapping[str, str]) -> str:
    """Return deeds in their order."""
    return ", ".join(_in_words(deed, names) for deed in deeds)


def _in_words(deed: Deed, names: Mapping[str, str]) -> str:
    """Return a deed with where its thing was before or ended, whichever the skill is about."""
    thing = names.get(deed.object_id, deed.object_class)
    place = f" at {names.get(deed.to_id, deed.to_class)}" if deed.to_class else ""
    if deed.skill == "PickupObject":
        place = f" from {names.get(deed.from_id, deed.from_class)}" if deed.from_class else ""
    ended = f" (failed: {' '.join(_WORD.findall(deed.reason))[:_LONGEST_REASON]})" if deed.reason else ""
    return f"{deed.skill} {thing}{place}{ended}"


def ids_in(deeds: Iterable[Deed]) -> set[str]:
    """Return memory's ids of the things that deeds name."""
    return {one for deed in deeds for one in (deed.object_id, deed.from_id, deed.to_id) if one}
