"""What a planner is told, as plain values."""

from __future__ import annotations

from typing import Any

from memory_node.context.told_contexts import ToldContext
from memory_node.domain.context import Context
from memory_node.domain.token_count import estimate_tokens
from memory_node.inspector.scene_rows import seconds


def section_rows(context: Context) -> list[dict[str, Any]]:
    """Return the sections in their order, those that were left out wholly at the end; cut: the lines left out."""
    return [
        {
            "name": name,
            "tokens": context.section_tokens.get(name, 0),
            "lines": context.section_lines.get(name, 0),
            "cut": list(context.cut.get(name, ())),
            "cut_tokens": estimate_tokens("\n".join(context.cut[name])) if name in context.cut else 0,
        }
        for name in dict.fromkeys((*context.section_tokens, *context.cut))
    ]


def prompt_row(told: ToldContext) -> dict[str, Any]:
    """Return a context as a planner was sent it, with what the budget left out, and the steps that it chose by it."""
    context = told.context
    return {
        "context_id": context.id,
        "instruction": told.instruction,
        "stamp_s": seconds(told.stamp_ns),
        "steps": list(told.steps),
        "text": context.text,
        "tokens": context.tokens,
        "token_budget": told.token_budget,
        "sections": section_rows(context),
    }
