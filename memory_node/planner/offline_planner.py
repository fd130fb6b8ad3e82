"""The planner that needs no language model: instruction -> goals -> searched skills, with memory at each step."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import STATE_CALLED, believed
from memory_node.knowledge.text import sentences
from memory_node.knowledge.told.explaining import explanation_of, in_known_words
from memory_node.knowledge.told.fact import Relation
from memory_node.knowledge.told.forms import ASKS, TellingReader
from memory_node.planner.goal import Goal, GoalHistory, Mention
from memory_node.planner.goal_execution import GoalRun
from memory_node.planner.memory_lookup import Answers, MemoryLookup
from memory_node.planner.plan_execution import Hopeless, Setback, Steps
from memory_node.planner.planner import (
    PlannedStep,
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
    because,
    relayed,
)
from memory_node.planner.reading.command import Command
from memory_node.planner.reading.commands import is_fragment
from memory_node.planner.reading.conversation import Conversation, Pending, Question
from memory_node.planner.reading.described import PlainWords
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.named_things import NamedThings, with_speaker
from memory_node.planner.reading.plain_reader import PlainReader, references_of
from memory_node.planner.reading.references import UnreadableError
from memory_node.planner.reading.resumption import goals_then
from memory_node.planner.reading.understanding import Understander, Understanding
from memory_node.planner.reading.unseen import question_about_person
from memory_node.planner.told_limits import FORBIDS, ToldLimits, Verdict

_ANYWAY = re.compile(r"(?P<what>.+?),? (?:anyway|all the same|nevertheless|nonetheless)", re.I | re.S)
_IT = re.compile(r"(?:please |just )*(?:do (?:it|that)|go ahead(?: with (?:it|that))?)", re.I)
# An answer to "Where shall I put it?": what is said of the place holds from now on, too.
_BELONGS = re.compile(r"(?:it|they) (?:(?P<kept>belongs?|lives?)|goes|go) (?=(?:in|on)\b)", re.I)
# "Don't bring me the apple" is of now; what is said of always, or of all of a kind, is a ban.
_NOT_NOW = re.compile(
    r"(?:please )?(?:do not|don[’']?t|you (?:do not|don[’']?t) (?:have|need) to|no need to) "
    r"(?!.*\b(?:never|ever|any ?more|any|again|always|use|touch|let)\b)(?:.* )?(?:the|my|that|this|it|them)\b.*",
    re.I | re.S,
)
_NOTHING_TO_DO = frozenset({GoalKind.STOP, GoalKind.WAIT})
_FRESH_NS = 600 * 10**9  # a state that was seen so lately need not be looked at
SPOKEN = _NOTHING_TO_DO | {GoalKind.TELL}  # goals that move nothing


class OfflinePlanner:
    """Understands instructions and carries them out with searched plans.

    max_failures: how many skills may fail within one goal before it is given up.
    """

    def __init__(self, understander: Understander, kinds: ObjectCatalogue, max_failures: int = 10) -> None:
        if max_failures < 1:
            raise InvalidValueError(f"max_failures: expected at least 1, got {max_failures}")
        self._understander = understander
        self._kinds = kinds
        self._max_failures = max_failures
        self._plain_reader = PlainReader(kinds)
        self._telling_reader = TellingReader(kinds)

    def read(self, instruction: str, situation: PlanningContext) -> Understanding:
        """Return what an instruction asks for; the situation's conversation goes on with it."""
        if situation.goals:
            return Understanding(situation.goals, "goals")
        home = home_classes(situation, self._kinds)
        described = self._described(instruction, situation)
        if described is None:
            read = self._understood(PlainWords(instruction), home, situation)
        else:
            parts = [self._understood(part, home, situation) for part in described]
            read = next((one for one in parts if one.question is not None or one.refused), _together(parts))
        if situation.asks_for_person:
            question = question_about_person(read.goals, situation.conversation, home, self._kinds)
            if question is not None:
                return Understanding((), read.source, 0.0, question)
        return read

    def _described(self, instruction: str, situation: PlanningContext) -> list[PlainWords] | None:
        """Return an instruction in plain words; None where its own words do: nothing tells its things from others that
        memory could know them by, and nothing was said in passing of what it names."""
        said = situation.known.recalled.said if situation.known is not None else ()
        knows_looks = any(one.description for one in situation.memory.scene().objects)
        if situation.conversation.pending is not None or not (said or knows_looks):
            return None
        plain = self._understander.described(instruction, home_classes(situation, self._kinds), said)
        if not knows_looks:
            plain = [replace(part, looks={}, unclear=frozenset()) for part in plain]
        return plain if any(part.looks or part.renamed or part.occasion for part in plain) else None

    def _understood(self, part: PlainWords, home: HomeClasses, situation: PlanningContext) -> Understanding:
        """Return what a part of an instruction asks for. On an occasion that is what the robot did on it, where memory
        knows that, and else what was to be done."""
        if part.occasion and situation.known is not None:
            goals = goals_then(part.occasion, situation.known.recalled, situation.memory.scene())
            if goals:
                return Understanding(goals, "deeds", notes=(f"I do it as when you said: {part.occasion}",))
        recall = MemoryLookup(situation).recall_classes
        read = self._understander.understand(part.text, home, recall, situation.conversation)
        return _of_one_each(read, part.unclear, part.with_looks)

    def objection(self, instruction: str, goals: Sequence[Goal], situation: PlanningContext) -> str:
        """Return why goals that a language model reads in an instruction do not fit its words; "" where they do."""
        return self._understander.objection(instruction, goals, home_classes(situation, self._kinds))

    def is_command(self, text: str, situation: PlanningContext) -> bool:
        """Return whether a text asks for something by itself, whatever was said before."""
        return self._understander.is_command(text, home_classes(situation, self._kinds))

    def means_stop(self, text: str) -> bool:
        """Return whether a person says no more than that it is to stop, or to leave it."""
        goals = self._understander.understand(text, conversation=Conversation()).goals
        return bool(goals) and all(goal.kind is GoalKind.STOP for goal in goals)

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner. A question is an outcome without any step."""
        named = NamedThings.of(instruction, situation.memory.scene().objects, self._kinds)
        belongs = _BELONGS.match(named.text)
        named = replace(named, text=self._with_question(named.text, situation))
        named, insists = _insisted(named, situation.conversation)
        instruction, read = self._read_anyhow(named.text, situation)
        read = _of_one_each(read, named.several, named.with_ids)
        if read.refused:
            raise PlanningFailedError(read.refused)
        for note in read.notes:
            situation.note(note)
        if read.question is not None:
            return self._open(instruction, read, read.question, situation)
        ban = self._note_unread(instruction, read.goals, situation)
        for text in ban.notes if insists else ():
            situation.note(f"was told, and done all the same: {text}")
        if ban.question and not insists:
            situation.conversation.doubted = named
            return _forbidden(ban, situation)
        if read.answer:
            return self._answered(read.answer, situation)
        if belongs is not None and belongs["kept"] and belongs.group() not in instruction:
            self._keep_place(read.goals, belongs.string[belongs.end() :].strip(" .!"), situation)
        report = f"{len(read.goals)} goal(s), read by {read.source}"
        situation.report(PlanProgress(ProgressKind.PLAN, report, tuple(map(str, read.goals))))
        situation.conversation.doubted = named
        outcome = yield from self.achieve(read.goals, situation, insists)
        if not outcome.question:
            situation.conversation.doubted = None
        return outcome

    def _open(
        self, instruction: str, read: Understanding, question: Question, situation: PlanningContext
    ) -> PlanOutcome:
        """Ask what an instruction leaves open, unless it asks for what is forbidden, asks what memory can answer, or
        tells what is to be kept."""
        verdict = situation.limits.of_goals(read.goals) if situation.limits is not None else Verdict()
        if verdict.question:  # wherever it would go
            situation.conversation.pending = None
            return _forbidden(verdict, situation)
        if answer := _known_answer(instruction, situation):
            situation.conversation.pending = None
            return self._answered(answer, situation)
        if question.is_what_to_do and _NOT_NOW.fullmatch(instruction):
            return self._answered("All right, I leave that for now. Say 'never' if it is to hold.", situation)
        if question.is_what_to_do and situation.known is not None and self._tells(instruction):
            return self._answered(situation.known.tell(instruction), situation)
        for text in situation.limits.told_of_people(instruction) if situation.limits is not None else ():
            situation.note(f"was told: {text}")
        return asked(question, situation)

    def _keep_place(self, goals: Sequence[Goal], where: str, situation: PlanningContext) -> None:
        """Keep as a fact where the things of goals are told to belong, in the words that told it; where the place is
        called so by nobody else, by its usual name."""
        known = situation.known
        if known is None:
            return
        for goal in goals:
            if goal.destination is not None and goal.destination.candidates:
                thing, place = (self._kinds[one.object_class].best_name for one in (goal.target, goal.destination))
                told = f"The {thing} belongs {where}."
                usual = f"The {thing} belongs {where.partition(' ')[0]} the {place}."
                situation.note(known.tell(told if self._tells(told) else usual))

    def _read_anyhow(self, text: str, situation: PlanningContext, most_likened: int = 3) -> tuple[str, Understanding]:
        """Return what an instruction asks for, and the words in which it was understood: verbs in those by which they
        were explained; where nothing else is understood, what was done with a thing that it likens another one to."""
        known = situation.known
        explained = explanation_of(text)
        is_told = (explained is not None and not explained.is_order) or self._lifts(text, situation)
        if known is not None and is_told:
            return text, Understanding(source="told", answer=known.tell(text))
        if known is not None and explained is not None:
            known.tell(text)
        text = explained.order if explained is not None else _in_known_words(text, situation)
        read = self._plainly(text, situation) or self.read(text, situation)
        if known is None or read.question is None or not (read.question.is_what_to_do and most_likened):
            return text, read
        like = self._understander.likened(text, home_classes(situation, self._kinds), known.recalled)
        if like is None:
            return text, read
        if not like.order:
            lost = f"I do not remember what I did with {like.pattern}. What shall I do with {like.thing}?"
            return text, replace(read, question=Question(lost))
        situation.note(f"I take it that you mean: {like.order}.")
        return self._read_anyhow(like.order, situation, most_likened - 1)

    def _lifts(self, text: str, situation: PlanningContext) -> bool:
        """Return whether a sentence only takes back what was told and forbids something now: "the knife may go into the
        sink"."""
        current = situation.limits.now() if situation.limits is not None else None
        facts = self._telling_reader.read(text, told_ns=1).facts if current is not None else ()
        if current is None or not facts or any(fact.holds or fact.relation not in FORBIDS for fact in facts):
            return False
        return any(fact.replaces(earlier) for fact in facts for earlier in current.current)

    def _tells(self, text: str) -> bool:
        """Return whether each sentence is read whole as a fact that binds; how somebody is ("I'm cold") is a hint."""
        read = [self._telling_reader.read(sentence, told_ns=1).facts for sentence in sentences(text)]
        facts = [fact for found in read for fact in found]
        return all(read) and not any(fact.is_part or fact.relation is Relation.IS for fact in facts)

    def _answered(self, text: str, situation: PlanningContext) -> PlanOutcome:
        self._tell(text, situation)
        return PlanOutcome((str(GoalKind.TELL),), (True,), answer=text)

    def _tell(self, text: str, situation: PlanningContext) -> None:
        """Tell an answer; its things have been spoken of then."""
        situation.report(PlanProgress(ProgressKind.ANSWER, text))
        self._understander.answered(text, home_classes(situation, self._kinds), situation.conversation)

    def _note_unread(self, instruction: str, goals: Sequence[Goal], situation: PlanningContext) -> Verdict:
        """Tell of what was told of an instruction's things and persons, and of the appliances that it takes, and no
        form reads: nothing holds to it. Return what is to be asked where it sounds like a ban."""
        if situation.limits is None:
            return Verdict()
        treatments = [self._kinds.meant_treatment(goal.kind, goal.treatment) for goal in goals]
        used = [self._kinds[name].names for one in treatments if one is not None for name in one.at]
        about = ". ".join((instruction, *(name for names in used for name in names)))
        # What is told just now has been answered already.
        told = [one for one in situation.told(about) if one.strip(" .!").lower() not in instruction.lower()]
        told = [one for one in told if explanation_of(one) is None]  # what a verb means has been used
        ban = situation.limits.unread_ban(goals, told)
        for text in situation.limits.unread(told) if not ban.question else ():
            situation.note(f"was told, and left it at that: {text}")
        return ban

    def _plainly(self, instruction: str, situation: PlanningContext) -> Understanding | None:
        """Return what the plain reader makes of an instruction; None where it reads none of it."""
        if situation.goals or situation.known is None or situation.conversation.pending is not None:
            return None
        described = self._described(instruction, situation)
        if described is not None and not any(part.occasion for part in described):
            return None
        plain = self._plain_reader.read(instruction, situation.memory.scene(), situation.known)
        if plain is not None and situation.asks_for_person:
            # The reader of words asks, and its conversation takes the answer.
            home = home_classes(situation, self._kinds)
            if question_about_person(plain.goals, Conversation(), home, self._kinds) is not None:
                return None
        if plain is not None:
            home = home_classes(situation, self._kinds)
            self._understander.overheard(instruction, plain.goals, home, situation.conversation, plain.question)
            asked_about = plain.question.about if plain.question is not None else ""
            if asked_about and asked_about in instruction:
                before, _, behind = instruction.partition(asked_about)
                situation.conversation.asked = before, behind
        return plain

    def _with_question(self, said: str, situation: PlanningContext) -> str:
        """Return an instruction with the answer to what was asked about its words, maybe before a restart; what is no
        answer as it is."""
        waiting = situation.waiting
        conversation = situation.conversation
        if conversation.asked is not None or conversation.pending is not None or waiting:
            said = _BELONGS.sub("", said, count=1)
        if not is_fragment(said):
            conversation.asked = None
        elif waiting and conversation.is_new and self._plainly(waiting, situation) is None:
            self.read(waiting, situation)
        asked, conversation.asked = conversation.asked, None
        return f"{asked[0]}{said.strip(' .')}{asked[1]}" if asked is not None else said

    def achieve(self, goals: Sequence[Goal], situation: PlanningContext, insists: bool = False) -> PlanRun:
        """Yield the steps of goals that are understood already; a question where what was told forbids one of them.

        insists: the person wants it anyway; what was told holds until it is taken back, which the question says.
        """
        people = [one for one in situation.memory.scene().objects if one.class_name == self._kinds.recipient]
        goals = with_speaker(goals, [one for one in people if not one.removed])
        verdict = situation.limits.of_goals(goals) if situation.limits is not None else Verdict()
        is_barred = situation.limits is not None and bool(verdict.question) and not insists
        barred = _barred(goals, situation.limits) if situation.limits is not None and is_barred else {}
        if barred:
            return (yield from self._achieve_but(barred, goals, situation))
        for note in verdict.notes:
            situation.note(note)
        if verdict.question:
            return _forbidden(verdict, situation, insists)
        lookup, names = MemoryLookup(situation), tuple(map(str, goals))
        run, history = GoalRun(self._kinds, lookup, situation, self._max_failures), GoalHistory(goals, self._kinds)
        closed = verdict.closed or (frozenset(),) * len(goals)
        achieved: list[bool] = []
        left: set[int] = set()  # goals whose condition is not met
        found: dict[Goal, bool | None] = {}
        failures: list[str] = []
        is_final = True
        answers: list[str] = []
        for index, goal in enumerate(goals):
            if goal.kind is GoalKind.TELL:
                answers.append(self._told(goal, lookup, situation))
            if goal.kind in SPOKEN:
                achieved.append(True)
                continue
            if goal.condition is not None:
                holds = yield from self._found_out(goal.condition.asked, found, run, index, lookup, situation)
                if holds is None:
                    return self._unsure(goal.condition.asked, situation)
                if holds is not goal.condition.holds:
                    situation.note(f"{self._said(goal.condition.asked, holds)}, so I leave that.")
                    left.add(index)
                    achieved.append(True)
                    continue
            steps = run.achieve(goal, closed[index], goals[index + 1 :])
            error = yield from self._pursue(goal, _serving(goal, steps, index, lookup), situation)
            achieved.append(error is None)
            answers += [self._told(goal, lookup, situation)] if error is None and goal.asked else []
            if error is not None:
                failures.append(f"{_in_words(goal)}: {error}")
                is_final &= isinstance(error, Hopeless)
            history.watch(run.check())
        for index in (one for one in history.taken_back(run.check()) if one not in left):
            goal = goals[index]
            error = yield from self._pursue(
                goal, _serving(goal, run.achieve(goal, closed[index]), index, lookup), situation
            )
            achieved[index] = error is None
            failures += [f"{_in_words(goal)}: {error}"] if error is not None else []
        shutting = _numbered(run.shut_doors(), max(len(goals) - 1, 0), lookup)
        yield from because("it was opened on the way", shutting)
        return PlanOutcome(
            names,
            tuple(achieved),
            tuple(failures),
            answer=" ".join(answers),
            pursued=tuple(goals),
            is_final=is_final and bool(failures),
        )

    def _achieve_but(self, barred: Mapping[int, str], goals: Sequence[Goal], situation: PlanningContext) -> PlanRun:
        """Yield the steps of goals, and tell which ones are left because of what was told: these come last."""
        left = [(goals[index], told) for index, told in barred.items()]
        answers = [
            f'I left the {self._kinds[one.target.object_class].best_name}: I was told "{told}".' for one, told in left
        ]
        for text in answers:
            self._tell(text, situation)
        others = [goal for index, goal in enumerate(goals) if index not in barred]
        outcome = yield from self.achieve(others, situation)
        return replace(
            outcome,
            goals=(*outcome.goals, *(str(goal) for goal, _ in left)),
            achieved=(*outcome.achieved, *(False for _ in left)),
            failures=(*outcome.failures, *answers),
            answer=" ".join(filter(None, (*answers, outcome.answer))),
            is_final=outcome.is_final or not outcome.failures,
        )

    def _told(self, goal: Goal, lookup: MemoryLookup, situation: PlanningContext) -> str:
        """Tell what a goal asks, and return it."""
        text = Answers(self._kinds, lookup).to(goal).text
        self._tell(text, situation)
        return text

    def _found_out(
        self,
        asked_of: Goal,
        found: dict[Goal, bool | None],
        run: GoalRun,
        index: int,
        lookup: MemoryLookup,
        situation: PlanningContext,
    ) -> Generator[PlannedStep, SkillResult, bool | None]:
        """Return whether a thing is in the state of a question, as memory believes it or as a look there shows; None
        where neither tells. found: what was found out; what was done since changes nothing: "otherwise" is of how it
        was."""
        if asked_of in found:
            return found[asked_of]
        since_ns = situation.known.clock() - _FRESH_NS if situation.known is not None else 0
        so = _believed(asked_of, lookup, since_ns)
        if so is None:
            look = Goal(GoalKind.FIND, asked_of.target, text=asked_of.text)
            yield from self._pursue(look, _serving(look, run.achieve(look), index, lookup), situation)
            so = _believed(asked_of, lookup, since_ns)
        found[asked_of] = so
        return so

    def _unsure(self, asked_of: Goal, situation: PlanningContext) -> PlanOutcome:
        """Ask whether to do what waits for a condition of which nobody knows."""
        conversation = situation.conversation
        question = Question(f"I cannot tell whether {self._said(asked_of, True)}. Shall I do it?", confirms=True)
        waits = [one for one in conversation.last if isinstance(one, Command) and one.condition is not None]
        parts = tuple(replace(one, condition=None) for one in waits if one.condition is not None and one.condition[1])
        conversation.pending = Pending(question, parts, 0) if parts else None
        return asked(question, situation)

    def _said(self, asked_of: Goal, so: bool) -> str:
        name = self._kinds[asked_of.target.object_class].best_name
        return f"the {name} is {'' if so else 'not '}{asked_of.asked}"

    def _pursue(
        self, goal: Goal, steps: Steps, situation: PlanningContext
    ) -> Generator[PlannedStep, SkillResult, Exception | None]:
        """Yield the steps of one goal; return why it was given up, None where it was not."""
        try:
            yield from steps
        except (Setback, PlanningFailedError) as error:
            situation.conversation.discourse.take_back(goal, self._kinds)
            situation.note(f"gave up on {_in_words(goal)}: {error}")
            return error
        return None


