"""What a lesson calls focusing: the robot says which thing it means, once for each thing that the task names so."""

from __future__ import annotations

import re

_ASKED = re.compile(r"\bfocus on (?:the )?(?P<what>[^.,;]+)", re.IGNORECASE)
# Words that name no thing: the robot decides which one is meant, and takes it; or the task begins with its name.
_CHOSEN = re.compile(r"^(?:thing|object|animal|plant)\b")
_NAMED_FIRST = re.compile(r"^substance\b")


class Focus:
    """The things that a task says to focus on, in its order."""

    def __init__(self, task: str) -> None:
        self._first = task.lower().partition(".")[0]
        self._asked = [match["what"].strip().lower() for match in _ASKED.finditer(task)]

    def due_before(self, name: str, is_taken: bool) -> bool:
        """Return whether a thing is to be focused on now, and count it as done.

        name: the thing's. is_taken: the robot takes it; else it only goes there. "The thing" is what the robot has
        decided to take, "the substance" what the task begins with ("boil water").
        """
        if not self._asked:
            return False
        asked = self._asked[0]
        if _CHOSEN.match(asked):
            is_due = is_taken
        elif _NAMED_FIRST.match(asked):
            is_due = re.search(rf"\b{re.escape(name)}$", self._first) is not None
        else:
            is_due = name in asked or asked in name
        if is_due:
            self._asked.pop(0)
        return is_due
