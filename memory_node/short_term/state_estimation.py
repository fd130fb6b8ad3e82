"""Asks a vision-language model for the states of remembered objects by pictures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_node.domain.states import STATE_MEANINGS
from memory_node.llm.ask import Question, ask
from memory_node.llm.chat import ChatModel, Message
from memory_node.llm.deadline import Deadline
from memory_node.llm.json_reply import json_form
from memory_node.llm.prompt_templates import prompt_templates
from memory_node.short_term.state_reply import StateJudgement, StateReply, parse_state_reply


@dataclass(frozen=True)
class PicturedThing:
    """A thing to judge. crop: makes the picture of it alone, as JPEG."""

    object_id: str
    object_class: str
    crop: Callable[[], bytes]


@dataclass(frozen=True)
class StateRequest:
    """Things of one image to judge, when it was taken, and the task that they matter for. frame: makes the whole image
    as JPEG; None where only pictures of the things are there."""

    things: tuple[PicturedThing, ...]
    stamp_ns: int
    frame: Callable[[], bytes] | None = None
    task: str = ""
    task_objects: tuple[str, ...] = ()


class VisionStateEstimator:
    """Judges pictures by a model that sees. max_repairs: how often a faulty reply is sent back."""

    def __init__(self, model: ChatModel, max_repairs: int = 1) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._prompts = prompt_templates(trim_blocks=False)

    def prompt(self, request: StateRequest) -> str:
        """Return the words that go with the pictures."""
        states = {str(state): meaning for state, meaning in STATE_MEANINGS.items()}
        return self._prompts.get_template("object_states.j2").render(
            things=[thing.object_class for thing in request.things],
            has_frame=request.frame is not None,
            task=request.task,
            task_objects=request.task_objects,
            states=states,
        )

    def estimate(self, request: StateRequest, deadline: Deadline) -> Sequence[tuple[str, StateReply]]:
        """Return what the model says of the things, checked, by their ids.

        Raises:
            LlmError: the model gave no reply in time, or none that keeps to the schema.
        """
        repair = self._prompts.get_template("object_states_repair.j2")
        frames = [request.frame] if request.frame is not None else []
        pictures = tuple(make() for make in (*frames, *(thing.crop for thing in request.things)))
        question = Question(
            (Message("user", self.prompt(request), pictures),),
            lambda text: parse_state_reply(text, len(request.things), request.stamp_ns),
            lambda error: repair.render(error=error),
            json_form(StateJudgement),
        )
        found = ask(self._model, question, deadline, self._max_repairs)
        return [(request.things[number - 1].object_id, reply) for number, reply in found.items()]
