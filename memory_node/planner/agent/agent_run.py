"""The agent loop: ask the model, do its calls one by one until one fails, tell the results, until it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from memory_node.context.recalled import quoted
from memory_node.domain.skill import SkillResult
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.knowledge.text import stems
from memory_node.lessons.expectations import WRITER as TRIES
from memory_node.llm.chat import LlmError, RejectedReplyError, Tool, ToolCall
from memory_node.planner.agent.dialogue import AgentDialogue
from memory_node.planner.agent.home_names import HomeNames
from memory_node.planner.agent.model_goals import GoalReader, Objection, is_quoted, words_of
from memory_node.planner.agent.services import Services
from memory_node.planner.agent.skill_calls import CallResult, CallRun, SkillCalls
from memory_node.planner.agent.task import Task
from memory_node.planner.agent.tools import ASKS_MEMORY, CALLS_A_GOAL, MOST_CALLS_A_REPLY, faults_of
from memory_node.planner.goal import Goal
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, ProgressKind
from memory_node.planner.visual_verifier import PictureSource
from memory_node.questions.going_on import going_on

# Letters of a reply's words that are kept as the reason of its calls.
_LONGEST_REASONING = 300
# Times that the same question to memory is answered; its answer stands in the dialogue.
_MOST_ASKED = 2
# Times that goals said anew, and words for the person, count as progress.
_MOST_TOLD = 3
# Lines of what people told that bears on an answer.
_MOST_TOLD_LINES = 8
# Goals that nothing in the home shows afterwards, and the skills of which one must have succeeded.
_LEAVES_NO_TRACE = {
    GoalKind.THROW: frozenset({"ThrowObject"}),
    GoalKind.BREAK: frozenset({"BreakObject", "ThrowObject"}),
    GoalKind.FIND: frozenset({"GoToObject", "Explore", "PickupObject"}),
    GoalKind.GO: frozenset({"GoToObject"}),
}

Steps = Generator[PlannedStep, SkillResult, PlanOutcome]


class AgentRun:
    """One instruction's dialogue. It ends with an outcome; one that asks the person goes on with `answered`.

    said: what the person said, the instruction last. objection: of the grammar, against goals. camera: whose picture a
    look shows; None shows none.
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
        self._task = task
        self._dialogue = dialogue
        self._tools = {tool.name: tool for tool in tools}
        self._names = names
        self._said = list(said)
        self._objection = objection
        lookup = MemoryLookup(task.situation)
        self._skills = SkillCalls(task, names, lookup, context_id, camera, dialogue.show)
        self._services = Services(task, names, lookup, self._skills.used)
        self._asked: Counter[str] = Counter()
        self._told_unmet: tuple[str, ...] | None = None
        self._question: ToolCall | None = None
        self._is_stopped = False  # by the person's last answer
        self._guidance = ""  # what memory compiled last
        self._idle = 0
        self._faulty = 0

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
            self._skills.reasoning = " ".join(turn.words.split())[:_LONGEST_REASONING]
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
        self._skills.task, self._skills.lookup = self._task, MemoryLookup(situation)
        self._services = Services(self._task, self._names, self._skills.lookup, self._skills.used)
        self._task.refresh()
        if self._question is not None:
            told = [f"told: {quoted(one)}" for one in self._task.told(text)[:_MOST_TOLD_LINES]]
            self._dialogue.tell(self._question, "\n".join([f"the person says: {text}", *told]))
            self._question = None

    def _tell_guidance(self) -> None:
        """Tell what memory has learnt of the next step; what was told before is not told again. A next step that no
        lesson calls for is the model's own choice, as is a search. After a failure only what tries teach is told, and
        what not to do again: a way goes on as if the step had worked."""
        guide = self._task.situation.guide
        if guide is None or not self._task.goals or not self._task.judged().unmet:
            return
        names = {thing.call_name: name for name, thing in self._task.world.things.items()}
        compiled = guide(None, self._skills.goal_index, names)
        guidance = compiled.guidance if compiled is not None else None
        if compiled is None or guidance is None or guidance.text == self._guidance:
            return
        taught = [one for one in guidance.entries if self._skills.reason is None or one.partition("|")[0] == TRIES]
        if not (taught or guidance.avoid) or guidance.goal.skill == "Explore":
            return
        self._guidance = guidance.text
        self._dialogue.say(f"Memory: {guidance.text}")

    def _turn(self, calls: Sequence[ToolCall], words: str) -> Generator[PlannedStep, SkillResult, PlanOutcome | None]:
        if not calls and "?" in self._said[-1] and not self._task.goals and not self._skills.count:
            return self._answer(words)
        if not calls:
            self._idle += 1
            self._dialogue.say("You called no tool. Call one; end with done or impossible.")
            return None
        stop, is_new = "", False
        most = self._most_calls(calls)
        for number, call in enumerate(calls):
            if number >= most and not stop:
                stop = f"not done: at most {most} calls in a reply"
            if stop:
                self._dialogue.tell(call, stop)
                stop = "not done"
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
            stop = "" if done.ok or call.name in ASKS_MEMORY else "not done: the call before failed"
        self._idle = 0 if is_new else self._idle + 1
        return None

    def _most_calls(self, calls: Sequence[ToolCall]) -> int:
        """Return how many of a reply's calls are done: the more, the more goals there are, or it says."""
        config, rows = self._task.config, [call.arguments.get("goals") for call in calls]
        goals = max([len(self._task.goals), *(len(one) for one in rows if isinstance(one, list))])
        return config.max_steps if config.mode == "plan" else max(MOST_CALLS_A_REPLY, CALLS_A_GOAL * goals)

    def _limit(self) -> str:
        """Return which limit is reached, "" for none."""
        config, account = self._task.config, self._task.account
        if account.tokens_in + account.tokens_out >= config.max_tokens_per_instruction:
            return f"the limit of {config.max_tokens_per_instruction} tokens an instruction is reached"
        if config.max_usd_per_instruction and account.cost_usd(config) >= config.max_usd_per_instruction:
            return f"the limit of {config.max_usd_per_instruction:g} USD an instruction is reached"
        if account.seconds >= config.max_model_s_per_instruction:
            return f"the limit of {config.max_model_s_per_instruction:g} s of the model an instruction is reached"
        if self._skills.count >= config.max_steps:
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
        if not self._skills.count:
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
            reason or ("" if not skills or skills & self._skills.succeeded else f"{goal}: not done")
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
        if skill is not None or call.name == "look_at":
            before, looked = self._skills.count, str(call.arguments.get("thing"))
            done = yield from (self._skills.made(skill, call.arguments) if skill else self._skills.look_at(looked))
            self._told_unmet = self._told_unmet if self._skills.count == before else None
            return done
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
        to = self._services
        ask = {"find": to.find, "locate": to.locate, "ask_memory": to.ask, "recall_past": to.recall_past}[call.name]
        return CallResult(ask(str(next(iter(call.arguments.values())))), new=self._asked[key] == 1)

    def _set_goals(self, call: ToolCall) -> CallResult:
        kinds, meant = self._task.world.kinds, self._names.meant
        reader = GoalReader(kinds, self._said, lambda name: meant(name).thing, self._objection)
        goals, faults = reader.read(call.arguments["goals"])
        if not goals:
            none = "say at least one goal; end with done or impossible where there is nothing to do"
            return CallResult("\n".join(["not taken over", *(faults or (none,))]), False, False)
        self.take_goals(goals)
        names = tuple(map(str, goals))
        self._task.situation.report(PlanProgress(ProgressKind.PLAN, f"{len(goals)} goal(s)", names))
        unknown = self._names.not_known(goals)
        self._asked["set_goals"] += 1
        is_new = self._asked["set_goals"] <= _MOST_TOLD
        part = "the others are taken over, these are not; to add one, say all goals again:"
        said = [*([part, *faults] if faults else ["taken over"]), *self._bound(goals)]
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
        if known is None or not (is_quoted(words, self._said) or self._is_answer(words)):
            return CallResult("not done: the person has not said this", False, False)
        became = known.tell(words)
        self._asked["remember"] += 1
        self._note(ProgressKind.NOTE, became)
        return CallResult(became)

    def _is_answer(self, words: str) -> bool:
        """Return whether words are those of the robot's last question and of the answer, nothing else."""
        asked = " ".join(text for turn in self._task.situation.conversation.said[-1:] for text in turn)
        used, answer = set(stems(words)), set(stems(self._said[-1]))
        return "?" in asked and bool(used & answer) and used <= answer.union(stems(asked))

    def take_goals(self, goals: Sequence[Goal]) -> None:
        """Pursue goals from now on."""
        self._task = self._skills.task = self._task.with_goals(goals)
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
        if not goals and self._skills.count:
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
            remedy = "Go on, say as goals what serves instead, or say impossible."
            text = f"memory holds that this is not so: {'; '.join(unmet_goals)}. {remedy}"
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
