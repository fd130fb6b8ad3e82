"""Renames things of one class so that the teacher takes "Mug" before "Mug 2". The teacher takes the nearest of several
things. A prompt shows no distances, so the model cannot know which one that is. After renaming, the choice can be
learnt; at run time any of the things will do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from memory_node.llm.chat import Message
from training.executor.run_files import TaughtDialogue

_NAME = re.compile(r"\b([A-Z][A-Za-z]*)(?: (\d+))?\b")
_ARGUMENTS = re.compile(r"\((.*)\)")
# Lines of a prompt that speak of classes.
_OF_CLASSES = ("Goals:", "Goal:", "Now:", "Instruction:", "Not seen yet:", "Done before:")


def with_plain_names(dialogue: TaughtDialogue) -> TaughtDialogue:
    """Return the dialogue with its names dealt anew, and the lines of things in the order of their names."""
    names = _dealt(dialogue)
    messages = tuple(_renamed(message, names) for message in dialogue.messages)
    return replace(dialogue, messages=messages)


def _dealt(dialogue: TaughtDialogue) -> Mapping[str, str]:
    """Return the new name of each: those that learnt calls name come first, in the order of the calls."""
    order: dict[str, None] = {}
    for index in dialogue.learnt:
        found = _ARGUMENTS.search(dialogue.messages[index].text)
        order.update(dict.fromkeys(filter(None, (found.group(1) if found else "").split(", "))))
    for message in dialogue.messages:
        if message.role != "system":
            lines = [line for line in message.text.splitlines() if not line.startswith(_OF_CLASSES)]
            order.update(dict.fromkeys(match.group() for line in lines for match in _NAME.finditer(line)))
    dealt: dict[str, str] = {}
    count: dict[str, int] = {}
    for name in order:
        plain = name.partition(" ")[0]
        count[plain] = count.get(plain, 0) + 1
        dealt[name] = plain if count[plain] == 1 else f"{plain} {count[plain]}"
    return dealt


def _renamed(message: Message, names: Mapping[str, str]) -> Message:
    if message.role == "system":
        return message
    lines = [
        line if line.startswith(_OF_CLASSES) else _NAME.sub(lambda match: names.get(match.group(), match.group()), line)
        for line in message.text.splitlines()
    ]
    return Message(message.role, "\n".join(_in_order(lines)))


def _in_order(lines: list[str]) -> list[str]:
    """Return lines of which those that begin with a name of one class change places among themselves."""
    places: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        match = _NAME.match(line)
        if match and not line.startswith((*_OF_CLASSES, "Hand:")):
            places.setdefault(match.group(1), []).append(index)
    ordered = list(lines)
    for indices in places.values():
        for index, line in zip(indices, sorted((lines[index] for index in indices), key=_number)):
            ordered[index] = line
    return ordered


def _number(line: str) -> int:
    match = _NAME.match(line)
    return int(match.group(2) or 1) if match else 0
