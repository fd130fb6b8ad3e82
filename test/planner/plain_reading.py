"""What a robot that knows nothing yet reads in a text: the effects of its goals, or what it asks."""

from benchmarks.plain_commands import effects
from memory_node.catalogue.label_space import load_catalogue
from memory_node.planner.reading.understanding import Understander

UNDERSTANDER = Understander(load_catalogue(), None, None)


def read(text: str) -> str:
    """Return the effects that are read, or the question."""
    understood = UNDERSTANDER.understand(text)
    if understood.question is not None:
        return f"asks: {understood.question.text}"
    return "; ".join(effects(understood.goals))
