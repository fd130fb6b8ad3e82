"""A language model as planner (KARMA): it writes all calls at once, and again after what failed."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.context import ALL_SOURCES, ContextSource
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS, ArgumentKind
from memory_node.domain.skill_text import library_text
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, GrammarForm, Message, Reply
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import RejectedReplyError
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.model_run import Steps, Task, described, remedy_of
from memory_node.planner.permitted_skills import is_always_permitted
from memory_node.planner.plan_check import KnownSpace, check_plan, class_of
from memory_node.planner.plan_grammar import choices_of, grammar_of
from memory_node.planner.planner import PlannedStep, PlanProgress, ProgressKind
from memory_node.planner.skill_parser import NotAPlanError, parse_plan

# Of memory in a brief prompt: what a model on a processor reads in half a second to a second.
_BRIEF_TOKENS = 200


class WholePlanRun:
    """A ModelRun. A model in this process writes valid plans only; the plans of others are checked and sent back."""

    def __init__(self, task: Task, model: ChatModel, kinds: ObjectCatalogue) -> None:
        self.begun = False
        self._task = task
        self._model = model
        self._kinds = kinds
        self._lookup = MemoryLookup(task.situation)
        self._messages: list[Message] = []
        self._context_id = ""
        self._done: list[SkillCall] = []
        self._known_ids: set[str] = set()
        self._seen: dict[str, str] = {}  # class -> the robot's id of one that it has just found

    def steps(self) -> Steps:
        """Yield the steps of plan after plan; see ModelRun."""
        self._open_dialogue()
        config, account = self._task.config, self._task.account
        while True:
            failed: SkillResult | None = None
            for call in self._plan():
                if len(self._done) >= config.max_steps:
                    return f"not finished within {config.max_steps} skills"
                result = yield PlannedStep(self._grounded(call), context_id=self._context_id)
                self._follow(result)
                if not result.success:
                    failed = result
                    break
            unmet = () if failed is not None else self._task.judged().unmet
            last = account.replans >= config.max_replans or (failed and failed.reason is FailureReason.CANCELED)
            if failed is None and (not unmet or last):
                return ""
            if failed is not None and last:
                return described(failed)
            account.replans += 1
            self._ask_again(failed, unmet)

    def _open_dialogue(self) -> None:
        task, brief = self._task, self._task.config.brief
        memory = self._remembered()
        # The skills of every instruction stand first, where a prompt that was read before begins alike.
        always = [skill for skill in task.world.skills if is_always_permitted(skill)]
        asked = [skill for skill in task.world.skills if not is_always_permitted(skill)]
        needs = self._kinds.needs_of_skills()
        told = task.prompt(
            "planner_task.j2",
            skills=library_text(asked, needs, brief),
            memory=memory,
            things=task.world.lines(),
            held=task.world.held,
            completed=task.completed,
            instruction=task.instruction,
        )
        system = task.prompt(
            "planner_brief_plan_system.j2" if brief else "planner_system.j2",
            library=library_text(always, needs, brief),
        )
        self._messages = [Message("system", system), Message("user", told)]

    def _remembered(self) -> str:
        """Return what memory says now, in words, and let the world follow memory."""
        task, config = self._task, self._task.config
        tokens, sources = config.context_budget, ALL_SOURCES
        if config.brief:
            # Where things are is told thing by thing.
            tokens, sources = min(tokens, _BRIEF_TOKENS), frozenset({ContextSource.EXPERIENCE})
        context = task.situation.context(task.instruction, tokens, sources)
        self._context_id = context.id
        task.refresh()
        return context.text

    def _plan(self) -> list[SkillCall]:
        """Return a checked plan; the model is told precisely what is wrong with one that is not.

        Raises:
            LlmError: the model gave no reply, or none that was a plan.
        """
        task, report = self._task, self._task.situation.report
        replies: list[Reply] = []

        def note(text: str) -> None:
            report(PlanProgress(ProgressKind.PLAN, text))

        def charge(reply: Reply) -> None:
            task.account.charge(reply)
            replies.append(reply)

        grammar = grammar_of(choices_of(task.world))
        question = Question(
            tuple(self._messages),
            self._read,
            lambda error: task.prompt("planner_repair.j2", error=error),
            GrammarForm(grammar) if grammar else None,
        )
        plan = ask(
            self._model,
            question,
            Deadline(task.config.timeout_s),
            task.config.max_repairs,
            on_line=note,
            on_reply=charge,
            on_rejected=lambda error: report(PlanProgress(ProgressKind.NOTE, f"the plan was sent back: {error}")),
        )
        task.account.valid += 1
        self._messages.append(Message("assistant", replies[-1].text))
        note(f"{len(plan)} skill call(s): {'; '.join(map(str, plan))}")
        return plan

    def _read(self, text: str) -> list[SkillCall]:
        world, scene = self._task.world, self._task.situation.scene()
        self._known_ids |= {area.id for area in scene.areas} | {found.id for found in scene.objects}
        licensed = {skill.name for skill in world.skills}
        try:
            plan = [world.with_references(call) for call in parse_plan(text)]
            held_class = self._task.situation.held_class
            available = self._task.situation.skills
            space = KnownSpace.of(scene)
            check_plan(plan, self._kinds, self._known_ids, held_class, space, available, self._strangers(scene))
            for call in plan:
                if call.skill not in licensed:
                    raise NotAPlanError(f"{call}: the instruction does not ask for {call.skill}")
                why = self._task.audit.objection(call, class_of(call.arguments[0], self._kinds, self._known_ids))
                if why:
                    raise NotAPlanError(why)
        except NotAPlanError as error:
            raise RejectedReplyError("not_a_plan", str(error)) from error
        return plan

    def _ask_again(self, failed: SkillResult | None, unmet: Sequence[str]) -> None:
        task, memory = self._task, self._remembered()
        prompt = task.prompt(
            "planner_replan.j2",
            failed=failed,
            remedy=remedy_of(failed) if failed is not None else "",
            unmet=unmet,
            done=[str(call) for call in self._done],
            held=task.world.held,
            memory=memory,
            things=task.world.lines(),
        )
        self._messages.append(Message("user", prompt))

    def _grounded(self, call: SkillCall) -> SkillCall:
        """Give bare classes the place that memory knows, and Explore the likeliest places."""
        if call.skill == "Explore":
            object_class = class_of(call.arguments[0], self._kinds, self._known_ids)
            stops = call.arguments[1:]
            if not stops:
                self._lookup.locate(object_class)
                stops = self._lookup.search_stops(object_class)
            return SkillCall("Explore", (call.arguments[0], *stops))
        arguments = []
        strangers = self._strangers(self._task.situation.scene())
        for argument, text in zip(SKILLS[call.skill].arguments, call.arguments):
            bare = argument.kind is ArgumentKind.OBJECT and (text in self._kinds or text in strangers)
            asks = bare and text != self._task.situation.held_class and text not in self._seen
            answer = self._lookup.locate(text) if asks else None
            arguments.append(str(ObjectReference.at(text, answer.position)) if answer else self._seen.get(text, text))
        return SkillCall(call.skill, tuple(arguments))

    def _strangers(self, scene: SceneSnapshot) -> frozenset[str]:
        """Return the classes of things that memory knows or the goals name, and that the label space may lack."""
        asked = {name for goal in self._task.goals for mention in goal.mentions for name in mention.candidates}
        return frozenset(asked | {found.class_name for found in scene.objects if not found.removed})

    def _follow(self, result: SkillResult) -> None:
        self.begun = True
        self._lookup.note_step()
        self._task.follow(result)
        self._task.watch()
        if result.object_id:
            self._known_ids.add(result.object_id)
        if result.success:
            self._done.append(result.call)
            if result.call.skill == "Explore" and result.object_id:
                self._seen[result.call.arguments[0]] = result.object_id
