"""What memory tells a planner, and what it was sent."""

from __future__ import annotations

from typing import Any

from robot_memory import msg as rm

from memory_node.context.told_contexts import ToldContext
from memory_node.domain.context import Context
from memory_node.nodes.conversions.geometry import stamp_from_msg, stamp_to_msg


def context_to_response(context: Context, response: Any) -> None:
    """Fill in a response of GetContext, or a message with the same fields."""
    response.context_id, response.text, response.tokens = context.id, context.text, context.tokens
    response.sections = list(context.section_tokens)
    response.section_tokens = list(context.section_tokens.values())
    response.section_lines = [context.section_lines[name] for name in context.section_tokens]
    response.cut_sections = list(context.cut)
    response.cut_texts = ["\n".join(lines) for lines in context.cut.values()]


def context_from_response(response: Any) -> Context:
    """Return what a response of GetContext tells, or a message with the same fields."""
    tokens = dict(zip(response.sections, map(int, response.section_tokens)))
    lines = dict(zip(response.sections, map(int, response.section_lines)))
    cut = {name: tuple(text.splitlines()) for name, text in zip(response.cut_sections, response.cut_texts)}
    return Context(response.context_id, response.text, tokens, lines, cut)


def told_context_to_msg(told: ToldContext) -> rm.ToldContext:
    """Return a ToldContext message; it says nothing of the episode, for which somebody asked."""
    msg = rm.ToldContext(
        instruction=told.instruction,
        token_budget=told.token_budget,
        stamp=stamp_to_msg(told.stamp_ns),
        steps=list(told.steps),
    )
    context_to_response(told.context, msg)
    return msg


def told_context_from_msg(msg: rm.ToldContext, episode_id: str) -> ToldContext:
    """Return a context that was told in an episode."""
    stamp_ns, steps = stamp_from_msg(msg.stamp), tuple(map(int, msg.steps))
    return ToldContext(context_from_response(msg), msg.instruction, int(msg.token_budget), stamp_ns, episode_id, steps)
