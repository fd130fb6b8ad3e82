"""A model that follows a script, for tests of the agent loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tiny_home import TinyHome, TinyThing

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.states import ObjectState
from memory_node.llm.chat import Message, Reply, ToolCall, ToolForm
from memory_node.planner.agent.agent_planner import AgentPlanner
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.planner import PlanProgress
from memory_node.planner.planner_config import LlmConfig
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.reading.understanding import Understander
from memory_node.planner.told_limits import ToldLimits
from memory_node.planner.visual_verifier import PictureSource

Script = Callable[[Sequence[Message]], Reply | Sequence[tuple[str, dict[str, Any]]] | str]


class ScriptedModel:
    """Answers by a function of the dialogue, or from a list of replies; a list of (tool, arguments) calls tools."""

    name = "script"
    native_tools = True

    def __init__(self, script: Script | Sequence[Any]) -> None:
        self._script = script
        self.dialogues: list[tuple[Message, ...]] = []
        self.forms: list[Any] = []

    def reply(self, messages, deadline=None, form=None, on_line=lambda _: None) -> Reply:
        said = self._script(messages) if callable(self._script) else self._script[len(self.dialogues)]
        self.dialogues.append(tuple(messages))
        self.forms.append(form)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        size = sum(len(message.text) for message in messages) // 4
        if isinstance(said, str):
            return Reply(said, size, len(said) // 4 + 1)
        calls = tuple(ToolCall(name, arguments, str(number)) for number, (name, arguments) in enumerate(said))
        return Reply("", size, 10 * len(calls), tool_calls=calls if isinstance(form, ToolForm) else ())

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    def results(self) -> list[str]:
        """Return what the model was told of its calls, in the last dialogue."""
        return [message.text for message in self.dialogues[-1] if message.role == "tool"]


def home(**failing) -> TinyHome:
    return TinyHome(
        TinyThing("t", "DiningTable"),
        TinyThing("f", "Fridge", states={ObjectState.CLOSED}),
        TinyThing("m", "Mug", "t"),
        TinyThing("v", "Vase", "t"),
        TinyThing("a", "Apple", "f"),
        failing=failing,
    )


def agent_of(
    model: ScriptedModel,
    settings: LlmConfig | None = None,
    fallback: bool = False,
    asks: bool = True,
    camera: PictureSource | None = None,
    described: Any = None,
) -> AgentPlanner:
    """Return a planner that a model leads. described: reads instructions for the offline planner beside it."""
    kinds = load_catalogue()
    offline = OfflinePlanner(Understander(kinds, described, None), kinds)
    settings = settings or LlmConfig(base_url="http://localhost:1/v1")
    return AgentPlanner(model, settings, kinds, offline, fallback, asks, camera=camera)


def carry_out(
    model: ScriptedModel,
    instruction: str = "put the mug into the fridge",
    place: TinyHome | None = None,
    reports: list[PlanProgress] | None = None,
    fallback: bool = False,
    told: Sequence[str] = (),
    answers: Sequence[str] = (),
    known: Known | None = None,
    camera: PictureSource | None = None,
    limits: ToldLimits | None = None,
    **config: Any,
) -> InstructionResult:
    """Let a model carry out an instruction, and answer its questions."""
    place = place or home()
    settings = LlmConfig(base_url="http://localhost:1/v1", sees=camera is not None, **config)
    planner = agent_of(model, settings, fallback, camera=camera)
    executor = InstructionExecutor(
        place, place, planner, conversation=Conversation(), told=lambda text: tuple(told), known=known, limits=limits
    )
    result = executor.execute(instruction, reports.append if reports is not None else lambda _: None)
    for answer in answers:
        assert result.outcome.question
        result = executor.execute(answer)
    return result
