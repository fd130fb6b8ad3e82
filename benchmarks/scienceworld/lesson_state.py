"""The brief state of a lesson, kept by rules from what the engine prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from benchmarks.scienceworld.commands import SAME, words_alike
from benchmarks.scienceworld.sentences import (
    Outcome,
    RoomSight,
    failed,
    failures_of,
    holds,
    is_in_state,
    location_item,
    place_of_robot,
    read_held,
    rests,
    stands_at,
)
from memory_node.context.brief_state import (
    FOLD_OVER,
    MAX_ITEM,
    BriefState,
    Create,
    Delete,
    Delta,
    Fold,
    Section,
    Update,
    apply,
)
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.states import ObjectState


class StateDraft:
    """state: as it stands now. delta: the operations that led there."""

    def __init__(self, state: BriefState) -> None:
        self.state = state
        self.delta: Delta = ()

    def put(self, section: Section, old: str, new: str) -> None:
        """Replace one item by another; with "" for old only add, with "" for new only remove. An item that is there
        already stays."""
        items = self.state.items(section)
        has_old = bool(old) and old in items
        if new and new not in items:
            self._do(Update(section=section, old=old, text=new) if has_old else Create(section=section, text=new))
        elif has_old and old != new:
            self._do(Delete(section=section, text=old))

    def add(self, section: Section, text: str) -> None:
        """Add an item."""
        self.put(section, "", text)

    def take_out(self, section: Section, text: str) -> None:
        """Take an item out, if it is there."""
        self.put(section, text, "")

    def fold(self, section: Section, texts: Sequence[str], into: str) -> None:
        """Fold items into one fact."""
        self._do(Fold(section=section, texts=tuple(texts), into=into[:MAX_ITEM]))

    def _do(self, operation: Create | Update | Delete | Fold) -> None:
        self.state = apply((operation,), self.state)
        self.delta = (*self.delta, operation)


# The newest commands that are not folded.
_KEPT_COMPLETED = 3
_LONGEST_TOLD = 160
_DONE_BEFORE = "done before: "
_STANDS_IN = " takes the place of "
_NOWHERE = "there is no "
_TIMES = re.compile(r"(?P<command>.+?)(?: \((?P<times>\d+) times\))?")
_HOLDS = holds("x").removesuffix("x")


def first_lesson_state(task: str, text: str) -> BriefState:
    """Return b_0 by the task in words and a lesson's first text."""
    draft = StateDraft(BriefState(goal=" ".join(task.split())[:MAX_ITEM]))
    _take_in(draft, Outcome.read(text))
    for name in read_held(text):
        draft.add(Section.AGENT, holds(name))
    _keep_short(draft)
    return draft.state


def followed(state: BriefState, command: str, names: Sequence[str], reply: str) -> Delta:
    """Return the operations that a command and its reply call for. names: those in the command."""
    draft, outcome = StateDraft(state), Outcome.read(reply)
    call = SkillCall(command)
    told = failures_of(call, state)
    before = told[0] if told is not None else ""
    if outcome.reason is not FailureReason.NONE:
        times = told[2] + 1 if told is not None else 1
        draft.put(Section.FACTS, before, failed(call, outcome.reason, times))
    else:
        draft.take_out(Section.FACTS, before)
        _count(draft, command)
        _take_in(draft, outcome)
        _believe(draft, outcome, names)
        if outcome == Outcome():
            _note_reply(draft, command, reply)
    _keep_short(draft)
    return draft.delta


def done_commands(state: BriefState) -> Counter[str]:
    """Return how often each command was done, as the state tells."""
    folded = [text.removeprefix(_DONE_BEFORE) for text in state.items(Section.FACTS) if text.startswith(_DONE_BEFORE)]
    done: Counter[str] = Counter()
    for text in (*state.items(Section.COMPLETED), *(one for texts in folded for one in texts.split("; "))):
        match = _TIMES.fullmatch(text)
        if match is not None:
            done[match["command"]] += int(match["times"] or 1)
    return done


def stands_in(name: str, other: str) -> str:
    """Return the sentence for a thing that is used here where an attempt used another one."""
    return f"{name}{_STANDS_IN}{other}"


def stand_ins(state: BriefState) -> dict[str, str]:
    """Return what is used here, by what an attempt used."""
    found = (text.split(_STANDS_IN) for text in state.items(Section.FACTS) if _STANDS_IN in text)
    return {other: name for name, other in found}


def not_there(name: str, room: str) -> str:
    """Return the sentence for a thing that an attempt used in a room, and that is not there."""
    return f"{_NOWHERE}{name} in {room}"


