"""The sentences of a lesson's brief state: each belief has one spelling, so it is matched exactly."""

from __future__ import annotations

import re

from memory_node.context.brief_state import BriefState, Section
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState

_AT_NOTHING = "the robot stands at nothing known"
_AT = "the robot stands at "
_REST, _INSIDE = " is in or on ", " is inside "
_FAILED = re.compile(r"(?P<call>.+\)) failed(?: (?P<times>\d+) times)?: (?P<reason>\w+)")


def holds(name: str) -> str:
    """Return the sentence for a thing that the hand holds."""
    return f"the hand holds {name}"


def stands_at(name: str) -> str:
    """Return the sentence for the place that the robot has gone to; "" for none."""
    return f"{_AT}{name}" if name else _AT_NOTHING


def rests(name: str, place: str, inside: bool = False) -> str:
    """Return the sentence for where a thing is; inside: it is known to be in it, and not on it."""
    return f"{name}{_INSIDE if inside else _REST}{place}"


def is_in_state(name: str, state: ObjectState) -> str:
    """Return the sentence for a state of a thing."""
    return f"{name} is {state}"


def failed(call: SkillCall, reason: FailureReason, times: int = 1) -> str:
    """Return the sentence for a call that failed, several times in a row for the same reason."""
    return f"{call} failed{f' {times} times' if times > 1 else ''}: {reason}"


def place_of_robot(state: BriefState) -> str | None:
    """Return the name of the place that the robot is at, "" for none; None: not known."""
    agent = state.items(Section.AGENT)
    if _AT_NOTHING in agent:
        return ""
    return next((text.removeprefix(_AT) for text in agent if text.startswith(_AT)), None)


def location_item(name: str, state: BriefState) -> str:
    """Return the item that says where a thing is, "" where there is none."""
    starts = (f"{name}{_REST}", f"{name}{_INSIDE}")
    return next((text for text in state.items(Section.LOCATIONS) if text.startswith(starts)), "")


def failures_of(call: SkillCall, state: BriefState) -> tuple[str, FailureReason, int] | None:
    """Return the item, reason and number of a call's failures in a row; None: it has not failed."""
    for text in state.items(Section.FACTS):
        match = _FAILED.fullmatch(text)
        if match is not None and match["call"] == str(call):
            return text, FailureReason(match["reason"]), int(match["times"] or 1)
    return None