def _in_words(goal: Goal) -> str:
    """Return a goal as it was asked for, else as the planner calls it."""
    return repr(goal.text) if goal.text else str(goal)


def _together(parts: Sequence[Understanding]) -> Understanding:
    """Return what the parts of an instruction ask for one after the other."""
    goals = tuple(goal for part in parts for goal in part.goals)
    return replace(parts[-1], goals=goals, notes=tuple(note for part in parts for note in part.notes))


def _of_one_each(
    read: Understanding, several: frozenset[str], meant: Callable[[Sequence[Goal]], tuple[Goal, ...]]
) -> Understanding:
    """Return a reading whose goals are about the things that are meant. several: classes of which two things are."""
    unclear = several & {one.object_class for goal in read.goals for one in goal.mentions}
    if unclear:
        question = Question(f"You speak of two things of the kind {min(unclear)}. Which one shall I take first?")
        return Understanding((), read.source, 0.0, question)
    return replace(read, goals=meant(read.goals))


def _insisted(said: NamedThings, conversation: Conversation) -> tuple[NamedThings, bool]:
    """Return an instruction without "anyway", and whether a person who says that knows of what may forbid it: "do it
    anyway" is the one that was asked about, with the things that were named in it."""
    doubted, conversation.doubted = conversation.doubted, None
    found = _ANYWAY.fullmatch(said.text.strip(" .!"))
    if found is None:
        return said, False
    if doubted is not None and _IT.fullmatch(found["what"]) is not None:
        return doubted, True
    return replace(said, text=found["what"]), True


