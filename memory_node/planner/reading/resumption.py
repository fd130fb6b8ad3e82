"""What is left of an instruction that was interrupted, read as it was meant when it was given; and what was done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_node.context.recalled import Recalled
from memory_node.domain.clock import local_day
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill_library import GOALS, GoalKind
from memory_node.domain.states import believed
from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.knowledge.text import stems
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.commands import commands_of, goal_of
from memory_node.planner.reading.conversation import UnclearError
from memory_node.planner.reading.references import References, UnreadableError
from memory_node.questions.going_on import going_on

_PLACED = frozenset({GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK})
_PRONOUN = re.compile(r"\b(?:it|them)\b")


def goals_left(recalled: Recalled, references: References) -> tuple[Goal, ...]:
    """Return the goals of the last interrupted instruction that nobody has met yet, but not those called off.

    Raises:
        UnclearError: it was in no plain words, or what it means is not known any more.
    """
    return next((goals for _, goals in interrupted(recalled, references)), ())


def all_left(recalled: Recalled, references: References) -> tuple[Goal, ...]:
    """Return the same of it and of those before it that were broken off the same day; the first of them first.

    Raises:
        UnclearError: as of goals_left.
    """
    unfinished = recalled.unfinished
    today = local_day(unfinished[0].started_ns, recalled.zone) if unfinished else None
    same_day = [one for one in unfinished if local_day(one.started_ns, recalled.zone) == today]
    left = [goals for _, goals in interrupted(replace(recalled, unfinished=tuple(same_day)), references)]
    return tuple(goal for goals in reversed(left) for goal in goals) or goals_left(recalled, references)


def interrupted(recalled: Recalled, references: References) -> Iterator[tuple[EpisodeSummary, tuple[Goal, ...]]]:
    """Yield each interrupted instruction of which something is left, with what that is; the last one first.

    Raises:
        UnclearError: as of goals_left.
    """
    called_off: list[str] = []
    done: set[str] = set()
    for number, episode in enumerate(recalled.unfinished):
        resumed = going_on(episode.instruction)
        if resumed is not None:
            called_off += [resumed.left] if resumed.left else []
            continue
        if episode.instruction in done:  # an earlier attempt at it
            continue
        done.add(episode.instruction)
        left = _unmet(episode.instruction, _begun_ns(recalled.unfinished[number:]), references)
        for words in called_off:
            left = without(left, words, references)
        if left:
            yield episode, left


def goals_then(instruction: str, recalled: Recalled, scene: SceneSnapshot) -> tuple[Goal, ...]:
    """Return goals for what the robot put where when an instruction was given last; () where memory does not know it.
    A thing is known by how it looked, since another of its kind may be there by now, and its place by its id."""
    episode_id = next((one for one, asked in recalled.asked.items() if asked == instruction), "")
    put = [deed for deed in recalled.deeds if deed.episode_id == episode_id and deed.skill == "PutObject"]
    known = {one.id for one in scene.objects}
    if not all(deed.object_class and deed.to_id in known for deed in put):
        return ()
    return tuple(
        Goal(
            GoalKind.PLACE,
            Mention(deed.object_class, (deed.object_class,), looks=frozenset(stems(deed.looks))),
            Mention(deed.to_class, (deed.to_class,), thing_id=deed.to_id),
            text=f"put the {deed.object_class} on the {deed.to_class}",
        )
        for deed in put
    )


def _begun_ns(episodes: Sequence[EpisodeSummary]) -> int:
    """Return when the first attempt at the first episode's instruction was begun; the older ones follow."""
    begun = episodes[0]
    for older in episodes[1:]:
        if begun.attempt == 1 or older.instruction != begun.instruction:
            break
        begun = older
    return begun.started_ns


def without(goals: Sequence[Goal], words: str, references: References) -> tuple[Goal, ...]:
    """Return goals without those for things that are to be left.

    Raises:
        UnreadableError, UnclearError: of the words.
    """
    left = [references.thing(part) for part in re.split(r",? and |, ", words)]
    return tuple(goal for goal in goals if not any(_is_about(goal, one.candidates, one.thing_id) for one in left))


