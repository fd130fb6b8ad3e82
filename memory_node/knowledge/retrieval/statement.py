"""What retrieval knows of a proposition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """A proposition as retrieval sees it.

    key: names it. subject: who said it or what its document is about, "" for none. source: "session:index" of the step
    that it was first learned from; steps of one session are neighbours by index.
    """

    key: str
    text: str
    subject: str
    source: str
    stamp_ns: int = 0
    support: int = 1
    concepts: frozenset[str] = frozenset()


def neighbour(source: str, away: int) -> str:
    """Return the step that lies so many steps after (before: negative) another of its session."""
    session, _, index = source.rpartition(":")
    return f"{session}:{int(index) + away}" if index.isdigit() else ""
