"""Fixtures say what they give and what they take, for whoever writes the next test reads them first."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted([*(ROOT / "test").rglob("*.py"), *(ROOT / "ros_embedded/tests").rglob("*.py")])


def fixtures(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            "pytest.fixture" in ast.unparse(one) for one in node.decorator_list
        ):
            yield node


def untyped(fixture: ast.FunctionDef) -> bool:
    taken = [one for one in (*fixture.args.args, *fixture.args.kwonlyargs) if one.arg != "self"]
    return fixture.returns is None or any(one.annotation is None for one in taken)


def test_every_fixture_is_typed() -> None:
    found = [(path, one) for path in FILES for one in fixtures(ast.parse(path.read_text(encoding="utf-8")))]
    assert len(found) > 100
    assert [f"{path.relative_to(ROOT)}: {one.name}" for path, one in found if untyped(one)] == []


@pytest.mark.parametrize("line", ["def a(): ...", "def a(b) -> int: ...", "def a(*, b) -> int: ..."])
def test_untyped_fixture_is_found(line: str) -> None:
    (fixture,) = fixtures(ast.parse(f"@pytest.fixture\n{line}"))
    assert untyped(fixture)
