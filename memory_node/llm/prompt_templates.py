"""The prompts of config/prompts, as templates."""

from __future__ import annotations

from pathlib import Path

import jinja2

from memory_node.domain.resources import resource_path


def prompt_templates(trim_blocks: bool = True, folder: Path | None = None) -> jinja2.Environment:
    """Return the templates. A value that one of them names and is not given is an error.

    trim_blocks: False for templates that say themselves where lines end. folder: None for config/prompts.
    """
    loader = jinja2.FileSystemLoader(str(folder or resource_path("config/prompts")))
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=trim_blocks)
