"""Brings episodes, talks and documents into the standard form, without a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text.dates import spoken_day
from memory_node.knowledge.text.sentences import sentences

# Most sentences of a unit of a document, which is a paragraph or a part of one. PlugMem: at most ten propositions a
# unit.
SENTENCES_OF_A_UNIT = 10


@dataclass(frozen=True)
class Turn:
    """Something said. picture: what a picture that came with it shows, in words."""

    speaker: str
    text: str
    picture: str = ""


def units_of(text: str) -> Iterator[str]:
    """Yield a text in units: paragraphs of at most SENTENCES_OF_A_UNIT sentences."""
    for paragraph in text.split("\n\n"):
        found = sentences(paragraph)
        for start in range(0, len(found), SENTENCES_OF_A_UNIT):
            yield " ".join(found[start : start + SENTENCES_OF_A_UNIT])


def document_steps(
    session: str, title: str, units: Iterable[str], stamp_ns: int = 0, first: int = 0
) -> Iterator[StandardStep]:
    """Yield one step a unit of a document; first: index of the first unit, where earlier ones were read before."""
    for index, unit in enumerate(units, first):
        yield StandardStep(
            f"{session}:{index}",
            observation=unit,
            state=f"reading {title or session}",
            subject=title,
            stamp_ns=stamp_ns,
        )


def talk_steps(
    session: str, turns: Iterable[Turn], stamp_ns: int = 0, zone: tzinfo | None = None
) -> Iterator[StandardStep]:
    """Yield one step a turn of a talk; what was said before it is what was heard."""
    before = ""
    day = f" on {spoken_day(stamp_ns, zone)}" if stamp_ns else ""
    for index, turn in enumerate(turns):
        said = f"{turn.text} [{turn.picture}]" if turn.picture else turn.text
        yield StandardStep(
            f"{session}:{index}",
            observation=before,
            state=f"a talk{day}",
            action=said,
            subject=turn.speaker,
            stamp_ns=stamp_ns,
        )
        before = f"{turn.speaker}: {turn.text}"
