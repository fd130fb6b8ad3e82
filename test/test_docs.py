"""The pages point at what is there."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "readers").glob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
# `search/lexical_index.py`, `test_policies.py`; not `NAME.py`
FILE = re.compile(r"`((?:[\w.]+/)*[a-z_]\w*\.(?:py|yaml|j2))`")
# `SceneGraph`, `Intake.set_map`; not `FindObjects.srv`
CLASS = re.compile(r"`([A-Z][a-z]+[A-Z]\w*(?:\.[a-z_]\w*)?)(?:\(\))?`")
# One line of an example in Python.
IMPORT = re.compile(r"^from ((?:memory_node|benchmarks)[\w.]*) import (.+)$", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# Files of a reader's own, in examples.
OF_READERS = {"my_robot.yaml", "user.yaml"}
FILES = [
    path.relative_to(ROOT).as_posix()
    for folder in (
        "memory_node",
        "benchmarks",
        "training",
        "config",
        "test",
        "ros_embedded",
        "launch",
    )
    for path in (ROOT / folder).rglob("*")
    if path.is_file()
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    if page.name == "CHANGELOG.md":  # what was renamed
        return
    named = set(FILE.findall(page.read_text(encoding="utf-8"))) - OF_READERS
    assert {name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in FILES)} == set()


def test_files_that_comments_of_prompts_name_are_there() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "config" / "prompts").glob("*.j2")]
    named = {name for text in texts for name in re.findall(r"memory_node/[\w/]+\.py", text)}
    assert named
    assert named <= set(FILES)


def test_classes_that_pages_name_are_there() -> None:
    sources = (ROOT / file for file in FILES if file.endswith((".py", ".yaml", ".html", ".js")))
    interfaces = (path for kind in ("msg", "srv", "action") for path in (ROOT / kind).iterdir())
    known = set()
    for path in (*sources, *interfaces):
        known |= {path.stem, *re.findall(r"\w+", path.read_text(encoding="utf-8", errors="replace"))}
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            named = CLASS.findall(page.read_text(encoding="utf-8"))
            assert [name for name in named if not known.issuperset(name.split("."))] == [], page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_that_examples_import_are_there(page: Path) -> None:
    for module, names in IMPORT.findall(page.read_text(encoding="utf-8")):
        for name in names.split(", "):
            assert hasattr(importlib.import_module(module), name), f"{page.name}: {module}.{name}"


def test_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= set(LINK.findall(index))
