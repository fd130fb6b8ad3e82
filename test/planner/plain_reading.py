"""What a robot that knows nothing yet reads in a text: the effects of its goals, or what it asks."""

from grammar import KINDS

from memory_node.planner.language.goal_effects import effects
from memory_node.planner.language.understanding import Understander

UNDERSTANDER = Understander(KINDS, None, None)


def read(text: str) -> str:
    """Return the effects that are read, or the question."""
    understood = UNDERSTANDER.understand(text)
    if understood.question is not None:
        return f"asks: {understood.question.text}"
    return "; ".join(effects(understood.goals))
