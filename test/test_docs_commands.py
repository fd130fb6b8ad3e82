"""Every `memory-node` command that a page quotes exists, with the options that it is quoted with."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_node.cli import GROUPS, build_parser

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "readers").glob("*.md")])
# To the end of the line, of the code, or of what a shell would take as one command.
QUOTED = re.compile(r"memory-node((?: +[^\s`|;&#<>)]+)+)")
# "...", "[--json]", "FILE...", "a|b": words about words.
OPTION = re.compile(r"--[a-z][\w-]*")
NAME = re.compile(r"^[a-z][a-z-]*$")


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each command that a page quotes, after `memory-node`."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        code = line if line.startswith("    ") else " ; ".join(re.findall(r"`([^`]*)`", line))
        for found in QUOTED.findall(code):
            yield found.split()


def options_of(words: list[str]) -> set[str]:
    """Return the options of the command that the words begin with; KeyError where there is none."""
    names = []
    for word in words:
        if not NAME.match(word):
            break
        names.append(word)
    if not names:
        return {"--help", "--version"}
    parser, _ = build_parser(names[: 2 if names[0] in GROUPS else 1])
    options = set(parser._option_string_actions)
    for name in names:
        choices = next((one.choices for one in parser._actions if isinstance(one, argparse._SubParsersAction)), None)
        if choices is None:
            break
        parser = dict(choices)[name]
        options |= set(parser._option_string_actions)
    return options


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_quoted_commands_exist(page: Path) -> None:
    wrong = []
    for words in commands(page):
        try:
            unknown = set(OPTION.findall(" ".join(words))) - options_of(words)
        except KeyError as error:
            unknown = {str(error)}
        except ModuleNotFoundError:  # an extra that is not installed here: that the command exists is known by then
            continue
        if unknown:
            wrong.append(f"memory-node {' '.join(words)}: {', '.join(sorted(unknown))}")
    assert wrong == []


def test_commands_are_found_and_judged(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Run `memory-node store check --repair` or\n\n    memory-node bench soak --hours 2 # long\n")
    found = list(commands(page))
    assert found == [["store", "check", "--repair"], ["bench", "soak", "--hours", "2"]]
    assert "--repair" in options_of(found[0])
    assert "--hours" not in options_of(found[1])
    with pytest.raises(KeyError):
        options_of(["store", "mend"])
