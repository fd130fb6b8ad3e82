"""Class names stand in label spaces and in layouts of homes, not in the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_node.catalogue.class_name import folded
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.resources import resource_path

ROOT = Path(__file__).resolve().parents[1]
# AI2-THOR's files name classes by what they say of their positions.
LAYOUTS = {"memory_node/sim/alfred_home.py", "memory_node/sim/alfred_geometry.py"}
# Words that mean something else where they stand; each must still be there.
OTHER_MEANINGS = {
    ("memory_node/cli.py", "bench"),  # commands
    ("memory_node/cli.py", "train"),
    ("memory_node/domain/nouns.py", "bus"),  # nouns that are irregular in English
    ("memory_node/domain/nouns.py", "cd"),
    ("memory_node/domain/nouns.py", "tv"),
    ("memory_node/domain/nouns.py", "knife"),
    ("memory_node/domain/nouns.py", "mouse"),
    ("memory_node/domain/nouns.py", "person"),
    ("memory_node/context/prompt_compiler.py", "user"),  # roles of a chat
    ("memory_node/experience/refiner.py", "user"),
    ("memory_node/experience/optimizer/prompt.py", "user"),
    ("memory_node/knowledge/text/names.py", "user"),  # what no concept may be
    ("memory_node/inspector/deeds.py", "user"),  # who said so
    ("memory_node/inspector/mcp_server.py", "user"),
    ("memory_node/inspector/rest_edits.py", "user"),
    ("memory_node/knowledge/model_extraction.py", "user"),
    ("memory_node/llm/ask.py", "user"),
    ("memory_node/llm/chat.py", "user"),
    ("memory_node/llm/command.py", "user"),
    ("memory_node/llm/llama/chat_template.py", "user"),
    ("memory_node/llm/speed.py", "user"),
    ("memory_node/planner/llm_planner.py", "user"),
    ("memory_node/planner/stepwise.py", "user"),
    ("memory_node/planner/language/targets.py", "door"),  # a part of furniture
    ("memory_node/planner/whole_plan.py", "user"),
    ("memory_node/planner/seen_goals.py", "user"),
    ("memory_node/short_term/state_estimation.py", "user"),
    ("memory_node/nodes/conversions/skills.py", "user"),  # who said so
    ("memory_node/scene_graph/edits.py", "user"),
    ("memory_node/scene_graph/frame_update.py", "user"),
    ("memory_node/scene_graph/fusion.py", "user"),
    ("memory_node/scene_graph/places.py", "floor "),  # a storey
    ("memory_node/scene_graph/text_form.py", "floor"),
    ("memory_node/store/salvage.py", "table"),  # of a database
    ("memory_node/store/graph_export.py", "floor"),
    ("memory_node/sim/home_file.py", "floor"),  # a key of home files
    ("memory_node/sim/object_types.py", "box"),  # a shape
    ("memory_node/store/exchange.py", "table"),  # of a database
    ("memory_node/store/forget.py", "table "),
}
NAMES = frozenset(
    kind.name for path in resource_path("config/label_spaces").glob("*.yaml") for kind in load_catalogue(path.stem)
)
FOLDED = frozenset(map(folded, NAMES))
# A name with a capital within a longer text ("PickupObject a Knife") is a class name as well.
IN_TEXT = re.compile(rf"\b(?:{'|'.join(sorted(name for name in NAMES if not name.islower()))})\b")
WORDS = re.compile(r"[A-Za-z][A-Za-z _-]*")
MODULES = sorted(path for path in (ROOT / "memory_node").rglob("*.py"))


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of the string literals of a module; docstrings are prose."""
    tree = ast.parse(source)
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value


def class_names(source: str) -> list[tuple[int, str]]:
    return [
        (line, text)
        for line, text in literals(source)
        if (WORDS.fullmatch(text) and folded(text) in FOLDED) or IN_TEXT.search(text)
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_class_name_stands_in_the_code(path: Path) -> None:
    where = str(path.relative_to(ROOT))
    if where in LAYOUTS:
        return
    found = [(line, text) for line, text in class_names(path.read_text(encoding="utf-8"))]
    assert [(line, text) for line, text in found if (where, text) not in OTHER_MEANINGS] == []


@pytest.mark.parametrize(("where", "word"), sorted(OTHER_MEANINGS))
def test_exception_is_still_needed(where: str, word: str) -> None:
    texts = {text for _, text in class_names((ROOT / where).read_text(encoding="utf-8"))}
    assert word in texts


@pytest.mark.parametrize(
    "source",
    ['FIXED = {"CounterTop"}', 'kind = "counter_top"', 'x = "wine glass"', 'raise E(f"take a Knife for {it}")'],
)
def test_class_name_is_found_however_it_is_spelt(source: str) -> None:
    assert class_names(source)


@pytest.mark.parametrize("source", ['"""Put the Mug in the sink."""', 'x = "mugs and plates"', 'x = ""'])
def test_prose_and_other_words_are_no_class_names(source: str) -> None:
    assert not class_names(source)
