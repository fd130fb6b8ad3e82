"""The planner that a language model leads: it reads every instruction, and goes on where it asked the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.context.recalled import quoted
from memory_node.context.sections import KNOWN, WORKING_MEMORY, lines_of
from memory_node.domain.answer import FindQuery
from memory_node.domain.clock import ago, spoken_day_ago, spoken_now
from memory_node.domain.context import Context, ContextSource
from memory_node.llm.ask import prompt_templates
from memory_node.llm.chat import ChatModel, LlmError, Message
from memory_node.planner.agent.agent_run import AgentRun
from memory_node.planner.agent.dialogue import AgentDialogue
from memory_node.planner.agent.home_names import HomeNames, Searched
from memory_node.planner.agent.services import AskedMemory
from memory_node.planner.agent.task import Task
from memory_node.planner.agent.tools import CALLS_A_GOAL, MOST_CALLS_A_REPLY, agent_tools
from memory_node.planner.goal import Goal, GoalHistory
from memory_node.planner.known_world import KnownWorld
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import (
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanRun,
)
from memory_node.planner.planner_config import LlmConfig, ModelAccount
from memory_node.planner.reading.conversation import Conversation, UnclearError
from memory_node.planner.reading.references import References
from memory_node.planner.reading.resumption import interrupted
from memory_node.planner.visual_verifier import PictureSource
from memory_node.questions.going_on import going_on

# Instructions of the conversation that are told again.
_MOST_TURNS = 4
_LONGEST_TURN = 300
# Things that the beginning names; the others are found by asking. Each is a few tokens.
_MOST_THINGS = 150
# Units of the short-term memory that the beginning names whatever else there is.
_MOST_RECENT = 8
# Lines of what people told whose things are named, too.
_MOST_TOLD = 3


@dataclass
class _Session:
    """What is kept of one person's conversation. run: waits for an answer, None for none. searched: in vain. taught:
    what tries were told to teach, by the lesson's id."""

    conversation: Conversation
    searched: Searched = field(default_factory=dict)
    taught: dict[str, str] = field(default_factory=dict)
    run: AgentRun | None = None
    account: ModelAccount = field(default_factory=ModelAccount)


