"""Reads YAML with the booleans of YAML 1.2, where `on` and `off` are words: things stand on things."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml


class _CoreLoader(yaml.SafeLoader):
    """PyYAML's safe loader, which otherwise reads `on`, `off`, `yes` and `no` as booleans (YAML 1.1)."""


_BOOLEAN = "tag:yaml.org,2002:bool"
_CoreLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOLEAN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_CoreLoader.add_implicit_resolver(_BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def read_yaml(path: Path) -> Any:
    """Return what a YAML file says."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_CoreLoader)
