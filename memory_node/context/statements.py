"""The sentences of a brief state that rules write and read: each belief has one spelling, so it is matched exactly."""

from __future__ import annotations

import re

from memory_node.context.brief_state import BriefState, Section
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState

HAND_EMPTY = "the hand is empty"
AT_NOTHING = "the robot stands at nothing known"
_HOLDS = "the hand holds "
_AT = "the robot stands at "
_REST, _INSIDE = " is in or on ", " is inside "
_OUT_OF_REACH = " is out of reach"
_CLOSE_BY = " is close by"
_FAILED = re.compile(r"(?P<call>.+\)) failed(?: (?P<times>\d+) times)?: (?P<reason>\w+)")


def holds(name: str) -> str:
    """Return the sentence for what the hand holds; "" for nothing."""
    return f"{_HOLDS}{name}" if name else HAND_EMPTY


def stands_at(name: str) -> str:
    """Return the sentence for the thing that the robot has driven to; "" for none."""
    return f"{_AT}{name}" if name else AT_NOTHING


def rests(name: str, place: str, inside: bool = False) -> str:
    """Return the sentence for where a thing is; inside: it is known to be in it, and not on it."""
    return f"{name}{_INSIDE if inside else _REST}{place}"


def is_in_state(name: str, state: ObjectState) -> str:
    """Return the sentence for a state of a thing."""
    return f"{name} is {state}"


def out_of_reach(name: str) -> str:
    """Return the sentence for a thing that the robot could not reach from where it stands."""
    return f"{name}{_OUT_OF_REACH}"


def close_by(name: str) -> str:
    """Return the sentence for a thing that memory sees close to the robot, though the robot has not driven to it."""
    return f"{name}{_CLOSE_BY}"


def all_close_by(state: BriefState) -> list[str]:
    """Return the items that tell what is close by."""
    return [text for text in state.items(Section.FACTS) if text.endswith(_CLOSE_BY)]


def failed(call: SkillCall, reason: FailureReason, times: int = 1) -> str:
    """Return the sentence for a call that failed, several times in a row for the same reason."""
    return f"{call} failed{f' {times} times' if times > 1 else ''}: {reason}"


def held_by(state: BriefState) -> str | None:
    """Return the name of what the hand holds, "" for nothing; None: not known."""
    agent = state.items(Section.AGENT)
    if HAND_EMPTY in agent:
        return ""
    return next((text.removeprefix(_HOLDS) for text in agent if text.startswith(_HOLDS)), None)


def place_of_robot(state: BriefState) -> str | None:
    """Return the name of the thing that the robot stands at, "" for none; None: not known."""
    agent = state.items(Section.AGENT)
    if AT_NOTHING in agent:
        return ""
    return next((text.removeprefix(_AT) for text in agent if text.startswith(_AT)), None)


def place_of(name: str, state: BriefState) -> str:
    """Return the name of what a thing is in or on, "" where nobody knows."""
    return location_item(name, state).removeprefix(f"{name}{_REST}").removeprefix(f"{name}{_INSIDE}")


def is_inside(name: str, state: BriefState) -> bool:
    """Return whether a thing is known to be in something, and not on it."""
    return location_item(name, state).startswith(f"{name}{_INSIDE}")


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


def failure_items(name: str, state: BriefState) -> list[str]:
    """Return the items that tell of failed calls with a thing."""
    found = []
    for text in state.items(Section.FACTS):
        match = _FAILED.fullmatch(text)
        if match is not None and name in match["call"].rstrip(")").partition("(")[2].split(", "):
            found.append(text)
    return found
