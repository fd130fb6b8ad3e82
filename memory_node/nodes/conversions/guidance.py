"""What memory tells a planner at the beginning, and what a compiler is told and delivers at a step."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_memory import msg as rm
from robot_memory import srv

from memory_node.context.brief_state import BriefState, Delta, InvalidDeltaError, delta_from_rows, delta_to_rows
from memory_node.context.guidance import Compiled, CompiledStep, Guidance, StepObservation, TakenStep
from memory_node.context.told_contexts import ToldContext
from memory_node.domain.context import Context
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason
from memory_node.nodes.conversions.paired import TEXTS, Paired, Part, stamp
from memory_node.nodes.conversions.ranges import checked_id, checked_labels, checked_member
from memory_node.nodes.conversions.skills import call_from_msg, call_to_msg


def context_to_response(context: Context, response: Any) -> Any:
    """Fill in a response of GetContext, or a message with the same fields; return it."""
    response.context_id, response.text, response.tokens = context.id, context.text, context.tokens
    response.sections = list(context.section_tokens)
    response.section_tokens = list(context.section_tokens.values())
    response.section_lines = [context.section_lines[name] for name in context.section_tokens]
    response.cut_sections = list(context.cut)
    response.cut_texts = ["\n".join(lines) for lines in context.cut.values()]
    return response


def context_from_response(response: Any) -> Context:
    """Return what a response of GetContext tells, or a message with the same fields."""
    tokens = dict(zip(response.sections, map(int, response.section_tokens)))
    lines = dict(zip(response.sections, map(int, response.section_lines)))
    cut = {name: tuple(text.splitlines()) for name, text in zip(response.cut_sections, response.cut_texts)}
    return Context(response.context_id, response.text, tokens, lines, cut)


# It says nothing of the episode, for which somebody asked.
_TOLD = Paired(
    ToldContext,
    rm.ToldContext,
    stamp_ns=stamp("stamp"),
    steps=Part("", list, lambda what, steps: tuple(map(int, steps))),
    lessons=TEXTS,
)


def told_context_to_msg(told: ToldContext) -> rm.ToldContext:
    """Return a ToldContext message."""
    return context_to_response(told.context, _TOLD.to_msg(told))


def told_context_from_msg(msg: rm.ToldContext) -> ToldContext:
    """Return a context that was told in an episode."""
    return _TOLD.from_msg(msg, context=context_from_response(msg))


def observation_to_request(episode_id: str, observation: StepObservation, compiler: str) -> Any:
    """Return a request of CompileContext."""
    taken, proposed = observation.taken, observation.proposed
    references = sorted({*observation.classes, *observation.names})
    return srv.CompileContext.Request(
        episode_id=episode_id,
        compiler=compiler,
        goals=list(observation.goals),
        goal_index=observation.goal_index,
        step_taken=taken is not None,
        taken=call_to_msg(taken.call) if taken is not None else rm.SkillCall(),
        succeeded=taken is not None and taken.success,
        reason=str(taken.reason) if taken is not None and not taken.success else "",
        object_id=taken.object_id if taken is not None else "",
        proposed=call_to_msg(proposed) if proposed is not None else rm.SkillCall(),
        references=references,
        classes=[observation.classes.get(one, "") for one in references],
        names=[observation.names.get(one, "") for one in references],
    )


def observation_from_request(request: Any) -> StepObservation:
    """Return what a request of CompileContext tells.

    Raises:
        InvalidValueError: a field is none that memory could work with; it names the field.
    """
    goals = tuple(checked_labels("goals", request.goals))
    if request.goal_index > len(goals):
        raise InvalidValueError(f"goal_index: expected 0 to {len(goals)}, got {request.goal_index}")
    references = checked_labels("references", request.references)
    told = {"classes": request.classes, "names": request.names}
    for field, values in told.items():
        if len(values) != len(references):
            raise InvalidValueError(
                f"{field}: expected one for each of {len(references)} references, got {len(values)}"
            )
    by_reference = {field: dict(zip(references, checked_labels(field, told[field]))) for field in told}
    return StepObservation(
        goals,
        request.goal_index,
        _taken_from_request(request) if request.step_taken else None,
        call_from_msg(request.proposed) if request.proposed.skill else None,
        {reference: name for reference, name in by_reference["classes"].items() if name},
        {reference: name for reference, name in by_reference["names"].items() if name},
    )


def _taken_from_request(request: Any) -> TakenStep:
    reason = checked_member(FailureReason, "reason", request.reason or str(FailureReason.NONE))
    object_id = checked_id("object_id", request.object_id)
    return TakenStep(call_from_msg(request.taken), bool(request.succeeded), reason, object_id)


_LISTS = dict.fromkeys(("completed", "pending", "locations", "agent", "facts"), TEXTS)
_STATE = Paired(BriefState, rm.BriefState, **_LISTS)
state_to_msg, state_from_msg = _STATE.to_msg, _STATE.from_msg


def compiled_to_response(step: CompiledStep, response: Any) -> Any:
    """Fill in a response of CompileContext, or a message with the same fields; return it."""
    guidance = step.guidance
    response.delivery = str(step.compiled.delivery)
    if guidance is not None:
        response.goal = call_to_msg(guidance.goal)
        response.guidance, response.reason = guidance.text, guidance.reason
        response.entries = list(guidance.entries)
        response.avoid = [call_to_msg(call) for call in guidance.avoid]
    response.state = state_to_msg(step.state)
    response.delta = json.dumps(delta_to_rows(step.compiled.delta))
    response.milliseconds = step.milliseconds
    response.problem = step.compiled.problem
    response.lessons = list(step.compiled.lessons)
    if step.compiled.latent is not None:
        response.latent = step.compiled.latent.ravel().tolist()
        response.latent_tokens = len(step.compiled.latent)
    return response


def compiled_to_msg(step: CompiledStep) -> rm.CompiledStep:
    """Return a CompiledStep message."""
    return compiled_to_response(step, rm.CompiledStep())


def compiled_from_response(response: Any) -> CompiledStep:
    """Return what a response of CompileContext delivers, or a CompiledStep message tells.

    Raises:
        InvalidValueError: it is none.
    """
    guidance = None
    if response.goal.skill:
        avoid = tuple(call_from_msg(call) for call in response.avoid)
        entries = tuple(response.entries)
        guidance = Guidance(call_from_msg(response.goal), response.guidance, response.reason, entries, avoid)
    latent = _latent(response)
    compiled = Compiled(
        guidance, _delta(response.delta), problem=response.problem, lessons=tuple(response.lessons), latent=latent
    )
    return CompiledStep(compiled, state_from_msg(response.state), float(response.milliseconds))


def _latent(response: Any) -> NDArray[np.float32] | None:
    tokens, values = int(response.latent_tokens), np.asarray(response.latent, np.float32)
    if tokens == 0 and not len(values):
        return None
    if tokens == 0 or not len(values) or len(values) % tokens or not np.isfinite(values).all():
        raise InvalidValueError(f"latent: expected {tokens} rows of finite numbers, got {len(values)} numbers")
    return values.reshape(tokens, -1)


def _delta(text: str) -> Delta:
    try:
        rows = json.loads(text or "[]")
    except ValueError as error:
        raise InvalidDeltaError(f"delta: {error}") from None
    return delta_from_rows(rows if isinstance(rows, list) else [rows])
