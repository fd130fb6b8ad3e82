"""Reads runs of text games, such as ALFWorld's, as a source of knowledge: what lay where, and ways to do things."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.facts import Prescription, Proposition
from memory_node.knowledge.game_commands import GameAct, read_command
from memory_node.knowledge.segments import Embed, return_of, segments_of
from memory_node.knowledge.standard_step import StandardStep

# "mug 2": a thing of the particular place.
_NUMBER = re.compile(r" \d+\b")
# What a game says to a command that it does not carry out.
_REFUSED = re.compile(r"nothing happens|you can't|cannot|invalid|don't understand", re.I)
_SEEN_ON = re.compile(r"\bOn the (?P<place>[\w ]+?), you see (?P<things>[^.]+)\.")
_SEEN_IN = re.compile(r"\bThe (?P<place>[\w ]+?) is open\. In it, you see (?P<things>[^.]+)\.")
_THING = re.compile(r"\ban? ([a-z][\w]*(?: [a-z]\w*)*)")
# What a command is for, where it changes something; others serve the next that does.
_SUBGOALS = {
    GameAct.TAKE: "{thing} held",
    GameAct.PUT: "{thing} in {place}",
    GameAct.CLEAN: "{thing} clean",
    GameAct.HEAT: "{thing} hot",
    GameAct.COOL: "{thing} cold",
    GameAct.USE: "{thing} used",
    GameAct.SLICE: "{thing} sliced",
}


@dataclass(frozen=True)
class Transcript:
    """A run: its task, its turns as (command, reply), and whether the task was done."""

    task: str
    turns: tuple[tuple[str, str], ...]
    won: bool


def read_transcripts(path: Path, on_bytes: Callable[[int], None] = lambda _: None) -> Iterator[tuple[int, Transcript]]:
    """Yield the runs of a file of JSON lines, {"task", "turns": [[command, reply]], "won"}, each with its number.

    Raises:
        InvalidValueError: a line is no run; the message names it.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file):
            on_bytes(len(line))
            try:
                row = json.loads(line)
                turns = tuple((str(command), str(reply)) for command, reply in row["turns"])
                yield number, Transcript(str(row["task"]), turns, bool(row["won"]))
            except (KeyError, TypeError, ValueError) as error:
                raise InvalidValueError(f"{path}, line {number + 1}: it is no run of a game: {error!r}") from error


def transcript_steps(session: str, run: Transcript, stamp_ns: int = 0) -> list[StandardStep]:
    """Return one step a turn: what was seen before it, what it was for, and how that went."""
    goals = [_subgoal(command) for command, _ in run.turns]
    steps: list[StandardStep] = []
    seen = ""
    for index, (command, reply) in enumerate(run.turns):
        before = f"after {steps[-1].action}, which {steps[-1].reward}" if steps else "at the beginning"
        subgoal = next((goal for goal in goals[index:] if goal), run.task)
        reward = "failed: nothing happened" if _REFUSED.search(reply) else "worked"
        steps.append(StandardStep(f"{session}:{index}", seen, before, command, reward, subgoal, run.task, stamp_ns))
        seen = reply
    return steps


def things_seen(session: str, run: Transcript, stamp_ns: int = 0) -> list[Proposition]:
    """Return where things lay, by classes: "mug on countertop"; each with the step that showed it."""
    found: dict[str, Proposition] = {}
    for index, (_, reply) in enumerate(run.turns):
        for pattern, relation in ((_SEEN_ON, "on"), (_SEEN_IN, "in")):
            for match in pattern.finditer(reply):
                place = _of_a_class(match["place"])
                for thing in _THING.findall(_of_a_class(match["things"])):
                    text = f"{thing} {relation} {place}"
                    source = (f"{session}:{index}",)
                    found.setdefault(text, Proposition(text, frozenset((thing, place)), source, stamp_ns))
    return list(found.values())


def ways_of(session: str, run: Transcript, embed: Embed, stamp_ns: int = 0) -> list[Prescription]:
    """Return the way in which a run was won, and one for each part of a run, won or not, by what the part was for."""
    steps = transcript_steps(session, run, stamp_ns)
    worked = tuple(_of_a_class(step.action) for step in steps if step.reward == "worked")
    ways = [Prescription(run.task, worked, (session,), stamp_ns)] if run.won and worked else []
    segments = segments_of(steps, embed)
    if len(segments) > 1:
        ways += [_way(session, [steps[at] for at in segment], stamp_ns) for segment in segments]
    return list({way.key: way for way in ways}.values())


def _way(session: str, steps: Sequence[StandardStep], stamp_ns: int) -> Prescription:
    wanted = steps[-1].subgoal
    done = [_of_a_class(step.action) for step in steps if step.reward == "worked"]
    failed = [_of_a_class(step.action) for step in steps if step.reward != "worked"]
    returned = return_of(len(done), len(steps), bool(_subgoal(steps[-1].action)) and steps[-1].reward == "worked")
    advice = f"To get to {wanted}: {', then '.join(done)}." if done else f"Nothing led to {wanted}."
    advice += f" Failed: {'; '.join(failed)}." if failed else ""
    actions = tuple(_of_a_class(step.action) for step in steps)
    return Prescription(f"get to: {wanted}", actions, (session,), stamp_ns, returned=round(returned, 1), advice=advice)


def _subgoal(command: str) -> str:
    """Return what a command is for by itself, "" when it serves another."""
    read = read_command(_of_a_class(command))
    if read is None or read.act not in _SUBGOALS:
        return ""
    return _SUBGOALS[read.act].format(thing=read.thing, place=read.place)


def _of_a_class(text: str) -> str:
    return _NUMBER.sub("", text)
