"""The agent loop: ask the model, do its calls one by one until one fails, tell the results, until it ends."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_declaration import Predicate, Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.expectations import WRITER as TRIES
from memory_node.lessons.lesson import Lesson
from memory_node.llm.chat import Tool, ToolCall
from memory_node.llm.errors import LlmError, RejectedReplyError
from memory_node.planner.agent.dialogue import AgentDialogue
from memory_node.planner.agent.home_names import HomeNames
from memory_node.planner.agent.model_goals import GoalFaultError, GoalReader, Objection, is_quoted, words_of
from memory_node.planner.agent.permission import refusal
from memory_node.planner.agent.services import Services, quoted, shortened
from memory_node.planner.agent.task import Task, remedy_of
from memory_node.planner.agent.tools import MOST_CALLS_A_REPLY, faults_of
from memory_node.planner.goal import Goal
from memory_node.planner.loop_guard import LoopGuard
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.picture_source import PictureSource
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, ProgressKind
from memory_node.questions.going_on import going_on
from memory_node.world.skills import Unmet, unmet
from memory_node.world.state import Thing

_MOST_NEWS, _MOST_SEEN = 12, 24
# Looks of an instruction that come with pictures: each is some hundred to a thousand tokens.
_MOST_LOOKS = 10
# Times that the same question to memory is answered; its answer stands in the dialogue.
_MOST_ASKED = 2
# Times that goals said anew, and words for the person, count as progress.
_MOST_TOLD = 3
# Goals that nothing in the home shows afterwards, and the skills of which one must have succeeded.
_LEAVES_NO_TRACE = {
    GoalKind.THROW: frozenset({"ThrowObject"}),
    GoalKind.BREAK: frozenset({"BreakObject", "ThrowObject"}),
    GoalKind.FIND: frozenset({"GoToObject", "Explore", "PickupObject"}),
    GoalKind.GO: frozenset({"GoToObject"}),
}
_NO_TOOL = "You called no tool. Call one; end with done or impossible."


@dataclass(frozen=True)
class CallResult:
    """What came of a tool's call. text: for the model. ok: the next call of the reply may be made. new: it moved the
    robot or told something new. ending: the instruction ends."""

    text: str
    ok: bool = True
    new: bool = True
    ending: PlanOutcome | None = None


CallRun = Generator[PlannedStep, SkillResult, CallResult]
Steps = Generator[PlannedStep, SkillResult, PlanOutcome]


class AgentRun:
    """One instruction's dialogue. It ends with an outcome; one that asks the person goes on with `answered`.

    said: what the person said, the instruction last. objection: of the grammar, against goals. camera: whose picture a
    look shows; None shows none. begun: whether the robot has done anything.
    """

    def __init__(
        self,
        task: Task,
        dialogue: AgentDialogue,
        tools: Sequence[Tool],
        names: HomeNames,
        said: Sequence[str],
        objection: Objection,
        context_id: str = "",
        camera: PictureSource | None = None,
    ) -> None:
        self.begun = False
        self._camera = camera
        self._task = task
        self._dialogue = dialogue
        self._tools = {tool.name: tool for tool in tools}
        self._names = names
        self._said = list(said)
        self._objection = objection
        self._context_id = context_id
        self._lookup = MemoryLookup(task.situation)
        self._services = Services(task.situation.memory, names, self._lookup)
        self._loop_guard = LoopGuard()
        self._asked: Counter[str] = Counter()
        self._located: set[str] = set()
        self._warned: set[SkillCall] = set()  # calls over names that the world speaks against
        self._told_unmet: tuple[str, ...] | None = None
        self._question: ToolCall | None = None
        self._is_stopped = False  # by the person's last answer
        self._guidance = ""  # what memory compiled last
        self._has_failed = False  # the last skill
        self._skills = 0
        self._succeeded: set[str] = set()
        self._idle = 0
        self._faulty = 0
        self._looks = 0  # that were shown

    # --- the loop

    def steps(self) -> Steps:
        """Yield the steps; return the outcome.

        Raises:
            LlmError: the model said nothing that can be used, and nothing was done.
        """
        while True:
            limit = self._limit()
            if limit:
                return self._ended(limit)
            self._tell_guidance()
            try:
                turn = self._dialogue.ask(self._task.config.timeout_s)
                self._faulty = 0
            except RejectedReplyError as error:
                self._faulty += 1
                if self._faulty > self._task.config.max_repairs:
                    return self._broken_off(error)
                continue
            except LlmError as error:
                return self._broken_off(error)
            if turn.words and turn.calls:
                self._note(ProgressKind.PLAN, turn.words)
            outcome = yield from self._turn(turn.calls, turn.words)
            if outcome is not None:
                return outcome

    def is_answered_by(self, text: str) -> bool:
        """Return whether a text takes up a choice that the question gave."""
        said = set(words_of(text))
        choices = self._question.arguments.get("choices") or () if self._question is not None else ()
        return any(words and said.issuperset(words) for words in map(words_of, map(str, choices)))

    def answered(self, text: str, situation: PlanningContext, stops: bool) -> None:
        """Go on: the person has answered the question. stops: by no more than that it is to stop; then the goals end,
        and what was said before asks for nothing any more."""
        self._task = replace(self._task, situation=situation)
        self._said = [text] if stops else [*self._said, text]
        self._is_stopped = stops
        if stops:
            self.take_goals(())
        self._lookup = MemoryLookup(situation)
        self._services = Services(situation.memory, self._names, self._lookup)
        self._task.refresh()
        if self._question is not None:
            self._dialogue.tell(self._question, f"the person says: {text}")
            self._question = None

    def _tell_guidance(self) -> None:
        """Tell what memory has learnt of the next step; what was told before is not told again. A next step that no
        lesson calls for is the model's own choice, as is a search. After a failure only what tries teach is told, and
        what not to do again: a way goes on as if the step had worked."""
        guide = self._task.situation.guide
        if guide is None or not self._task.goals or not self._task.judged().unmet:
            return
        names = {thing.call_name: name for name, thing in self._task.world.things.items()}
        compiled = guide(None, self._goal_index(), names)
        guidance = compiled.guidance if compiled is not None else None
        if compiled is None or guidance is None or guidance.text == self._guidance:
            return
        taught = [one for one in guidance.entries if not self._has_failed or one.partition("|")[0] == TRIES]
        if not (taught or guidance.avoid) or guidance.goal.skill == "Explore":
            return
        self._guidance = guidance.text
        self._dialogue.say(f"Memory: {guidance.text}")

    def _turn(self, calls: Sequence[ToolCall], words: str) -> Generator[PlannedStep, SkillResult, PlanOutcome | None]:
        if not calls and "?" in self._said[-1] and not self._task.goals and not self.begun:
            return self._answer(words)
        if not calls:
            self._idle += 1
            self._dialogue.say(_NO_TOOL)
            return None
        stop, is_new = "", False
        most = MOST_CALLS_A_REPLY if self._task.config.mode == "agent" else self._task.config.max_steps
        for number, call in enumerate(calls):
            if number >= most and not stop:
                stop = f"at most {most} calls in a reply"
            if stop:
                self._dialogue.tell(call, f"not done: {stop}")
                continue
            done = yield from self._do(call)
            if done.ending is not None:
                if not done.ending.question:
                    self._dialogue.tell(call, done.text)
                for left in calls[number + 1 :]:
                    self._dialogue.tell(left, "not done")
                return done.ending
            self._dialogue.tell(call, done.text)
            is_new = is_new or done.new
            stop = "" if done.ok else "the call before failed"
        self._idle = 0 if is_new else self._idle + 1
        return None

    def _limit(self) -> str:
        """Return which limit is reached, "" for none."""
        config, account = self._task.config, self._task.account
        if account.tokens_in + account.tokens_out >= config.max_tokens_per_instruction:
            return f"the limit of {config.max_tokens_per_instruction} tokens an instruction is reached"
        if config.max_usd_per_instruction and account.cost_usd(config) >= config.max_usd_per_instruction:
            return f"the limit of {config.max_usd_per_instruction:g} USD an instruction is reached"
        if account.seconds >= config.max_model_s_per_instruction:
            return f"the limit of {config.max_model_s_per_instruction:g} s of the model an instruction is reached"
        if self._skills >= config.max_steps:
            return f"not finished within {config.max_steps} skills"
        if config.mode == "plan" and account.replies > config.max_replans:
            return f"no plan of {account.replies} was carried out to its end"
        if self._idle >= config.max_idle_replies:
            return f"the model made no progress in {self._idle} replies"
        return ""

    def _broken_off(self, error: LlmError) -> PlanOutcome:
        """End with what was reached.

        Raises:
            LlmError: nothing was.
        """
        if not self.begun:
            raise error
        return self._ended(f"the language model failed: {error}")

    def _ended(self, why: str) -> PlanOutcome:
        """Return the outcome of a run that did not come to its end: goals that are met count."""
        goals = self._task.goals
        if not goals:
            return PlanOutcome((self._task.instruction,), (False,), (why,), planner="llm", is_final=True)
        reasons = self._reasons()
        unmet_goals = [f"{goal}: {reason}" for goal, reason in zip(goals, reasons) if reason]
        failures = (*unmet_goals, why) if unmet_goals else ()
        achieved = tuple(not reason for reason in reasons)
        names = tuple(map(str, goals))
        return PlanOutcome(names, achieved, failures, planner="llm", pursued=goals, is_final=True)

    def _reasons(self) -> tuple[str, ...]:
        """Return for each goal what of it is not so, "" for one that is met. Of some deeds the home keeps no trace."""
        untold = (_LEAVES_NO_TRACE.get(goal.kind, frozenset[str]()) for goal in self._task.goals)
        return tuple(
            reason or ("" if not skills or skills & self._succeeded else f"{goal}: not done")
            for goal, reason, skills in zip(self._task.goals, self._task.judged().reasons, untold)
        )

    def _note(self, kind: ProgressKind, text: str, choices: tuple[str, ...] = ()) -> None:
        self._task.situation.report(PlanProgress(kind, text, choices=choices))

    # --- calls

    def _do(self, call: ToolCall) -> CallRun:
        tool = self._tools.get(call.name)
        if tool is None:
            return CallResult(f"there is no tool {call.name[:40]!r}; there are: {', '.join(self._tools)}", False, False)
        faults = faults_of(tool, call.arguments)
        if faults:
            return CallResult(f"not done: {faults}", False, False)
        skill = SKILLS.get(call.name)
        if skill is not None:
            return (yield from self._skill(skill, call.arguments))
        if call.name == "look_at":
            return (yield from self._look_at(str(call.arguments["thing"])))
        others: dict[str, Callable[[ToolCall], CallResult]] = {
            "set_goals": self._set_goals,
            "ask_person": self._ask_person,
            "tell_person": self._tell_person,
            "remember": self._remember,
            "done": self._done,
            "impossible": self._impossible,
        }
        return others.get(call.name, self._ask_memory)(call)

    def _ask_memory(self, call: ToolCall) -> CallResult:
        key = f"{call.name} {sorted(call.arguments.items())} {hash(self._task.world.unmoved)}"
        self._asked[key] += 1
        if self._asked[key] > _MOST_ASKED:
            return CallResult("you have asked this already, and nothing has changed; see above", new=False)
        argument = str(next(iter(call.arguments.values())))
        ask = {
            "find": lambda: self._services.find(self._task, argument),
            "locate": lambda: self._services.locate(self._task, argument),
            "ask_memory": lambda: self._services.ask(argument),
            "recall_past": lambda: self._services.recall_past(self._task, argument),
        }[call.name]
        return CallResult(ask(), new=self._asked[key] == 1)

    def _set_goals(self, call: ToolCall) -> CallResult:
        def thing_called(name: str) -> Thing | None:
            return self._names.meant(name).thing

        reader = GoalReader(self._task.world.kinds, self._said, thing_called, self._objection)
        try:
            goals = reader.read(call.arguments["goals"])
        except GoalFaultError as error:
            return CallResult(f"not taken over: {error}", False, False)
        self.take_goals(goals)
        names = tuple(map(str, goals))
        self._task.situation.report(PlanProgress(ProgressKind.PLAN, f"{len(goals)} goal(s)", names))
        unknown = self._names.not_known(goals)
        self._asked["set_goals"] += 1
        is_new = self._asked["set_goals"] <= _MOST_TOLD
        said = ["taken over", *self._bound(goals)]
        said += [f"not known: {'; '.join(unknown)}"] if unknown else []
        return CallResult("\n".join(said), new=is_new)

    def _bound(self, goals: Sequence[Goal]) -> list[str]:
        """Return what people told that speaks against goals or bears on how they are reached."""
        limits = self._task.situation.limits
        if limits is None:
            return []
        verdict = limits.of_goals(goals)
        for note in verdict.notes:
            self._note(ProgressKind.NOTE, note)
        return [
            f"told, and it binds: {quoted(one)}" for one in dict.fromkeys((verdict.question, *verdict.notes)) if one
        ]

    def _remember(self, call: ToolCall) -> CallResult:
        words, known = str(call.arguments["words"]), self._task.situation.known
        if known is None or not is_quoted(words, self._said):
            return CallResult("not done: the person has not said this", False, False)
        became = known.tell(words)
        self._asked["remember"] += 1
        self._note(ProgressKind.NOTE, became)
        return CallResult(became)

    def take_goals(self, goals: Sequence[Goal]) -> None:
        """Pursue goals from now on."""
        self._task = replace(self._task, goals=tuple(goals))
        self._told_unmet = None
        kinds = self._task.world.kinds
        cut = (name for goal in goals if goal.sliced or goal.kind is GoalKind.SLICE for name in goal.target.candidates)
        self._names.read([one.candidates for goal in goals for one in goal.mentions])
        self._names.widen(filter(None, (kinds[name].slices for name in cut if name in kinds)))
        self._task.refresh()
        self._task.watch()

    def _ask_person(self, call: ToolCall) -> CallResult:
        question = " ".join(str(call.arguments["question"]).split())
        choices = tuple(str(one) for one in call.arguments.get("choices") or ())
        self._question = call
        self._note(ProgressKind.QUESTION, question, choices)
        return CallResult("", ending=PlanOutcome((), (), question=question, choices=choices, planner="llm"))

    def _tell_person(self, call: ToolCall) -> CallResult:
        text = " ".join(str(call.arguments["text"]).split())
        self._asked["tell_person"] += 1
        self._note(ProgressKind.NOTE, text)
        return CallResult("told", new=self._asked["tell_person"] <= _MOST_TOLD)

    def _done(self, call: ToolCall) -> CallResult:
        summary = " ".join(str(call.arguments["summary"]).split())
        goals = self._task.goals
        if not goals and self._is_stopped:
            return CallResult("", ending=self._answer(summary))
        if not goals and self.begun:
            return CallResult("say the goals first, so that they can be checked", False, False)
        is_command = "?" not in self._said[-1] and not going_on(self._said[-1])
        if not goals and not self._asked["remember"] and is_command and self._told_unmet is None:
            self._told_unmet = ()
            return CallResult(
                "no goal was said: say what is asked for, or call done again if it is only an answer", False
            )
        if not goals:
            return CallResult("", ending=self._answer(summary))
        unmet_goals = tuple(filter(None, self._reasons()))
        if unmet_goals and unmet_goals != self._told_unmet:
            self._told_unmet = unmet_goals
            self._task.account.replans += 1
            text = f"memory holds that this is not so: {'; '.join(unmet_goals)}. Go on, or say impossible and why."
            return CallResult(text, False)
        self._note(ProgressKind.ANSWER, summary)
        outcome = self._ended("the model holds that it is done")
        return CallResult("", ending=replace(outcome, answer=summary))

    def _answer(self, words: str) -> PlanOutcome:
        """End a question: nothing was to be done."""
        text = " ".join(words.split())
        self._note(ProgressKind.ANSWER, text)
        return PlanOutcome((self._said[-1],), (True,), planner="llm", answer=text)

    def _impossible(self, call: ToolCall) -> CallResult:
        why = " ".join(str(call.arguments["reason"]).split())
        if not self._task.goals and self._is_stopped:
            return CallResult("", ending=self._answer(why))
        self._note(ProgressKind.NOTE, f"not possible: {why}")
        outcome = self._ended(why)
        if outcome.success:  # memory holds that all is met, and the model that it cannot be
            outcome = replace(outcome, achieved=(False,) * len(outcome.goals), failures=(why,))
        return CallResult("", ending=outcome)

    # --- skills

    def _look_at(self, name: str) -> CallRun:
        done = yield from self._skill(SKILLS["GoToObject"], {"object": name})
        meant = self._names.meant(name)
        if not done.ok or meant.thing is None:
            return done
        state, thing = self._task.world.state, meant.thing
        shown = [one for one in state if thing.id in (one.id, *(outer.id for _, outer in state.around(one.id)))]
        names = {one.id for one in shown}
        lines = [one for one in self._names.lines(self._task.situation.scene()) if one.partition(":")[0] in names]
        self._show(thing)
        return CallResult("\n".join(shortened(lines, _MOST_SEEN, "find tells of one by its name")), new=done.new)

    def _show(self, thing: Thing) -> None:
        """Show what the camera sees now, where the model takes pictures; a look without one is told in words alone."""
        known = self._task.situation.known
        if self._camera is None or self._looks >= _MOST_LOOKS:
            return
        try:
            picture = self._camera.newest(known.clock() if known is not None else 0)
        except InputSkippedError as error:
            self._note(ProgressKind.NOTE, f"{thing.id} was looked at without a picture: {error}")
            return
        if picture is None:
            return
        self._looks += 1
        pictures = tuple(filter(None, (picture.coded, picture.closer)))
        behind = ", then its middle closer" if picture.closer else ""
        self._dialogue.show(f"What the robot's camera sees at {thing.id}: the whole picture{behind}.", pictures)

    def _skill(self, skill: Skill, arguments: Mapping[str, Any]) -> CallRun:
        if skill.name == "Explore":
            return (yield from self._explore(str(arguments["target_class"]), arguments.get("areas") or ()))
        things: list[Thing] = []
        for value in itertools.takewhile(bool, (arguments.get(one.name) for one in skill.arguments)):
            thing, why = self._thing(str(value))
            if thing is None:
                return CallResult(why, False)
            things.append(thing)
        if skill.composite and len(things) == len(skill.named_arguments) < len(skill.arguments):
            things += self._usual_place(skill)
        named = SkillCall(skill.name, tuple(thing.id for thing in things))
        goals, kinds = self._task.goals, self._task.world.kinds
        why = refusal(skill, named, things[0].object_class, goals, kinds, self._lessons) or self._repeated(named)
        if why and skill.name == "GoToObject" and self._task.world.state.at == things[0].id:
            return CallResult(f"{named}: the robot stands there", new=False)
        if why:
            return CallResult(f"not done: {why}", False, False)
        broken = unmet(skill, self._task.world.state, named)
        far = [one for one in broken if one.fact.predicate is Predicate.NEAR]
        others = [one for one in broken if one.fact.predicate is not Predicate.NEAR]
        if others and named not in self._warned:
            self._warned.add(named)
            return CallResult(_warning(others), False)
        # Where a skill is done at a place that the call names, the robot drives there, too.
        at_place = [] if skill.composite or len(things) <= len(skill.named_arguments) else [things[-1]]
        places = [one.things[0] for one in far] + at_place
        if places:
            gone = yield from self._go(places[0])
            if not gone.ok:
                return gone
        done = yield from self._made(named, things)
        if done.ok or places or "too_far" not in done.text or skill.name == "GoToObject":
            return done
        gone = yield from self._go(things[-1])
        return (yield from self._made(named, things)) if gone.ok else gone

    def _go(self, thing: Thing) -> CallRun:
        return (yield from self._made(SkillCall("GoToObject", (thing.id,)), [thing]))

    def _explore(self, name: str, areas: Sequence[str]) -> CallRun:
        object_class = self._names.class_called(name) or "".join(one for one in name if one.isalnum())[:40]
        if not object_class:
            return CallResult(f"{quoted(name, 60)} is no class", False, False)
        self._names.widen((object_class,))
        named = SkillCall("Explore", (object_class, *map(str, areas)))
        why = self._repeated(named)
        if why:
            return CallResult(f"not done: {why}", False, False)
        self._lookup.locate(object_class)
        scene = self._task.situation.scene()
        places = {area: self._names.place_called(area, scene) for area in map(str, areas)}
        strange = [area for area, found in places.items() if not found]
        if strange:
            return CallResult(
                f"not done: no area is called {quoted(strange[0], 60)}; there are {self._names.areas(scene)}", False
            )
        likely = self._lookup.search_stops(object_class)
        # Within a room the likeliest areas come first.
        rank = {stop: number for number, stop in enumerate(likely)}
        asked = (sorted(found, key=lambda stop: rank.get(stop, len(rank))) for found in places.values())
        stops = tuple(dict.fromkeys(stop for found in asked for stop in found)) or likely
        return (yield from self._made(named, [], SkillCall("Explore", (object_class, *stops))))

    def _thing(self, name: str) -> tuple[Thing | None, str]:
        """Return the thing that a name means, or why there is none."""
        meant = self._names.meant(name)
        if meant.thing is None and not meant.several and meant.object_class:
            self._names.widen((meant.object_class,))
            self._task.refresh()
            meant = self._names.meant(name)
        if meant.thing is not None:
            return meant.thing, ""
        if meant.several:
            return None, f"not done: which one? there are {', '.join(meant.several[:10])}"
        likely = self._names.likely(meant.object_class) if meant.object_class else ""
        said = f"not done: no {quoted(name, 60)} is known"
        return None, f"{said}; Explore for it, likely at {likely}" if likely else f"{said}; find shows what there is"

    def _usual_place(self, skill: Skill) -> list[Thing]:
        """Return where a treatment is usually done, of what memory knows; nothing where no such place is known."""
        goal = GOAL_OF_SKILL.get(skill.name)
        treatment = self._task.world.kinds.usual_treatment(goal) if goal is not None else None
        known = self._task.world.things.values()
        usual = (one for name in (treatment.at if treatment else ()) for one in known if one.object_class == name)
        return list(usual)[:1]

    def _lessons(self) -> tuple[Lesson, ...]:
        """Return what earlier tries taught, as far as it holds now."""
        known = self._task.situation.known
        return known.lessons.lessons(known.clock()) if known is not None and known.lessons is not None else ()

    def _repeated(self, named: SkillCall) -> str:
        if self._loop_guard.holds(named):
            return f"{named}: it was made before and nothing has changed since; do something else or end"
        return ""

    def _made(self, named: SkillCall, things: Sequence[Thing], call: SkillCall | None = None) -> CallRun:
        """Have the robot do a call over names; tell what changed."""
        for thing in things:
            if thing.id not in self._located and thing.id != self._task.world.held:
                self._located.add(thing.id)
                self._lookup.locate(thing.object_class)
        world = self._task.world
        call = call or SkillCall(named.skill, tuple(thing.call_name for thing in things))
        before = set(self._names.lines(self._task.situation.scene()))
        held = world.held
        is_guided = self._task.situation.guide is not None
        result = yield PlannedStep(call, self._goal_index(), self._context_id, guided=is_guided)
        self.begun = True
        self._skills += 1
        self._has_failed = not result.success
        self._succeeded |= {call.skill} if result.success else set()
        bare = SkillCall(call.skill, call.arguments[:1]) if call.skill == "Explore" else call
        result = replace(result, call=bare)
        self._task.follow(result)
        self._lookup.note_step()
        self._task.refresh()
        self._task.watch()
        self._told_unmet = None
        self._loop_guard.note(named, world.unmoved)
        news = [line for line in self._names.lines(self._task.situation.scene()) if line not in before]
        return CallResult(self._told(named, result, news, held), result.success)

    def _goal_index(self) -> int:
        index = self._task.judged().goal_index if self._task.goals else 0
        return min(index, max(len(self._task.goals) - 1, 0))

    def _told(self, named: SkillCall, result: SkillResult, news: Sequence[str], held: str) -> str:
        if result.success:
            said = [f"{named}: done"]
        else:
            remedy = remedy_of(result)
            said = [f"{named}: failed, {result.reason} {quoted(result.message) if result.message else ''}".rstrip()]
            said += [f"usual remedy: {remedy}"] if remedy and result.reason is not FailureReason.CANCELED else []
        now = self._task.world.held
        said += [f"the hand holds {now}" if now else "the hand is empty"] if now != held else []
        return "\n".join([*said, *shortened(news, _MOST_NEWS, "find tells of them")])


def _warning(broken: Sequence[Unmet]) -> str:
    said = "; ".join(f"{one.said} ({one.remedy})" if one.remedy else one.said for one in broken)
    return f"not done: memory holds that {said}. Call it again if memory is wrong."
