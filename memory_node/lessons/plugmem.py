"""PlugMem's prescriptions: how an instruction was carried out, over roles, found by each instruction that it served."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue, SpokenNames
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GOALS, SKILLS, GoalKind
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.lessons.lesson import Lesson, LessonKind, Wording, with_evidence
from memory_node.lessons.optimizer.rules import is_named, words_of
from memory_node.world.skills import fits_kind
from memory_node.world.state import Thing, WorldState

WRITER = "plugmem"
# What the instruction is about, and the place that it names; all else of a way is a kind of thing.
THING, PLACE = "the thing", "the place"
# Newest instructions by which a way is found.
_INTENTS_KEPT = 8
_SEARCH = frozenset({"Explore", "GoToObject"})
# What every planner does by itself: a way of these alone teaches nothing.
_PLAIN = _SEARCH | {"PickupObject", "PutObject", "OpenObject", "CloseObject"}
# What stands in an intent for whatever it is done with, so that ways are found for other things.
_ANYTHING = "something"
_ASKS_HOW = re.compile(r"^how (?:do|can|should|would|to)\b(?: (?:i|you|we|one))?\s*", re.I)
_CALL = re.compile(r"(\w+)\(([^()]*)\)")


def intent_of(text: str, names: SpokenNames) -> str:
    """Return what an instruction or a question is about, whatever with: "wash something" of "How do I wash a mug?"."""
    return names.without_names(_ASKS_HOW.sub("", text.strip()), _ANYTHING)


def way_of(episode: EpisodeSummary, steps: Sequence[StepRecord], kinds: ObjectCatalogue) -> Lesson | None:
    """Return the way of a successful episode, with its steps as evidence; None for a failed one, and for one whose
    steps do not show how all of it is done."""
    worked = [step for step in steps if step.success]
    calls = [class_call(step.action) for step in worked]
    if not (episode.success and episode.instruction.strip() and shows_how(episode.task_type, calls, kinds)):
        return None
    sources = [f"{step.episode_id}:{step.index}" for step in worked]
    named = {name for classes in kinds.spoken_names.named_in(episode.instruction.lower()) for name in classes}
    calls = _without_tidying(without_fetching(_without_emptying(calls, named)), named)
    return way_over_roles(episode.instruction, kinds.spoken_names, calls, sources, episode.ended_ns, episode.task_type)


def way_read(
    episode: EpisodeSummary, worked: Sequence[StepRecord], intent: str, kinds: ObjectCatalogue
) -> Lesson | None:
    """Return the way of a successful episode that a language model chose: its steps over roles, found by the words of
    the instruction and by the intent that it wrote; None where they do not show how all of it is done."""
    calls = [class_call(step.action) for step in worked]
    taken = {call.arguments[0] for call in calls if call.skill == "PickupObject" and call.arguments}
    put = {call.arguments[0] for call in calls if call.skill == "PutObject" and call.arguments}
    if not shows_how(episode.task_type, calls, kinds) or put - taken:
        return None
    sources = [f"{step.episode_id}:{step.index}" for step in worked]
    names = kinds.spoken_names
    way = way_over_roles(
        episode.instruction, names, without_fetching(calls), sources, episode.ended_ns, episode.task_type
    )
    if way is None or not intent:
        return way
    written = replace(way.wordings[0], situation=intent_of(intent, names))
    return replace(way, wordings=(written, *way.wordings))


def shows_how(task_type: str, calls: Iterable[SkillCall], kinds: ObjectCatalogue) -> bool:
    """Return whether calls over classes bring about each kind of goal of a task ("clean+place"): what was so before
    shows no way. A treatment may be done by hand at its appliance."""
    done = tuple(calls)
    for goal in (GoalKind(one) for one in task_type.split("+") if one in map(str, GoalKind)):
        declared = GOALS[goal]
        skills = {*declared.skills, *declared.permits} or ({"PutObject"} if declared.carried else set())
        appliances = {place for one in kinds.treatments_of(goal) for place in one.at}
        if skills and not any(call.skill in skills or appliances & {*call.arguments[1:]} for call in done):
            return False
    return True


def _without_emptying(calls: Sequence[SkillCall], named: set[str]) -> list[SkillCall]:
    """Return calls without those that free the hand of what the instruction does not name, to take something else: the
    next time it holds another thing, or nothing."""
    return [
        call
        for at, call in enumerate(calls)
        if call.skill != "PutObject"
        or named.issuperset(call.arguments[:1])
        or SkillCall("PickupObject", call.arguments[:1]) in calls[:at]
        or all(later.skill != "PickupObject" for later in calls[at + 1 :])
    ]


def _without_tidying(calls: Sequence[SkillCall], named: set[str]) -> list[SkillCall]:
    """Return calls without closing what none of them opened and the instruction does not name: it was opened to look
    inside."""
    return [
        call
        for at, call in enumerate(calls)
        if call.skill != "CloseObject"
        or not named.isdisjoint(call.arguments)
        or SkillCall("OpenObject", call.arguments) in calls[:at]
    ]


def way_over_roles(
    instruction: str,
    names: SpokenNames,
    calls: Sequence[SkillCall],
    sources: Sequence[str],
    stamp_ns: int,
    task_type: str = "",
) -> Lesson | None:
    """Return the way that some calls over classes are; None where they only find and carry things.

    The thing is the one that the instruction names and that was picked up, else handled last; the place is where
    something was put last, if the instruction names it: an appliance on the way is none. What an instruction ("yes, try
    it") does not name stands for nothing else.
    sources: "episode:step" of the steps. Equal ways have one id.
    """
    if is_plain(call.skill for call in calls):
        return None
    asked = set(words_of(instruction))
    spoken = {name for called in names.named_in(instruction.lower()) for name in called}
    handled = [call.arguments[0] for call in calls if call.arguments]
    taken = [call.arguments[0] for call in calls if call.skill == "PickupObject" and call.arguments]
    places = [call.arguments[1] for call in calls if len(call.arguments) > 1]
    thing = next((name for name in (*taken, *reversed(handled)) if is_named(name, asked)), "")
    last = places[-1] if places else ""
    place = last if last != thing and (is_named(last, asked) or last in spoken) else ""
    roles = {name: role for name, role in ((place, PLACE), (thing, THING)) if name}
    over_roles = [call.renamed(roles) for call in calls]
    steps = tuple(str(call) for n, call in enumerate(over_roles) if not n or call != over_roles[n - 1])
    said = " -> ".join(steps)
    return Lesson(
        f"{WRITER}|{said}",
        LessonKind.WAY,
        (Wording(intent_of(instruction, names), said, sources[-1].partition(":")[0], stamp_ns, task_type),),
        object_classes=frozenset({thing} - {""}),
        task_types=frozenset({task_type} - {""}),
        steps=steps,
        helped_ns=stamp_ns,
        evidence_for=with_evidence((), *sources),
        writer=WRITER,
    )


def is_plain(skills: Iterable[str]) -> bool:
    """Return whether skills only find and carry things, as every planner does by itself."""
    return all(skill in _PLAIN for skill in skills)


def merged(known: Lesson, newer: Lesson) -> Lesson:
    """Return one way that was gone twice: found by the intents of both, with the evidence of both."""
    return replace(
        known,
        wordings=_kept((*known.wordings, *newer.wordings)),
        object_classes=known.object_classes | newer.object_classes,
        task_types=known.task_types | newer.task_types,
        evidence_for=with_evidence(known.evidence_for, *newer.evidence_for),
        support=known.support + len(set(newer.evidence_for) - set(known.evidence_for)),
        helped_ns=max(known.helped_ns, newer.helped_ns),
    )


def _kept(wordings: tuple[Wording, ...]) -> tuple[Wording, ...]:
    """Return the newest wordings, the oldest first; an intent that is there once more goes before another one."""
    while len(wordings) > _INTENTS_KEPT:
        intents = [one.situation for one in wordings]
        gone = next((at for at, intent in enumerate(intents) if intents.count(intent) > 1), 0)
        wordings = (*wordings[:gone], *wordings[gone + 1 :])
    return wordings


def intents_of(lesson: Lesson) -> tuple[str, ...]:
    """Return the instructions that a way served, () for another lesson."""
    return tuple(dict.fromkeys(one.situation for one in lesson.wordings)) if lesson.writer == WRITER else ()


def calls_of(way: Lesson) -> tuple[SkillCall, ...]:
    """Return the steps of a way as calls over roles and classes; those of other lessons are none."""
    return calls_named(way.steps)


def calls_named(texts: Iterable[str]) -> tuple[SkillCall, ...]:
    """Return the calls that texts such as "PutObject(Mug, Shelf)" name; of other texts none."""
    return tuple(call for text in texts if (call := _call(text)) is not None)


def without_fetching(calls: Iterable[SkillCall]) -> list[SkillCall]:
    """Return calls without those that only find or reach a thing: they depend on where it is. What was opened to take
    something out that was not put in by these calls is opened for another thing only where that one lies in it, too."""
    kept = [call for call in calls if call.skill not in _SEARCH]
    gone: set[int] = set()
    for at, call in enumerate(kept):
        if call.skill == "OpenObject" and [one.skill for one in kept[at + 1 : at + 2]] == ["PickupObject"]:
            shut = SkillCall("CloseObject", call.arguments)
            end = kept.index(shut, at) if shut in kept[at:] else len(kept)
            used = (*kept[at + 1 : end], *(one for one in kept[:at] if one.skill == "PutObject"))
            if not any(name in one.arguments for one in used for name in call.arguments):
                gone |= {at, end}
    return [call for at, call in enumerate(kept) if at not in gone]


def fits(calls: Iterable[SkillCall], thing: str, kinds: ObjectCatalogue, role: str = THING) -> bool:
    """Return whether things of a class can be what calls over roles are done with, in one of the roles."""
    state, one = WorldState(kinds), Thing(thing, thing)
    return all(
        fits_kind(SKILLS[call.skill], argument.name, one, state)
        for call in calls
        for argument, text in zip(SKILLS[call.skill].arguments, call.arguments)
        if text == role
    )


def in_words(
    way: Lesson,
    instruction: str,
    kinds: ObjectCatalogue,
    called: Callable[[str], str] = lambda _: "",
    repairs: Iterable[Lesson] = (),
) -> str:
    """Return a way in words for another instruction: with the thing that this one names, and at "the place asked for"
    where it names one that serves, since there nobody has tried it; what cannot be done with a thing is told of the one
    that it was done with. Where nobody has tried the way with the thing yet, that is said. called: what a thing of a
    class is called, "" where there is none; words of several meanings mean such a one first. repairs: what makes calls
    work; what the things of other classes alone need is left out.
    """
    readings = kinds.spoken_names.named_in(instruction)
    named = [next(filter(called, classes), classes[0]) for classes in readings]
    movable = set(kinds.able(Property.PICKUPABLE)) | way.object_classes
    fitting = [name for name in named if fits(calls_of(way), name, kinds)]
    thing = next((name for name in fitting if name in movable), fitting[0] if fitting else "")
    # What the way does at a place of its own is not where the thing ends.
    own = {text for call in calls_of(way) for text in call.arguments}
    others = (name for name in named if name != thing and name not in own)
    is_placed = any(fits(calls_of(way), name, kinds, PLACE) for name in others)
    itself = next(iter(sorted(way.object_classes)), THING) if named else THING
    roles = {THING: thing or itself, PLACE: f"{PLACE} asked for" if is_placed else PLACE}
    calls = [call.renamed(roles) for call in _needed_by(way, thing, repairs)]
    names = {text: called(text) or text for call in calls for text in call.arguments}
    shown_with = sorted(way.object_classes - {thing})
    here = f"; not tried with {thing}" if thing and thing not in way.object_classes else ""
    shown = f" (done so with {', '.join(shown_with)}{here})" if shown_with else ""
    return f"To {way.situation}{shown}: {' -> '.join(str(call.renamed(names)) for call in calls)}"


def _needed_by(way: Lesson, thing: str, repairs: Iterable[Lesson]) -> tuple[SkillCall, ...]:
    """Return the calls of a way without those that only things of other classes need, whatever the place."""
    calls = calls_of(way)
    if not thing or thing in way.object_classes:
        return calls
    needs: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    for repair in repairs:
        needs[repair.is_needed_with(thing)] |= {(before.skill, before.thing_class) for before in repair.before}
    needless = needs[False] - needs[True]
    return tuple(call for call in calls if (call.skill, *call.arguments[:1]) not in needless)


def is_followed(way: Lesson, done: Sequence[SkillCall]) -> bool:
    """Return whether calls over classes hold the steps of a way in their order, with the same things in each role."""
    calls, classes = calls_of(way), {name for call in done for name in call.arguments}
    return any(
        _is_within([call.renamed({THING: thing, PLACE: place}) for call in calls], done)
        for thing in classes
        for place in classes
    )


def _is_within(calls: Iterable[SkillCall], done: Iterable[SkillCall]) -> bool:
    rest = iter(done)
    return all(call in rest for call in calls)


def _call(text: str) -> SkillCall | None:
    match = _CALL.fullmatch(text.strip())
    if match is None or match[1] not in SKILLS:
        return None
    return SkillCall(match[1], tuple(part.strip() for part in match[2].split(",") if part.strip()))
