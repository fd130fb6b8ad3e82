"""The engine's commands as the skills that they are a part of."""

from __future__ import annotations

import re

from memory_node.domain.skill import SkillCall

_SKILLS = (
    (re.compile(r"go to (?P<a>.+)"), "GoToObject"),
    (re.compile(r"take (?P<a>.+) from .+"), "PickupObject"),
    (re.compile(r"(?:move|put|place) (?P<a>.+?) (?:to|in/on|in|on) (?P<b>.+)"), "PutObject"),
    (re.compile(r"open (?P<a>.+)"), "OpenObject"),
    (re.compile(r"close (?P<a>.+)"), "CloseObject"),
    (re.compile(r"use (?P<a>.+)"), "SwitchOn"),
    (re.compile(r"clean (?P<a>.+) with (?P<b>.+)"), "CleanObject"),
    (re.compile(r"heat (?P<a>.+) with (?P<b>.+)"), "HeatObject"),
    (re.compile(r"cool (?P<a>.+) with (?P<b>.+)"), "CoolObject"),
    (re.compile(r"slice (?P<a>.+) with .+"), "SliceObject"),
)


def called_skill(command: str) -> SkillCall | None:
    """Return the skill that a command serves, over the names of the text; None for one that only tells something."""
    for words, skill in _SKILLS:
        found = words.fullmatch(command)
        if found is not None:
            return SkillCall(skill, tuple(found.groupdict().values()))
    return None
