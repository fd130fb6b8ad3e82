"""Which kind of memory a question wants: exactly one (PlugMem's GetMode)."""

from __future__ import annotations

import re

from memory_node.domain.text_enum import TextEnum


class Mode(TextEnum):
    """Episodic: what happened, and when. Semantic: what is so. Procedural: how a thing is done."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


_PROCEDURAL = re.compile(
    r"\bhow (?:do|can|should|would|to)\b(?! (?:you|we|they|i) (?:know|feel|like))|\bwhat (?:is|are) the (?:steps|way)\b"
    r"|\b(?:steps|procedure|instructions) (?:to|for)\b|\bway to\b",
    re.I,
)
_EPISODIC = re.compile(
    r"\bwhen\b|\bhow long ago\b|\blast time\b|\bwhat happened\b|\b(?:yesterday|today|tonight|this morning|last "
    r"(?:night|week|month|year|summer|winter))\b|\bdid\b|\bhow (?:many|often) times?\b|\bwhich day\b"
    r"|\bwhat (?:day|date)\b",
    re.I,
)
# What a robot is told to do, while it acts: the skill to use is what it needs.
_COMMAND = re.compile(
    r"^(?:please\s+|can you\s+|could you\s+)?(?:bring|put|place|take|get|fetch|make|clean|wash|heat|cool|slice|cut|"
    r"open|"
    r"close|turn|switch|find|look|go|move|pick|give|set|fill|pour|wipe|warm|chill|cook|tidy|carry|grab|leave)\b",
    re.I,
)


def mode_of(task: str, observation: str = "") -> Mode:
    """Return the one kind of memory that serves a task; the observation decides only where the task says nothing."""
    for text in (task, observation):
        if _PROCEDURAL.search(text) or _COMMAND.search(text.strip()):
            return Mode.PROCEDURAL
        if _EPISODIC.search(text):
            return Mode.EPISODIC
        if text.strip() and text is task:
            return Mode.SEMANTIC
    return Mode.SEMANTIC
