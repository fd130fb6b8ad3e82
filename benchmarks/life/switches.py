"""The memories that can be switched off, one at a time: a robot that never had it, and the best such robot."""

from __future__ import annotations

from benchmarks.life.day_form import Category
from memory_node.domain.context import Memory

SCENE, SHORT_TERM, EPISODES, LESSONS = "scene", "short-term", "episodes", "lessons"
FACTS, WORKING, COMPILER = "facts", "working", "compiler"
MEMORIES = (SCENE, SHORT_TERM, EPISODES, LESSONS, FACTS, WORKING, COMPILER)
KARMA = "karma-no-short-term"
EACH = "each"
# By memory, the categories on which it must count; the compiler's row is compared over all.
OWN: dict[str, tuple[Category, ...]] = {
    SCENE: ("where",),
    SHORT_TERM: ("recent",),
    KARMA: ("recent",),
    EPISODES: ("past",),
    LESSONS: ("lessons", "ways"),
    FACTS: ("facts",),
    WORKING: ("state",),
}
# A memory whose removal costs less than this on its own category is without effect.
LEAST_COST = 0.3


def unread(without: str) -> tuple[Memory, ...]:
    """Return the memories that are written and not read."""
    return (Memory(without),) if without in {str(one) for one in Memory} else ()