class AgentPlanner:
    """Lets a model carry out instructions by tool calls: a few a reply, or in the mode `plan` (KARMA) all at once.

    offline: carries on where the model fails before anything is done, which is said; fallback False: that fails. Its
    grammar also says whether goals that hurt when they are wrong are asked for. asks: whether somebody is there to
    answer questions. camera: the robot's, whose pictures a model that sees is shown.
    """

    def __init__(
        self,
        model: ChatModel,
        config: LlmConfig,
        kinds: ObjectCatalogue,
        offline: OfflinePlanner,
        fallback: bool,
        asks: bool = True,
        camera: PictureSource | None = None,
    ) -> None:
        self._asks = asks
        self._camera = camera if config.sees else None
        self._model = model
        self._config = config
        self._kinds = kinds
        self._offline = offline
        self._fallback = fallback
        self._prompts = prompt_templates()
        self._session = _Session(Conversation())
        self.fallbacks = 0

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the steps of an instruction, or go on with the one that waits for an answer; see planner.Planner."""
        if not any(letter.isalnum() for letter in instruction):
            raise PlanningFailedError("the instruction is empty")
        if self._session.conversation is not situation.conversation:
            self._session = _Session(situation.conversation)
        session, said = self._session, situation.conversation.said
        waiting = situation.waiting
        said += [(waiting, "(asked back about it before a restart)")] if waiting and not said else []
        run, session.run = session.run, None
        if run is not None and not run.is_answered_by(instruction) and self._offline.is_command(instruction, situation):
            run = None  # a new instruction: what memory holds of it is told
        account = session.account if run is not None else ModelAccount()
        if run is not None:
            run.answered(instruction, situation, self._offline.means_stop(instruction))
        try:
            run = run or self._open(instruction, situation, account)
            outcome = yield from run.steps()
        except LlmError as error:
            return (yield from self._without_model(instruction, situation, account, error))
        if outcome.question:
            session.run, session.account = run, ModelAccount()
        # Of failures the last is what the planner said; those before it are memory's, goal by goal.
        said.append((instruction, outcome.question or outcome.answer or "".join(outcome.failures[-1:])))
        del said[:-_MOST_TURNS]
        return account.booked(outcome, self._config)

    def _without_model(
        self, instruction: str, situation: PlanningContext, account: ModelAccount, error: LlmError
    ) -> PlanRun:
        self.fallbacks += 1
        if not self._fallback:
            took = account.booked(PlanOutcome((instruction,), (False,), planner="llm"), self._config)
            raise PlanningFailedError(f"the language model gave no plan: {error}", took) from error
        text = f"the language model failed ({error}); the offline planner carries on instead"
        situation.note(text)
        outcome = yield from self._offline.run(instruction, situation)
        return account.booked(replace(outcome, planner=f"{outcome.planner} (fallback)"), self._config)

    def _open(self, instruction: str, situation: PlanningContext, account: ModelAccount) -> AgentRun:
        """Return the run of an instruction, its beginning told."""
        memory, known = situation.memory, situation.known
        asks_memory, recalls = isinstance(memory, AskedMemory), known is not None and known.recalled.has_past
        at_once = self._config.mode == "plan"
        tools = agent_tools(situation.skills, asks_memory, recalls, known is not None, self._asks, at_once)
        context = situation.context(instruction, self._config.context_budget, {ContextSource.EXPERIENCE})
        # An occasion names no thing: what was told of it does.
        spoken = " ".join([instruction, *lines_of(context, KNOWN)[:_MOST_TOLD]]).lower()
        readings = self._kinds.spoken_names.named_in(spoken)
        about = tuple(dict.fromkeys(names[0] for names in readings))
        recent = [one.object_id for one in memory.recall(FindQuery(text=instruction, k=_MOST_RECENT)).answers]
        world = KnownWorld(situation.world(self._kinds), about, _MOST_THINGS, recent)
        history = GoalHistory((), self._kinds)
        task = Task(instruction, (), situation, world, self._config, self._prompts, account, history)

        def age(stamp_ns: int) -> str:
            return f"seen {spoken_day_ago(stamp_ns, known.clock(), known.recalled.zone)}" if known is not None else ""

        names = HomeNames(world, memory, age, self._session.searched)
        task.refresh()
        names.read(readings)
        left, unfinished = self._left(task)
        beginning = self._beginning(task, names, context, unfinished)
        dialogue = AgentDialogue(self._model, tools, beginning, account, self._config)
        # Who goes on with what was left, as the prompt tells it, asks for it in the words of then.
        said = [*filter(None, [left]), *(text for text, _ in situation.conversation.said), instruction]

        def objection(goals: Sequence[Goal], words: str) -> str:
            return self._offline.objection(words, goals, situation)

        run = AgentRun(task, dialogue, tools, names, said, objection, context.id, self._camera)
        if situation.goals:
            run.take_goals(situation.goals)
        return run

    def _beginning(self, task: Task, names: HomeNames, context: Context, unfinished: str) -> tuple[Message, Message]:
        """Return the system prompt, which is always the same, and the task with what memory tells of it.

        unfinished: what was left of an earlier instruction, in words; "" for nothing.
        """
        scene, situation, known = task.situation.scene(), task.situation, task.situation.known
        robot, held = lines_of(context, WORKING_MEMORY), names.in_hand()
        is_told = any(f"holding {task.world.held}" in line for line in robot)
        learnt = context.text.replace("\n".join((f"## {WORKING_MEMORY}", *robot)), "").strip()
        turns = [
            f"{who}: {' '.join(text.split())[:_LONGEST_TURN]}"
            for turn in situation.conversation.said
            for who, text in zip(("person", "robot"), turn)
            if text
        ]
        text = task.prompt(
            "agent_task.j2",
            turns=turns,
            unfinished=unfinished,
            told=[" ".join(line.replace('"', "'").split()) for line in task.told() if line not in learnt],
            memory="\n".join(filter(None, (learnt, *self._not_taught_now(task)))),
            cut={title: len(lines) for title, lines in context.cut.items()},
            things=names.inventory(scene),
            unknown=names.not_known(),
            areas=names.areas(scene, others=True),
            state=[
                *([f"It is {spoken_now(known.clock(), known.recalled.zone)}."] if known is not None else []),
                *(line.replace(f"holding {task.world.held}", f"holding {held}") for line in robot),
                *([] if is_told else [f"The hand holds {held}." if held else "The hand is empty."]),
                *([f"Goals: {'; '.join(map(str, situation.goals))}."] if situation.goals else []),
            ],
            instruction=" ".join(task.instruction.split()),
        )
        at_once = self._config.mode == "plan"
        limits = {"most_calls": MOST_CALLS_A_REPLY, "calls_a_goal": CALLS_A_GOAL}
        rules = task.prompt("agent_system.j2", at_once=at_once, asks=self._asks, **limits)
        return Message("system", rules.strip()), Message("user", text.strip())

    def _not_taught_now(self, task: Task) -> list[str]:
        """Return what tries taught when an earlier instruction of this conversation began, and do not teach now: it was
        given up, is mended by what people say, or is for another time of the day."""
        known, earlier = task.situation.known, self._session.taught
        if known is None or known.lessons is None:
            return []
        names = {one.memory_id: one.id for one in task.world.episode.state}
        now = known.lessons.lessons(known.clock())
        self._session.taught = {
            one.id: one.text.replace(f"this {one.place_class}", names.get(one.place_id, f"this {one.place_class}"))
            for one in now
        }
        return [f"- Does not hold now: {text}" for key, text in earlier.items() if key not in self._session.taught]

    def _left(self, task: Task) -> tuple[str, str]:
        """Return the instruction that was left unfinished, and in words when that was and what of it is still to do, or
        what was done of it where that cannot be told; "" where nothing is, or where the robot did something else since,
        and is neither asked nor to go on with it."""
        known = task.situation.known
        if known is None or not known.recalled.unfinished:
            return "", ""
        past = known.recalled
        try:
            references = References(
                self._kinds, task.situation.scene(), past.facts, past.deeds, known.clock(), past.zone
            )
            left, goals = next(interrupted(past, references), (None, ()))
        except UnclearError:
            left, goals = next((one for one in past.unfinished if not going_on(one.instruction)), None), ()
        # What was done of it when it was gone on with counts, too.
        ids = {one.id for one in past.unfinished if one is left or going_on(one.instruction)}
        is_last = bool(past.deeds) and past.deeds[-1].episode_id in ids
        is_asked = going_on(task.instruction) is not None or "?" in task.instruction
        if left is None or not (is_last or is_asked):
            return "", ""
        deeds = (one for one in past.deeds if one.episode_id in ids and one.stamp_ns >= left.started_ns)
        done = ", ".join(f"{one.skill} {one.object_class}" for one in deeds)
        when = ago((known.clock() - (left.ended_ns or left.started_ns)) * 1e-9)
        # People may have done a part of it since.
        to_do = ", ".join(goal.text for goal in goals if not task.is_met(goal))
        if goals and not to_do:
            return "", ""
        so_far = f"still to do: {to_do}" if to_do else f"done of it: {done or 'nothing'}"
        return left.instruction, f"{quoted(left.instruction, _LONGEST_TURN)}, {when}; {so_far}"
