"""The planner that asks a language model: prompt, checked plan, repairs, new plans, and an offline fallback."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import jinja2

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.resources import resource_path
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS, ArgumentKind, ObjectReference, library_text
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, Message, Reply, Role
from memory_node.llm.deadline import Deadline
from memory_node.llm.errors import LlmError, RejectedReplyError
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.plan_check import KnownSpace, check_plan, class_of
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
    Situation,
)
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.skill_parser import NotAPlanError, parse_plan


class LlmPlanner:
    """Plans with a language model. fallback: carries on when the model fails, and the outcome says so; None raises."""

    def __init__(self, model: ChatModel, config: LlmConfig, kinds: ObjectCatalogue, fallback: Planner | None) -> None:
        self._model = model
        self._config = config
        self._kinds = kinds
        self._fallback = fallback
        loader = jinja2.FileSystemLoader(str(resource_path("config/prompts")))
        self._prompts = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True)

    def carry_out(self, instruction: str, situation: Situation) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner."""
        dialogue = _Dialogue()
        context = situation.context(instruction, self._config.context_tokens)
        dialogue.context_id = context.id
        library = library_text(classes=self._kinds.needs_of_skills())
        dialogue.say("system", self._prompts.get_template("planner_system.j2").render(library=library))
        task = self._prompts.get_template("planner_task.j2")
        dialogue.say("user", task.render(memory=context.text, held=situation.held_class, instruction=instruction))
        try:
            outcome = yield from self._execute(instruction, dialogue, situation)
        except LlmError as error:
            if self._fallback is None or dialogue.done:
                raise PlanningFailedError(f"the language model gave no plan: {error}") from error
            text = f"the language model failed ({error}); the offline planner carries on instead"
            situation.report(PlanProgress(ProgressKind.NOTE, text))
            outcome = yield from self._fallback.carry_out(instruction, situation)
            outcome = replace(outcome, planner=f"{outcome.planner} (fallback)")
        return self._priced(outcome, dialogue)

    def _execute(self, instruction: str, dialogue: _Dialogue, situation: Situation) -> PlanRun:
        lookup = MemoryLookup(situation)
        for replans_left in range(self._config.max_replans, -1, -1):
            failed: SkillResult | None = None
            for call in self._plan(dialogue, situation):
                if len(dialogue.done) >= self._config.max_steps:
                    raise PlanningFailedError(f"not finished within {self._config.max_steps} skills")
                grounded = self._grounded(call, lookup, dialogue, situation.held_class)
                result = yield PlannedStep(grounded, context_id=dialogue.context_id)
                dialogue.follow(result)
                if not result.success:
                    failed = result
                    break
            if failed is None:
                return PlanOutcome((instruction,), (True,), planner="llm")
            if failed.reason is FailureReason.CANCELED or not replans_left:
                break
            self._ask_again(failed, instruction, dialogue, situation)
        assert failed is not None, "only a failed plan leaves the loop"
        text = f"{failed.call} failed: {failed.reason} {failed.message}".rstrip()
        return PlanOutcome((instruction,), (False,), (text,), planner="llm")

    def _plan(self, dialogue: _Dialogue, situation: Situation) -> list[SkillCall]:
        """Return a checked plan; the model is told precisely what is wrong with one that is not.

        Raises:
            LlmError: the model gave no reply, or none that was a plan.
        """
        dialogue.know(situation)
        repair = self._prompts.get_template("planner_repair.j2")

        def read(text: str) -> list[SkillCall]:
            try:
                plan = parse_plan(text)
                check_plan(plan, self._kinds, dialogue.known_ids, situation.held_class, dialogue.space)
            except NotAPlanError as error:
                raise RejectedReplyError("not_a_plan", str(error)) from error
            return plan

        plan = ask(
            self._model,
            Question(tuple(dialogue.messages), read, lambda error: repair.render(error=error)),
            Deadline(self._config.timeout_s),
            self._config.max_repairs,
            on_line=lambda line: situation.report(PlanProgress(ProgressKind.PLAN, line)),
            on_reply=dialogue.charge,
            on_rejected=lambda error: situation.report(
                PlanProgress(ProgressKind.NOTE, f"the plan was sent back: {error}")
            ),
        )
        calls = tuple(str(call) for call in plan)
        dialogue.say("assistant", dialogue.reply)
        situation.report(PlanProgress(ProgressKind.PLAN, f"{len(plan)} skill call(s)", calls))
        return plan

    def _ask_again(self, failed: SkillResult, instruction: str, dialogue: _Dialogue, situation: Situation) -> None:
        rules = SKILLS[failed.call.skill].preconditions
        remedy = next((rule.remedy for rule in rules if rule.reason is failed.reason), "")
        context = situation.context(instruction, self._config.context_tokens)
        dialogue.context_id = context.id
        prompt = self._prompts.get_template("planner_replan.j2").render(
            call=failed.call,
            reason=failed.reason,
            message=failed.message,
            remedy=remedy,
            done=[str(call) for call in dialogue.done],
            held=situation.held_class,
            memory=context.text,
        )
        dialogue.say("user", prompt)

    def _grounded(self, call: SkillCall, lookup: MemoryLookup, dialogue: _Dialogue, held_class: str) -> SkillCall:
        """Give bare classes the place that memory knows, and Explore the likeliest places."""
        if call.skill == "Explore":
            object_class = class_of(call.arguments[0], self._kinds, dialogue.known_ids)
            stops = call.arguments[1:] or lookup.search_stops(object_class)
            return SkillCall("Explore", (call.arguments[0], *stops))
        arguments = []
        for argument, text in zip(SKILLS[call.skill].arguments, call.arguments):
            bare = argument.kind is ArgumentKind.OBJECT and text in self._kinds and text != held_class
            answer = lookup.locate(text) if bare and text not in dialogue.seen else None
            arguments.append(
                str(ObjectReference.at(text, answer.position)) if answer else dialogue.seen.get(text, text)
            )
        return SkillCall(call.skill, tuple(arguments))

    def _priced(self, outcome: PlanOutcome, dialogue: _Dialogue) -> PlanOutcome:
        cost = dialogue.tokens_in * self._config.usd_per_million_in
        cost += dialogue.tokens_out * self._config.usd_per_million_out
        return replace(
            outcome, tokens_in=dialogue.tokens_in, tokens_out=dialogue.tokens_out, cost_usd=round(cost / 1e6, 6)
        )


@dataclass
class _Dialogue:
    """What has been said and done so far.

    context_id: of what memory told last. seen: class -> the robot's id of one that it has just found. reply: the
    model's last one.
    """

    messages: list[Message] = field(default_factory=list)
    done: list[SkillCall] = field(default_factory=list)
    context_id: str = ""
    known_ids: set[str] = field(default_factory=set)
    space: KnownSpace | None = None
    seen: dict[str, str] = field(default_factory=dict)
    reply: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    def say(self, role: Role, text: str) -> None:
        self.messages.append(Message(role, text))

    def charge(self, reply: Reply) -> None:
        """Put a reply on the account."""
        self.reply = reply.text
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out

    def know(self, situation: Situation) -> None:
        """Take over the ids that memory uses now, and where its home is."""
        scene = situation.memory.scene()
        self.space = KnownSpace.of(scene)
        self.known_ids |= {area.id for area in scene.areas} | {found.id for found in scene.objects}

    def follow(self, result: SkillResult) -> None:
        if result.object_id:
            self.known_ids.add(result.object_id)
        if result.success:
            self.done.append(result.call)
            if result.call.skill == "Explore" and result.object_id:
                self.seen[result.call.arguments[0]] = result.object_id
