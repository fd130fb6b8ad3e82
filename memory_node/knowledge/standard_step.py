"""One step of anything that the robot lived through, was told or read, in PlugMem's standard form."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from pydantic import TypeAdapter

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.text import sentences, spoken_day

# The state of a step in which a person told a fact.
TOLD = "told by a person"
# The state of a step in which a person said more than what is to be done.
ASKED = "said with an instruction"
# The state of a step of which only the beginning is kept.
COMPRESSED = "compressed"
_BEGINNING = 80  # characters


@dataclass(frozen=True)
class StandardStep:
    """e_t = (o_t, s_t, a_t) with where it comes from.

    source: "session:index"; a session is an episode, a document, a talk. observation: what was seen, read or heard.
    state: the situation in which that was. action: what was done or said. subject: who speaks, or what the document is
    about.
    """

    source: str
    observation: str = ""
    state: str = ""
    action: str = ""
    subject: str = ""
    stamp_ns: int = 0

    def __post_init__(self) -> None:
        session, _, index = self.source.rpartition(":")
        if not session or not index.isdigit():
            raise InvalidValueError(f"StandardStep.source: expected SESSION:INDEX, got {self.source!r}")

    def compressed(self) -> StandardStep:
        """Return the step with the beginning of what was said or read alone; its source stays what it was."""
        said, read = _beginning(self.action), _beginning(self.observation) if not self.action else ""
        return dataclasses.replace(self, observation=read, state=COMPRESSED, action=said)

    @property
    def session(self) -> str:
        """The episode, document or talk that it belongs to."""
        return self.source.rpartition(":")[0]

    @property
    def index(self) -> int:
        """Its place in its session, from 0."""
        return int(self.source.rpartition(":")[2])


_STORED = TypeAdapter(StandardStep)
_FIELDS = tuple(field.name for field in dataclasses.fields(StandardStep))


def _beginning(text: str) -> str:
    return text if len(text) <= _BEGINNING else f"{text[:_BEGINNING].rsplit(' ', 1)[0]} ..."


def step_to_dict(step: StandardStep) -> dict[str, Any]:
    """Return plain values for the store; what is empty is left out."""
    values = {field: getattr(step, field) for field in _FIELDS}
    return {name: value for name, value in values.items() if value or name == "source"}


def step_from_dict(values: dict[str, Any]) -> StandardStep:
    """Return the step of stored values.

    Raises:
        InvalidValueError: a value is missing or of another type.
    """
    try:
        return _STORED.validate_json(json.dumps(values), strict=True)
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"StandardStep: {error}") from error


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
