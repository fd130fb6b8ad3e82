"""A file's name says what is in it, and means one thing."""

from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "memory_node"
# The same in several parts: what each part has, or one concept as a value, as messages, as a node, as a command.
SAME_MEANING = {
    "__init__": "a package",
    "command": "a subcommand of memory-node",
    "config": "a part's parameters",
    "errors": "a part's errors",
    "body": "the robot's body: as a node, simulated",
    "driving": "what the base does: for skills, simulated",
    "home": "the simulated home: as a node, with physics",
    "home_file": "a home written by hand: without physics, with it",
    "rgbd_camera": "a camera with depth: as topics, simulated",
    "model": "one model that is worked with: of language, of physics",
    "reading": "what is read out of words: of an instruction, of an attempt",
    "robot": "the simulated robot: without physics, with it",
    "switches": "switching things: as a way of a skill, simulated",
    "answers": "what memory answers: as values, as messages",
    "geometry": "poses and boxes: as values, as messages",
    "guidance": "what a compiler delivers: as values, as messages",
    "knowledge": "what is known: as messages, as a command",
    "manipulation": "what the arm does: through MoveIt, simulated",
    "memory": "the memory: as values, as a node",
    "parameters": "parameters: as values, declared to ROS, as a command",
    "picture": "a picture of the graph: as a drawing, as a command",
    "planner": "the planner: as a protocol, as a node",
    "scene": "the scene graph: as values, as messages",
    "skills": "skills: as messages, as a node",
}
# They say nothing of what is inside.
OPAQUE = {"utils", "util", "helpers", "common", "misc", "tools", "manager", "base_classes", "stuff", "core"}


def files_by_stem() -> dict[str, list[Path]]:
    """Return the modules of the package by their names without folder and ending."""
    found = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        found[path.stem].append(path.relative_to(PACKAGE))
    return dict(found)


def test_no_two_files_of_one_name_mean_different_things() -> None:
    several = {stem: paths for stem, paths in files_by_stem().items() if len(paths) > 1}
    assert {stem: paths for stem, paths in several.items() if stem not in SAME_MEANING} == {}


def test_no_name_is_opaque() -> None:
    assert OPAQUE & set(files_by_stem()) == set()
