"""What memory tells a planner before it plans or acts, and the memories that it is drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_node.domain.text_enum import TextEnum


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: four characters each, as common tokenizers average."""
    return -(-len(text) // 4)


class ContextSource(TextEnum):
    """What a part of the context is drawn from."""

    OBJECTS = "objects"  # where things and places are
    EXPERIENCE = "experience"  # what episodes taught, and the running one


ALL_SOURCES = frozenset(ContextSource)


@dataclass(frozen=True)
class Context:
    """A text for a prompt.

    id: by which a planner says that it acted on this context; "" for one that nothing is in. section_tokens,
    section_lines: by section in their order, its tokens, and how many of its lines are in the text. cut: by section,
    the lines that the budget left out, or what they would say; sections without any are not in it.
    """

    id: str = ""
    text: str = ""
    section_tokens: dict[str, int] = field(default_factory=dict)
    section_lines: dict[str, int] = field(default_factory=dict)
    cut: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Tokens of all sections."""
        return sum(self.section_tokens.values())


class Memory(TextEnum):
    """A memory that answers by itself."""

    SHORT_TERM = "short-term"  # what was just seen or used
    EPISODES = "episodes"  # what the robot did, instruction by instruction
    LESSONS = "lessons"  # guidelines, repairs, ways, and counts that episodes taught
    FACTS = "facts"  # what people told, and documents