def _in_known_words(text: str, situation: PlanningContext) -> str:
    """Return an instruction with the verbs that people explained as they explained them."""
    known = situation.known
    if known is None:
        return text
    for fact in known.recalled.facts:
        if fact.relation is Relation.MEANS and fact.true_at(known.clock()):
            plain = in_known_words(text, fact.subject.words, fact.object.words)
            if plain != text:
                situation.note(fact.text)
            text = plain
    return text


def _known_answer(text: str, situation: PlanningContext) -> str:
    """Return what memory answers to a question, "" where it knows nothing or the text is none."""
    if situation.known is None or situation.known.ask is None or not ASKS.match(text.strip()):
        return ""
    answer = situation.known.ask(text)
    return "" if answer.abstains else answer.text


def _barred(goals: Sequence[Goal], limits: ToldLimits) -> dict[int, str]:
    """Return by number the goals that what was told forbids, in its words; none where nothing else is to be done, or
    something else with their things, too."""
    verdicts = ((index, limits.of_goals([goal])) for index, goal in enumerate(goals))
    barred = {index: one.notes[0] for index, one in verdicts if one.question and one.notes}
    things = {name for index in barred for name in goals[index].target.candidates}
    others = [goal for index, goal in enumerate(goals) if index not in barred]
    is_apart = all(things.isdisjoint(one.candidates) for goal in others for one in goal.mentions)
    return barred if others and is_apart else {}


