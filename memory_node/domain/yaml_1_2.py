"""Reads YAML by the core schema of YAML 1.2, where `on` and `off` are words and `1e-3` is a number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

# libyaml's parser is ten times as fast, which start-up notices.
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOOLEAN, _FLOAT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:float"


class _CoreLoader(_Base):
    """PyYAML's safe loader with three changes: `on`, `off`, `yes` and `no` are words, `1e-3` is a number, and a key
    stands once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


_CoreLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOLEAN, _FLOAT)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_CoreLoader.add_implicit_resolver(_BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_CoreLoader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"^[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$"
    ),
    list("-+.0123456789"),
)


def read_yaml(path: Path) -> Any:
    """Return what a YAML file says."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_CoreLoader)


def compose_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Return what a YAML text says, and its node tree, which tells the line of each part; None for an empty text.

    Raises:
        yaml.YAMLError: it is no YAML.
    """
    loader = _CoreLoader(text)
    try:
        node = loader.get_single_node()
        return (None if node is None else loader.construct_document(node)), node
    finally:
        loader.dispose()
