"""Takes over the goals that a model says. Only the person's words can ask for something: each goal quotes them.

What a label, a fact or a document orders is in none of the person's words, so it becomes no goal, whatever a model
makes of it. A goal that fits the words badly is told back, and the model may overrule that with a reason. Goals that
hurt when they are wrong are taken over only where the words ask for them. Calls are made only where the goals permit
them: what is handled must be in a goal, a tool of one, or what one is done at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Skill
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.lessons.lesson import Lesson, LessonKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.permitted_skills import PlanAudit, licensed_skills
from memory_node.world.state import Thing

# Why goals do not fit the words of an instruction, "" where they do.
Objection = Callable[[Sequence[Goal], str], str]

_NEVER_OVERRULED = frozenset({GoalKind.BREAK, GoalKind.THROW})
_HURTFUL = _NEVER_OVERRULED | {GoalKind.SLICE, GoalKind.EMPTY, GoalKind.HEAT}
# Words that count of a quote for a goal whose things the person has not named.
_FULL_QUOTE = 3
_PRONOUN = re.compile(r"\b(it|them|that|this|those|these)\b", re.IGNORECASE)
_AWAY = re.compile(r"\b(away|out)\b", re.IGNORECASE)  # into the bin
_WORD = re.compile(r"[^\W_]+")
# A quote of these alone asks for nothing.
_EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are at be by can could do for from have i in into is it its me my of on or please so that the then"
        " this to up us we will with would you your",
    )
)
_ME = frozenset({"me", "i", "myself", "person", "the person", "user", "us"})


class GoalFaultError(RobotMemoryError):
    """A goal is not taken over; the message tells the model what to correct."""


@dataclass(frozen=True)
class GoalReader:
    """Reads goals by the tool's schema.

    said: all that the person has said in this dialogue. thing_called: the thing of a name, None for none. objection:
    the grammar's.
    """

    kinds: ObjectCatalogue
    said: Sequence[str]
    thing_called: Callable[[str], Thing | None]
    objection: Objection

    def read(self, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[Goal, ...], tuple[str, ...]]:
        """Return the goals that are taken over, and for each other row why not and what would make it acceptable."""
        goals, faults = [], []
        for number, row in enumerate(rows, 1):
            try:
                goals.append(self._goal(row))
            except GoalFaultError as error:
                faults.append(f"goal {number}: {error}")
        return tuple(goals), tuple(faults)

    def _goal(self, row: Mapping[str, Any]) -> Goal:
        words, reason = str(row["words"]), str(row.get("reason") or "")
        if not is_quoted(words, self.said):
            raise GoalFaultError(f"{words[:80]!r} is not what the person said; quote the instruction's own words")
        kind = GoalKind(row["kind"])
        target = self._mention(str(row["thing"]))
        place = self._mention(str(row["place"])) if row.get("place") else None
        container = self._mention(str(row["container"])) if row.get("container") else None
        if kind is GoalKind.THROW and (place is not None or (_AWAY.search(words) and self.kinds.bins)):
            kind, place = GoalKind.PLACE, place or Mention("the bin", self.kinds.bins)
        if kind is GoalKind.PLACE and place is None:
            raise GoalFaultError(f"place {target}: say the place")
        if container is not None:
            kind = GoalKind.STACK
        count = max(1, min(20, int(row.get("count") or 1)))
        kind = GoalKind.PLACE_TWO if kind is GoalKind.PLACE and count == 2 else kind
        goal = Goal(
            kind,
            target,
            place,
            container,
            sliced=bool(row.get("sliced")),
            count=count,
            every=bool(row.get("all")),
            text=words,
        )
        self._check_quote(words, goal)
        if kind in _HURTFUL:
            self._check_asked(goal, words, reason)
        elif not reason:
            self._check_named(goal, words)
        return goal

    def _check_quote(self, words: str, goal: Goal) -> None:
        """Raise where a short quote is all that speaks for a goal with things that the person has not named: who does
        not know the instruction may guess a word of it, but not several, nor a run of words as it stands."""
        text = next(one for one in self.said if _is_within(words_of(words), words_of(one)))
        if len(_content(words)) >= min(_FULL_QUOTE, len(_content(text))) or len(words_of(words)) > _FULL_QUOTE:
            return
        named = {self.kinds.recipient, *self._named_in(" ".join(self.said))}
        strange = [str(one) for one in goal.mentions if self._names_of(one).isdisjoint(named)]
        if strange:
            raise GoalFaultError(
                f"the person has not named {strange[0]}, and {words[:80]!r} may mean anything; quote all words that ask"
                " for it"
            )

    def _named_in(self, text: str) -> set[str]:
        return {name for names in self.kinds.spoken_names.named_in(text.lower()) for name in names}

    def _names_of(self, mention: Mention) -> set[str]:
        return {*mention.candidates, *map(self.kinds.whole, mention.candidates)}

    def _check_asked(self, goal: Goal, words: str, reason: str) -> None:
        """Raise where the words do not ask for a goal that hurts when it is wrong, and that is not overruled."""
        is_named = not self._named_in(words).isdisjoint(self._names_of(goal.target))
        why = self.objection((goal,), self._filled(goal, words))
        if not why or (reason and is_named and goal.kind not in _NEVER_OVERRULED):
            return
        remedy = "say it again with a reason" if is_named else f"quote words that name {goal.target}, and give a reason"
        only_asked = f"only words that ask to {goal.kind} it allow that"
        raise GoalFaultError(
            f"{goal} is not asked for: {why}; "
            + (only_asked if goal.kind in _NEVER_OVERRULED else f"if it is meant, {remedy}")
        )

    def _check_named(self, goal: Goal, words: str) -> None:
        """Raise where the words name other things than the goal."""
        things = {name for name in self._named_in(words) if self.kinds[name].pickupable}
        is_movable = any(self.kinds[name].pickupable for name in goal.target.candidates if name in self.kinds)
        meant = {name for one in goal.mentions for name in self._names_of(one)}
        is_meant = goal.sliced or not things.isdisjoint(meant) or self._is_spoken_of(goal, words)
        if things and is_movable and not is_meant:
            raise GoalFaultError(
                f"{words[:80]!r} names {', '.join(sorted(things)[:5])}, not {goal.target}; if it is meant, say the goal"
                " again with a reason"
            )

    def _said_in(self, words: str) -> int:
        """Return the index of the newest text of the person that holds a quote."""
        quote = words_of(words)
        return max((at for at, text in enumerate(self.said) if _is_within(quote, words_of(text))), default=0)

    def _is_spoken_of(self, goal: Goal, words: str) -> bool:
        """Return whether a goal's words may mean by "it" a thing that was named before."""
        before = self._named_in(" ".join(self.said[: self._said_in(words)]))
        return bool(_PRONOUN.search(words)) and not before.isdisjoint(self._names_of(goal.target))

    def _filled(self, goal: Goal, words: str) -> str:
        """Return the text that a goal quotes, with what was spoken of before by its name in place of "it"."""
        text, name = self.said[self._said_in(words)], f"the {goal.target.text.lower()}"
        return _PRONOUN.sub(name, text, count=1) if self._is_spoken_of(goal, words) else text

    def _mention(self, name: str) -> Mention:
        """Return what a name stands for.

        Raises:
            GoalFaultError: no thing and no class is called so.
        """
        name = name.strip()
        thing = self.thing_called(name)
        if thing is not None:
            return Mention(name, (thing.object_class,), thing_id=thing.memory_id)
        if name.lower() in _ME:
            return Mention(name, (self.kinds.recipient,))
        kind = self.kinds.find(name)
        candidates = (kind.name,) if kind is not None else self.kinds.spoken_names.classes(name.lower())
        if not candidates:
            raise GoalFaultError(
                f"{name[:60]!r} is neither a thing that is known nor a class; find shows what there is. Name what"
                " serves instead, with a reason"
            )
        return Mention(name, candidates)


