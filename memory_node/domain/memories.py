"""The memories of a robot, by the names under which one of them can be left unread to measure what it is worth."""

from __future__ import annotations

from memory_node.domain.text_enum import TextEnum


class Memory(TextEnum):
    """A memory that answers by itself."""

    SHORT_TERM = "short-term"  # what was just seen or used
    EPISODES = "episodes"  # what the robot did, instruction by instruction
    LESSONS = "lessons"  # guidelines, repairs, ways, and counts that episodes taught
    FACTS = "facts"  # what people told, and documents
