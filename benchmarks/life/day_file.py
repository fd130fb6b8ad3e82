"""Reads files of scenarios; what is wrong in one is told with file, line and name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from benchmarks.life.day_form import Scenario, Step, Want
from benchmarks.rows import open_text
from memory_node.domain.resources import compose_yaml

Location = tuple[str | int, ...]
_KEY_FAULTS = {"extra_forbidden": "unknown key", "missing": "there is no key"}


@dataclass(frozen=True)
class Day:
    """A scenario and where it stands. node: of its file's tree."""

    scenario: Scenario
    path: Path
    node: yaml.Node

    def fault(self, location: Location, text: str) -> str:
        """Return what is wrong at a place of the scenario, such as ("events", 2, "move"), with file and line."""
        return f"{self.path}, line {_line(self.node, location)}: {self.scenario.id}: {text}"


def read_days(paths: Iterable[Path]) -> tuple[tuple[Day, ...], list[str]]:
    """Return the scenarios of some files that are as docs/life.md has them, in order, and what is wrong with others.

    Raises:
        NotFoundError: there is no such file.
    """
    days: list[Day] = []
    faults: list[str] = []
    for path in paths:
        try:
            with open_text(path) as file:
                declared, node = compose_yaml(file.read())
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            mark = getattr(error, "problem_mark", None)
            line = f", line {mark.line + 1}" if mark is not None else ""
            faults.append(f"{path}{line}: no YAML: {' '.join(str(error).split()):.300}")
            continue
        if not isinstance(declared, list) or not isinstance(node, yaml.SequenceNode):
            faults.append(f"{path}, line 1: expected a list of scenarios")
            continue
        for entry, entry_node in zip(declared, node.value):
            _read(entry, entry_node, path, days, faults)
    first: dict[str, Day] = {}
    for day in days:
        other = first.setdefault(day.scenario.id, day)
        if other is not day:
            faults.append(day.fault(("id",), f"another scenario has this id ({other.fault(('id',), '').strip(': ')})"))
    return tuple(days), faults


def _read(entry: Any, node: yaml.Node, path: Path, days: list[Day], faults: list[str]) -> None:
    """Add the scenario of an entry to `days`, or what is wrong with it to `faults`."""
    name = entry.get("id", "a scenario") if isinstance(entry, dict) else "a scenario"
    try:
        day = Day(Scenario.model_validate(entry), path, node)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            location = _without_type(tuple(fault["loc"]))
            faults.append(f"{path}, line {_line(node, location)}: {name}: {_said(fault, node, location)}")
        return
    if not day.scenario.judged:
        faults.append(day.fault(("events",), "no step has a want, so nothing is judged"))
    for index, event in enumerate(day.scenario.events):
        if isinstance(event, Step) and event.want == Want():
            faults.append(day.fault(("events", index, "want"), "want says nothing"))
    days.append(day)


def _said(fault: Any, node: yaml.Node, location: Location) -> str:
    if fault["type"] in _KEY_FAULTS:
        return f"{_KEY_FAULTS[fault['type']]} {location[-1]!r}"
    keys = ".".join(str(part) for part, _ in _walk(node, location))
    text = str(fault["msg"]).removeprefix("Value error, ")
    return f"{keys}: {text}" if keys else text


def _without_type(location: Location) -> Location:
    """Return a location without the name of the event's type, which pydantic puts behind its number."""
    return location[:2] + location[3:] if location[:1] == ("events",) else location


def _line(node: yaml.Node, location: Location) -> int:
    lines = [node.start_mark.line, *(line for _, line in _walk(node, location))]
    return int(lines[-1]) + 1


def _walk(node: yaml.Node, location: Sequence[str | int]) -> Iterable[tuple[str | int, int]]:
    for part in location:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            yield part, node.start_mark.line
        elif isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if found is not None:
                node = found[1]
                yield part, found[0].start_mark.line