def is_quoted(words: str, said: Sequence[str]) -> bool:
    """Return whether words stand in this order in what a person said, and are more than filling."""
    return bool(_content(words)) and any(_is_within(words_of(words), words_of(text)) for text in said)


def _content(text: str) -> list[str]:
    return [word for word in words_of(text) if word not in _EMPTY_WORDS]


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def _is_within(quote: Sequence[str], text: Sequence[str]) -> bool:
    rest = iter(text)
    return all(word in rest for word in quote)


# They move the robot alone.
_ONLY_REACH = frozenset({"Explore", "GoToObject"})
# Does a thing that is handled no harm, and is the means to many ends: a knife is washed before it cuts.
_GENTLE = frozenset({"CleanObject"})
_REMEDY = (
    "if the instruction asks for it, add a goal with set_goals that quotes its words; else a lesson must ask for it"
)


def refusal(
    skill: Skill,
    named: SkillCall,
    object_class: str,
    goals: Sequence[Goal],
    kinds: ObjectCatalogue,
    lessons: Callable[[], Sequence[Lesson]],
    made: Iterable[SkillCall] = (),
    is_in_way: bool = False,
) -> str:
    """Return why a call over names is not made, "" where it is permitted. object_class: of its first argument; lessons:
    tells what earlier tries taught, which permits what it says to do first; asked only where the goals do not; made:
    calls over names that the robot has made with success since it was told what to do, each of which may be undone;
    is_in_way: the thing may be taken away from where a goal needs room."""
    # In the dark nothing is found, and light harms nothing.
    is_light = object_class in kinds and kinds[object_class].can(Property.LIGHT)
    if skill.name in _ONLY_REACH or (skill.name == "SwitchOn" and is_light):
        return ""
    if not goals:
        return f"{named}: say the goals first, with set_goals"
    if any(one.arguments[:1] == named.arguments[:1] and _undoes(skill, SKILLS[one.skill]) for one in made):
        return ""
    licensed, why = licensed_skills(goals, kinds), ""
    if skill not in licensed and skill.name not in _GENTLE:
        why = f"{named}: no goal asks for {skill.name}; {_REMEDY}"
    elif not is_in_way and (objection := PlanAudit(tuple(goals), kinds).objection(named, object_class)):
        why = f"{objection}; {_REMEDY}"
    return "" if why and _is_taught(skill, object_class, licensed, lessons()) else why


def _is_taught(skill: Skill, object_class: str, licensed: Sequence[Skill], lessons: Sequence[Lesson]) -> bool:
    """Return whether the robot has learnt that a licensed skill works after this one with such a thing, or after one
    that this one undoes."""
    served = {one.name for one in licensed}
    taught = {skill.name, *(name for name, other in SKILLS.items() if _undoes(skill, other))}
    return any(
        one.skill in taught and one.thing_class == object_class
        for lesson in lessons
        if lesson.kind is LessonKind.REPAIR and lesson.skill in served
        for one in lesson.before
    )


def _undoes(skill: Skill, other: Skill) -> bool:
    """Return whether a skill ends what another one brings about, and the other way round: they open and close."""
    undone = {(fact.state, not fact.value) for fact in other.effects if fact.state is not None}
    return bool(undone) and undone == {(fact.state, fact.value) for fact in skill.effects if fact.state is not None}