def is_believed(outcome: Outcome, names: Sequence[str], state: BriefState) -> bool:
    """Return whether all that follows from an outcome is so already. names: those of its command."""
    beliefs = outcome.beliefs(names)
    if outcome.taken:
        return any(words_alike(held, names[0].lower()) >= SAME for held in _held(state))
    return bool(beliefs) and all(text in state.items(section) for section, text in beliefs)


def _held(state: BriefState) -> list[str]:
    return [text.removeprefix(_HOLDS) for text in state.items(Section.AGENT) if text.startswith(_HOLDS)]


def _count(draft: StateDraft, command: str) -> None:
    """Note that a command was done once more; commands that were folded are counted anew."""
    items = draft.state.items(Section.COMPLETED)
    for text in items:
        match = _TIMES.fullmatch(text)
        if match is not None and match["command"] == command:
            draft.put(Section.COMPLETED, text, f"{command} ({int(match['times'] or 1) + 1} times)")
            return
    draft.add(Section.COMPLETED, command[:MAX_ITEM])


def _take_in(draft: StateDraft, outcome: Outcome) -> None:
    sight = outcome.sight
    if sight is None:
        return
    _be_at(draft, sight.room)
    for thing in sight.things:
        draft.put(Section.LOCATIONS, location_item(thing.name, draft.state), _place(thing.name, thing.support, sight))
        for state in thing.states:
            _be_in_state(draft, thing.name, state)
    for room, is_open in sight.doors.items():
        _be_in_state(draft, f"door to {room}", ObjectState.OPENED if is_open else ObjectState.CLOSED)


def _place(name: str, support: str, sight: RoomSight) -> str:
    inside = next((one.inside for one in sight.things if one.name == support), True)
    return rests(name, support or sight.room, inside)


def _believe(draft: StateDraft, outcome: Outcome, names: Sequence[str]) -> None:
    """Take over what follows from a command that was done."""
    if outcome.room:
        _be_at(draft, outcome.room)
        return
    name = names[0].lower() if names else ""
    if outcome.place:
        for held in _held(draft.state):
            if words_alike(held, name) >= SAME:
                draft.take_out(Section.AGENT, holds(held))
        draft.take_out(Section.LOCATIONS, location_item(name, draft.state))
    if name and outcome.state is not None:
        _be_in_state(draft, name, outcome.state)
    for section, text in outcome.beliefs(names):
        draft.add(section, text)


def _be_at(draft: StateDraft, room: str) -> None:
    old = place_of_robot(draft.state)
    draft.put(Section.AGENT, "" if old is None else stands_at(old), stands_at(room))


def _be_in_state(draft: StateDraft, name: str, state: ObjectState) -> None:
    for other in sorted(state.opposites):
        draft.take_out(Section.FACTS, is_in_state(name, other))
    draft.add(Section.FACTS, is_in_state(name, state))


def _note_reply(draft: StateDraft, command: str, reply: str) -> None:
    """Keep in words what a command told that no other section says, in place of what it told before."""
    told = " ".join(reply.split())
    if told and len(told) <= _LONGEST_TOLD:
        old = (text for text in draft.state.items(Section.FACTS) if text.startswith(f"{command}: "))
        draft.put(Section.FACTS, next(old, ""), f"{command}: {told}"[:MAX_ITEM])


def _keep_short(draft: StateDraft) -> None:
    """Fold old commands, and drop beliefs: those that share no word with the task first, then the oldest."""
    completed = draft.state.items(Section.COMPLETED)
    for old in _in_items(completed[:-_KEPT_COMPLETED]) if len(completed) > FOLD_OVER else ():
        draft.fold(Section.COMPLETED, old, f"{_DONE_BEFORE}{'; '.join(old)}")
    goal = set(draft.state.goal.lower().split())
    for section in (Section.LOCATIONS, Section.FACTS):
        items = [text for text in draft.state.items(section) if not text.startswith(_DONE_BEFORE)]
        items = [text for text in items if _STANDS_IN not in text and not text.startswith(_NOWHERE)]
        items.sort(key=lambda text: bool(goal & set(text.lower().split())))
        for text in items[: max(len(items) - FOLD_OVER, 0)]:
            draft.take_out(section, text)


def _in_items(commands: Sequence[str]) -> list[list[str]]:
    """Return commands in groups that fit into one item each: none of them is cut off."""
    groups: list[list[str]] = []
    for command in commands:
        if groups and len(_DONE_BEFORE) + len("; ".join((*groups[-1], command))) <= MAX_ITEM:
            groups[-1].append(command)
        else:
            groups.append([command])
    return groups
