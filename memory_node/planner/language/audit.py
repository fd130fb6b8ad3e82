"""Holds goals against the words of an instruction: nothing unnamed is handled, nothing named is left out or reversed.

One audit for every reader, and for a language model's plan, before the first motion. It explains itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.instruction_grammar import Instruction
from memory_node.planner.language.licence import Licence
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.roles import Roles
from memory_node.planner.language.treatments import TreatmentWords

_HARMS = (GoalKind.BREAK, GoalKind.THROW)  # they need a command: nothing is broken for a word that was misread
_UNSAID = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL)  # what trained readers may add to a place
_CARRYING = (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK, GoalKind.FETCH, GoalKind.THROW)
_TREATED = (GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL, GoalKind.FILL, GoalKind.EMPTY)


@dataclass(frozen=True)
class Evidence:
    """What the words say: as commands, by the classes that they account for, and by what is origin and what goal.

    unexplained: things named in words that no rule of the grammar explains, where its commands are what is judged.
    """

    instruction: Instruction
    licence: Licence
    roles: Roles
    kinds: ObjectCatalogue
    text: str
    treatments: TreatmentWords
    unexplained: Sequence[NounPhrase] = ()


def objection(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Return why goals do not fit the words, in one sentence; "" where they do."""
    if evidence.instruction.asks and any(goal.kind is not GoalKind.TELL for goal in goals):
        return "it is a question"
    bare = _bare(evidence.instruction)
    if bare is not None:
        return f"nothing tells what {bare.text!r} is"
    for goal in goals:
        unsaid = goal.kind in _UNSAID and not goal.treatment
        if unsaid and not evidence.treatments.speak_of(goal.kind, evidence.text, str(goal.destination or "")):
            return f"no word asks to {goal.kind} {goal.target}"
        if goal.kind in _HARMS and all(command.kind is not goal.kind for command in evidence.instruction.commands):
            return f"no command asks to {goal.kind} {goal.target}"
        if goal.kind is not GoalKind.GO and goal.target.object_class == evidence.kinds.recipient != "":
            return "nobody is carried"
        thing = evidence.kinds[goal.target.object_class]
        held = goal.kind is not GoalKind.EXAMINE or thing.pickupable or not goal.target.candidates
        if not held or (goal.kind in _CARRYING and thing.can(Property.FIXED)):
            return f"{goal.target} cannot be carried"
    handled = [mention for goal in goals for mention in goal.mentions if mention.candidates]
    for mention in handled:
        if not _is_accounted(mention, evidence):
            return f"no word stands for {mention.object_class}"
    classes = {name for mention in handled for name in mention.candidates}
    classes |= {name for goal in goals for name in _used_for(goal, evidence.kinds)}
    for phrase in (*_demanded(evidence.instruction), *evidence.roles.goals, *evidence.unexplained):
        names = phrase.called.all if phrase.called is not None else ()
        if names and not classes & set(names):
            return f"{phrase.text!r} is left out"
    return _reversed(goals, evidence) or _pointless(goals)


def _bare(instruction: Instruction) -> NounPhrase | None:
    """Return a thing to be handled that no word tells from others: "get me something"."""
    if not instruction.plain or instruction.aside:
        return None
    moved = [command for command in instruction.commands if command.kind in _CARRYING and command.contents is None]
    return next((phrase for command in moved for phrase in command.targets if phrase.bare), None)


def _used_for(goal: Goal, kinds: ObjectCatalogue) -> Sequence[str]:
    """Return the classes of the appliances and vessels that a treatment takes; to name them asks for nothing more."""
    if goal.kind not in _TREATED:
        return ()
    named = kinds.treatment(goal.treatment)
    treatments = [named] if named is not None else kinds.treatments_of(goal.kind)
    return kinds.with_wholes(name for one in treatments for name in (*one.at, *one.vessels))


def _is_accounted(mention: Mention, evidence: Evidence) -> bool:
    name, licence = mention.object_class, evidence.licence
    return (
        name == evidence.kinds.recipient
        or mention.referring
        or mention.original_place
        or name in licence.named
        or bool(licence.open)
    )


def _demanded(instruction: Instruction) -> Iterator[NounPhrase]:
    """Yield the phrases of what commands handle, of commands that were read without a rest."""
    commands = instruction.commands
    for index, command in enumerate(commands):
        on_the_way = command.kind in (GoalKind.GO, GoalKind.FIND) and index + 1 < len(commands)
        if command.unread or on_the_way:
            continue
        if not command.alternatives:
            yield from command.targets
        if command.destination is not None:
            yield command.destination


def _reversed(goals: Sequence[Goal], evidence: Evidence) -> str:
    """Return the objection that something is put to where it is to be taken from."""
    destinations = [command.destination for command in evidence.instruction.commands] + list(evidence.roles.goals)
    wanted = {name for phrase in destinations if phrase is not None and phrase.called for name in phrase.called.all}
    for phrase in evidence.roles.origins:
        origin = set(phrase.called.all if phrase.called is not None else ()) - wanted
        for goal in goals:
            place = goal.destination
            if place is not None and not place.beside and place.object_class in origin:
                return f"{place} is where it is taken from"
    return ""


def _pointless(goals: Sequence[Goal]) -> str:
    """Return the objection that something is put into itself."""
    for goal in goals:
        place = goal.destination
        if place is not None and not place.original_place and place.object_class == goal.target.object_class:
            return f"{goal.target} cannot be put into itself"
    return ""
