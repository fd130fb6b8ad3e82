"""Asks a vision-language model for the state of a remembered object by its picture."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

import jinja2
import openai

from memory_node.domain.resources import resource_path
from memory_node.short_term.state_reply import STATE_MEANINGS, StateEstimationError, StateReply, parse_state_reply

_PROMPT = "config/prompts/object_states.j2"


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
    """Judges pictures by any OpenAI-compatible endpoint whose model sees.

    api_key: endpoints on one's own machine mostly take any.
    """

    def __init__(self, base_url: str, model: str, api_key: str = "none") -> None:
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
        self._model = model
        text = resource_path(_PROMPT).read_text(encoding="utf-8")
        self._template = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(text)

    def prompt(self, request: StateRequest) -> str:
        """Return the words that go with the picture."""
        states = {str(state): meaning for state, meaning in STATE_MEANINGS.items()}
        return self._template.render(
            object_class=request.object_class, task=request.task, task_objects=request.task_objects, states=states
        )

    def estimate(self, request: StateRequest, timeout_s: float) -> StateReply:
        """Return the checked reply of the model.

        Raises:
            StateEstimationError: the endpoint failed or was too slow, or the reply breaks the schema.
        """
        picture = "data:image/jpeg;base64," + base64.b64encode(request.crop_jpeg).decode("ascii")
        try:
            completion = self._client.chat.completions.create(
                model=self._model,
                temperature=0.0,
                timeout=timeout_s,
                messages=[
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": self.prompt(request)},
                            {"type": "image_url", "image_url": {"url": picture}},
                        ],
                    }
                ],
            )
            content = completion.choices[0].message.content
        except openai.OpenAIError as error:
            raise StateEstimationError(f"{self._model!r} at {self._client.base_url}: {error}") from error
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise StateEstimationError(f"{self._client.base_url}: expected a chat completion") from error
        return parse_state_reply(content or "", request.stamp_ns)