def _is_about(goal: Goal, classes: Sequence[str], thing_id: str) -> bool:
    target = goal.target
    is_other = bool(thing_id and target.thing_id and thing_id != target.thing_id)
    return target.object_class in classes and not is_other


def _unmet(instruction: str, begun_ns: int, references: References) -> tuple[Goal, ...]:
    """Return the goals of an instruction that neither a deed since its beginning has met, nor somebody else."""
    since = [deed for deed in references.deeds if deed.stamp_ns >= begun_ns]
    then = references.as_of(begun_ns)
    left: list[Goal] = []
    spent: set[str] = set()  # deeds that have met a goal
    finished: set[str] = set()  # their things
    cut: set[str] = set()  # classes of what was sliced
    for command in commands_of(instruction):
        try:
            goal = goal_of(command, then)
        except UnreadableError:
            asked = f"I was interrupted in {instruction!r}, and cannot tell what is left of it. What shall I do?"
            raise UnclearError(asked) from None
        met_by = next((deed for deed in since if deed.source not in spent and _meets(deed, goal)), None)
        if met_by is not None:
            spent.add(met_by.source)
            finished.add(met_by.object_id)
            then.settle(met_by.object_id)
            cut |= {goal.target.object_class} if goal.kind is GoalKind.SLICE else set()
            continue
        target = goal.target
        if references.is_gone(target):
            references.notes.append(f"{target.text} is gone, so I leave it.")
            continue
        is_begun = any(_is_about(one, target.candidates, target.thing_id) for one in left)
        if done_by_others := "" if is_begun else _as_wanted(goal, begun_ns, references.scene):
            then.settle(done_by_others)
            continue
        begun = [deed.object_id for deed in since if deed.object_class in target.candidates]
        begun = [one for one in begun if one not in finished and then.knows(one)]
        if begun and not target.thing_id and target.object_class not in cut:
            goal = goal.changed(target=replace(target, thing_id=begun[-1]))
            then.settle(begun[-1])
        name = f"the {then.kinds[target.object_class].best_name}" if target.object_class else target.text
        text = _PRONOUN.sub(name, command, count=1)
        left.append(goal.changed(text=text, sliced=goal.sliced or target.object_class in cut))
    return tuple(left)


def _as_wanted(goal: Goal, since_ns: int, scene: SceneSnapshot) -> str:
    """Return the id of the only thing that a goal can mean, where memory has it at the goal's place, and in its state
    by what was seen since a stamp; "" where it is not so, or cannot be told."""
    target, place, wants = goal.target, goal.destination, GOALS[goal.kind].wants
    things = [one for one in scene.believed if one.class_name in target.candidates]
    things = [one for one in things if target.thing_id in ("", one.id)]
    is_plain = not (goal.container or goal.sliced or (place and place.beside)) and bool(wants or place)
    if len(things) != 1 or goal.count > 1 or not is_plain:
        return ""
    support = scene.by_id.get(things[0].support_id)
    if place is not None and (support is None or not _is_place(place, support.id, support.class_name)):
        return ""
    states = believed(one for one in things[0].states if one.confirmed_ns >= since_ns)
    return "" if wants and wants.isdisjoint(states) else things[0].id


def _is_place(place: Mention, thing_id: str, class_name: str) -> bool:
    return thing_id == place.thing_id if place.thing_id else class_name in place.candidates


def _meets(deed: Deed, goal: Goal) -> bool:
    """Return whether a deed was what a goal asks for."""
    thing = goal.target
    is_thing = deed.object_id == thing.thing_id if thing.thing_id else deed.object_class in thing.candidates
    if not is_thing:
        return False
    place = goal.destination
    if goal.kind in _PLACED and place is not None:
        return deed.skill in ("PutObject", "ThrowObject") and _is_place(place, deed.to_id, deed.to_class)
    # Who took a thing has not looked at it in the light yet.
    return deed.skill in GOALS[goal.kind].skills and goal.light is None