def _forbidden(verdict: Verdict, situation: PlanningContext, insists: bool = False) -> PlanOutcome:
    """Ask what to do instead of what was told not to be done; whom that names has been spoken of."""
    binding = situation.limits.now() if situation.limits is not None else None
    if binding is not None and not situation.conversation.discourse.named_now:
        situation.conversation.discourse.note_persons(binding.persons_in(verdict.question))
    told = next(iter(verdict.notes), "") if insists else ""
    lifted = f"I keep to it: {told}. If that is no longer so, say: Forget that {told[:1].lower()}{told[1:]}."
    return asked(Question(lifted if told else verdict.question), situation)


def asked(question: Question, situation: PlanningContext) -> PlanOutcome:
    """Ask the person, and return the outcome that waits for the answer."""
    situation.report(PlanProgress(ProgressKind.QUESTION, question.text, choices=question.choices))
    return PlanOutcome((), (), question=question.text, choices=question.choices)


def home_classes(situation: PlanningContext, kinds: ObjectCatalogue) -> HomeClasses:
    """Return the classes and rooms that the scene graph holds, and what the hand holds."""
    scene = situation.memory.scene()
    whole = {kinds.whole(found.class_name) for found in scene.objects if not found.removed}
    movable = frozenset(name for name in whole if kinds[name].pickupable)
    rooms = frozenset(room.name.lower() for room in scene.rooms)
    people = {}
    for one in sorted(
        scene.objects, key=lambda one: one.last_seen_ns
    ):  # where somebody was seen last is where they are
        name = str(one.attributes.get("name", ""))
        if one.class_name == kinds.recipient and name and not one.removed:
            people[name.lower()] = Mention(name, (kinds.recipient,), thing_id=one.id)
    things = [one for one in scene.objects if not one.removed]
    places = (scene.by_id.get(one.support_id) for one in things)
    supports = tuple((kinds.whole(one.class_name), at.class_name if at else "") for one, at in zip(things, places))
    fixtures = frozenset(whole - movable)

    def remembered(words: str) -> Mention | None:
        with contextlib.suppress(UnreadableError):
            return references_of(kinds, scene, situation.known).thing(words) if situation.known is not None else None
        return None

    return HomeClasses(movable, fixtures, rooms, situation.held_class, scene.surveyed, people, supports, remembered)


