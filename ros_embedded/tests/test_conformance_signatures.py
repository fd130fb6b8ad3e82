"""Functions and methods take the parameters, and have the defaults, that Jazzy's have."""

import importlib
import inspect
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

ROWS = [
    tuple(part.strip() for part in line.split("|"))
    for line in (Path(__file__).parent / "signatures_jazzy.txt").read_text().splitlines()
    if not line.startswith("#")
]
PLAIN = (bool, int, float, str, bytes, type(None))


@pytest.mark.parametrize("owner", sorted({name.rpartition(".")[0] for name, _ in ROWS}))
def test_parameters_and_defaults_are_those_of_jazzy(owner: str) -> None:
    recorded = {name: parameters for name, parameters in ROWS if name.rpartition(".")[0] == owner}
    assert {name: parameters_of(found(name)) for name in recorded} == recorded


def found(name: str) -> Any:
    """What a dotted name stands for."""
    module, _, rest = name.rpartition(".")
    names = [rest]
    while True:
        try:
            thing: Any = importlib.import_module(module)
            break
        except ImportError:
            module, _, rest = module.rpartition(".")
            names.insert(0, rest)
    for part in names:
        thing = getattr(thing, part)
    return thing


def parameters_of(function: Any) -> str:
    """The parameters as one line, without annotations."""
    parts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        is_first_named = parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts)
        parts += ["*"] if is_first_named else []
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        parts.append(stars + parameter.name + default_of(parameter))
    return ", ".join(parts)


def default_of(parameter: inspect.Parameter) -> str:
    """The default as it is written; empty without one."""
    default = parameter.default
    if default is parameter.empty:
        return ""
    return f"={default!r}" if isinstance(default, PLAIN) and not isinstance(default, Enum) else "=..."
