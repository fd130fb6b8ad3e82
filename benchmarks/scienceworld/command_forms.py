"""The forms of a lesson's commands, as the engine prints them, and commands taken apart by them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LISTED = re.compile(r"Commands have these forms: (?P<forms>[^.\n]+)\.")
# As the engine names doors: "door to the kitchen", "bathroom door", "door".
_DOOR = re.compile(r"\bdoor\b")
_SLOT = re.compile(r"\b(?:OBJ|LOC)\b")


@dataclass(frozen=True)
class Command:
    """A command taken apart. form: with OBJ for each name, arguments: the names, in order."""

    form: str
    arguments: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is sent."""
        names = iter(self.arguments)
        return _SLOT.sub(lambda _: next(names), self.form)

    @property
    def is_about_a_door(self) -> bool:
        """Whether a name is a door's."""
        return any(_DOOR.search(name) for name in self.arguments)


class CommandForms:
    """The forms that a first text tells of.

    text: the first text of a lesson; one that tells of no forms knows only commands without names.
    """

    def __init__(self, text: str) -> None:
        listed = _LISTED.search(text)
        forms = [form.strip() for form in listed["forms"].split(";")] if listed is not None else []
        # A form with more words of its own says more exactly which command it is.
        forms.sort(key=lambda form: len(_SLOT.sub("", form)), reverse=True)
        self._patterns = [(form, _pattern(form)) for form in forms]
        self._known: dict[str, Command | None] = {}

    def parse(self, text: str) -> Command | None:
        """Return a command taken apart; None where it has none of the forms."""
        if text not in self._known:
            self._known[text] = self._parsed(text)
        return self._known[text]

    def _parsed(self, text: str) -> Command | None:
        for form, pattern in self._patterns:
            match = pattern.fullmatch(text)
            if match is not None:
                return Command(form, match.groups())
        return None


def _pattern(form: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(map(re.escape, _SLOT.split(form))))