def _believed(asked_of: Goal, lookup: MemoryLookup, since_ns: int) -> bool | None:
    """Return whether the things of a question are in its state by what was seen since a stamp; None where that is not
    known of all alike. A state that sight has told of some thing is not that of a thing on which it saw none."""
    state, target = STATE_CALLED[asked_of.asked], asked_of.target
    sight = {belief.state for one in lookup.scene_now().objects for belief in one.states if not belief.source}
    silence = False if state in sight else True if state.contrary in sight else None
    found: set[bool | None] = set()
    for one in lookup.of_classes(target.candidates):
        if target.thing_id in ("", one.id):
            fresh = believed(belief for belief in one.states if belief.confirmed_ns >= since_ns)
            silent = one.last_seen_ns >= since_ns and {state, state.contrary}.isdisjoint(believed(one.states))
            told = True if state in fresh else False if state.contrary in fresh else None
            found.add(silence if told is None and silent else told)
    return found.pop() if len(found) == 1 else None


def _serving(goal: Goal, run: Steps, index: int, lookup: MemoryLookup) -> Steps:
    """Yield the steps with the goal that they serve and its number."""
    return because(f"it serves {goal}", _numbered(run, index, lookup))


def _numbered(run: Steps, index: int, lookup: MemoryLookup) -> Steps:
    """Yield the steps with the number of the goal that they serve."""

    def carry_out(step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
        result = yield replace(step, goal_index=index)
        lookup.note_step()
        return result

    return relayed(run, carry_out)
