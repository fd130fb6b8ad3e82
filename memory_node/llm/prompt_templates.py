"""The prompts of config/prompts, as templates."""

from __future__ import annotations

from pathlib import Path

import jinja2

from memory_node.domain.resources import resource_path

_LONGEST_QUOTED = 2000  # characters


def prompt_templates(trim_blocks: bool = True, folder: Path | None = None) -> jinja2.Environment:
    """Return the templates. A value that one of them names and is not given is an error.

    trim_blocks: False for templates that say themselves where lines end. folder: None for config/prompts.
    """
    loader = jinja2.FileSystemLoader(str(folder or resource_path("config/prompts")))
    templates = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=trim_blocks)
    templates.filters["quoted"] = quoted
    return templates


def quoted(text: str, longest: int = _LONGEST_QUOTED) -> str:
    """Return somebody's words on one line, cut, and without what could end their quotation."""
    return " ".join(text[:longest].replace("<", "(").replace(">", ")").split())
