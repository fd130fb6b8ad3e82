"""Whether words speak of washing, heating or cooling; people who only say where a thing goes mean no more than that."""

from __future__ import annotations

import re

from memory_node.domain.goal_labels import GoalKind

TREATED_IN = {GoalKind.CLEAN: "SinkBasin", GoalKind.HEAT: "Microwave", GoalKind.COOL: "Fridge"}
_OBJECT = r"(?=\s+(?:the|a|an|it|some|one|two|both|them|my)\b)"
_SPOKEN = {
    GoalKind.CLEAN: r"clean\w*|wash\w*|rins\w+|wet|soap(?:y|ed|ing)|scrub\w*|soak\w*|spotless|dirt\w*|water|filthy",
    GoalKind.HEAT: r"(?:re)?heat\w*|hot|warm\w*|cook\w*|bak(?:e|ed|ing)|boil\w*|fr(?:y|ied)|mash\w*|nuke\w*"
    rf"|toast(?:ed|ing)|microwav(?:ed|es|ing)|(?:microwave|toast){_OBJECT}",
    GoalKind.COOL: r"cool\w*|chill\w*|cold\w*|ic[ey]|frost\w*|frozen|freez(?:e|es|ing)|refrigerat(?:ed|es|ing)"
    r"|(?<!the )(?<!a )(?<!in )refrigerate",
}
_APPLIANCES = {
    GoalKind.CLEAN: re.compile(r"\b(?:sink|faucet|tap|basin)\b", re.IGNORECASE),
    GoalKind.HEAT: re.compile(r"\b(?:microwave|oven)\b", re.IGNORECASE),
    GoalKind.COOL: re.compile(r"\b(?:fridge|refrigerator|freezer)\b", re.IGNORECASE),
}
_WORDS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _SPOKEN.items()}


def speaks_of(kind: GoalKind, text: str, destination: str = "") -> bool:
    """Return whether a text has a word for a treatment (CLEAN, HEAT or COOL).

    The name of its appliance is none where the thing is to end up in it ("put the mug in the fridge").
    """
    passed = destination != TREATED_IN[kind] and _APPLIANCES[kind].search(text) is not None
    return passed or _WORDS[kind].search(text) is not None
