"""What is asked back where an instruction leaves open what matters."""

from __future__ import annotations

from dataclasses import dataclass

from memory_node.domain.text_enum import TextEnum


class Slot(TextEnum):
    """The part of a command that an answer fills."""

    TARGET = "target"
    DESTINATION = "destination"
    LIGHT = "light"
    COMMAND = "command"


@dataclass(frozen=True)
class Question:
    """A question to the person. choices: answers that would do; others may, too.

    confirms: "yes" means what was said. about: words of the instruction that an answer takes the place of, "" where
    that is not known.
    """

    text: str
    choices: tuple[str, ...] = ()
    slot: Slot = Slot.COMMAND
    confirms: bool = False
    about: str = ""


class UnclearError(Exception):
    """A command leaves open what matters; it never leaves the reader of instructions."""

    def __init__(self, text: str, choices: tuple[str, ...] = (), slot: Slot = Slot.COMMAND, about: str = "") -> None:
        super().__init__(text)
        self.question = Question(text, choices, slot, about=about)
