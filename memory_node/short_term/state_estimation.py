"""Asks a vision-language model for the state of a remembered object by its picture."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_node.domain.states import STATE_MEANINGS
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, Message
from memory_node.llm.deadline import Deadline
from memory_node.llm.json_reply import json_form
from memory_node.llm.prompt_templates import prompt_templates
from memory_node.short_term.state_reply import StateJudgement, StateReply, parse_state_reply


@dataclass(frozen=True)
class StateRequest:
    """One picture to judge: the object's crop as JPEG, when it was taken, and the task that it matters for."""

    object_id: str
    object_class: str
    crop_jpeg: bytes = field(repr=False)
    stamp_ns: int
    task: str = ""
    task_objects: tuple[str, ...] = ()


class VisionStateEstimator:
    """Judges pictures by a model that sees. max_repairs: how often a faulty reply is sent back."""

    def __init__(self, model: ChatModel, max_repairs: int = 1) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._prompts = prompt_templates(trim_blocks=False)

    def prompt(self, request: StateRequest) -> str:
        """Return the words that go with the picture."""
        states = {str(state): meaning for state, meaning in STATE_MEANINGS.items()}
        return self._prompts.get_template("object_states.j2").render(
            object_class=request.object_class, task=request.task, task_objects=request.task_objects, states=states
        )

    def estimate(self, request: StateRequest, deadline: Deadline) -> StateReply:
        """Return what the model says, checked.

        Raises:
            LlmError: the model gave no reply in time, or none that keeps to the schema.
        """
        repair = self._prompts.get_template("object_states_repair.j2")
        question = Question(
            (Message("user", self.prompt(request), (request.crop_jpeg,)),),
            lambda text: parse_state_reply(text, request.stamp_ns),
            lambda error: repair.render(error=error),
            json_form(StateJudgement),
        )
        return ask(self._model, question, deadline, self._max_repairs)
