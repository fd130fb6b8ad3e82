"""Every function can be read in one go: none has a complexity over 15 as radon counts it.

Radon counts one for each branch, loop, handler, boolean operator, comprehension and condition in it.
"""

from pathlib import Path

import pytest
from radon.complexity import cc_visit
from radon.visitors import Function

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("memory_node", "benchmarks", "training", "ros_embedded/src", "readers")
MOST = 15


def complexities(source: str) -> dict[str, int]:
    """Return the complexity of each function and method of a module, by its line and name."""
    blocks = (block for block in cc_visit(source) if isinstance(block, Function))
    return {f"{block.lineno} {block.fullname}": block.complexity for block in blocks}


@pytest.mark.parametrize("part", PARTS)
def test_no_function_is_complex(part: str) -> None:
    files = list((ROOT / part).rglob("*.py"))
    assert files
    found = {str(path.relative_to(ROOT)): complexities(path.read_text(encoding="utf-8")) for path in files}
    assert [(path, *one) for path, functions in found.items() for one in functions.items() if one[1] > MOST] == []


def test_conditions_and_methods_count() -> None:
    source = "class A:\n    def f(self, x):\n        return [y for y in x if y and x or y]\n"
    assert complexities(source) == {"2 A.f": 5}
