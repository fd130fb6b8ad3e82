"""What the demo starts for each robot: its nodes with their parameters."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from memory_node.domain.parameters import flattened
from memory_node.domain.resources import resource_path
from memory_node.domain.yaml_1_2 import read_yaml

Given = dict[str, dict[str, Any]]

# Simulated seconds per second: the home has no physics to compute, the body has.
SPEEDS = {"home": 40.0, "physics": 1.0}
# Time for an instruction, in real seconds.
TIMEOUTS_S = {"home": 600.0, "physics": 1200.0}


def node_parameters(args: argparse.Namespace, mode: str, folder: str) -> Given:
    """Return the parameters of every node of the demo's robot, by the nodes' names.

    mode: of the planner's memory. folder: for the database and the session.
    """
    memory = {"database": f"{folder}/memory.db", "label_space": args.label_space, "use_sim_time": "true"}
    session = f"{folder}/session.json"
    planner = {"label_space": args.label_space, "use_sim_time": "true", "session_file": session, **_planner(args)}
    robot = _physics(args, mode) if args.robot == "physics" else _home(args, mode)
    if args.robot == "physics":
        memory |= as_rules(_fetch("memory"))
    # Time may run fast here: pictures that come late are late by many simulated seconds.
    return {**robot, "memory": {**memory, "scene_graph.clock_jump_s": 3600.0}, "planner": planner}


def _home(args: argparse.Namespace, mode: str) -> Given:
    home = {
        "home": args.home,
        "label_space": args.label_space,
        "speed": _speed(args),
        "seed": args.seed,
        # Rendering takes most of the time; where memory is not asked, fewer pictures do.
        "expert.camera_period_s": 4.0 if mode == "none" else 1.0,
    }
    return {"home": home}


def _physics(args: argparse.Namespace, mode: str) -> Given:
    skills = {**as_rules(_fetch("skills")), "use_sim_time": "true", "label_space": args.label_space}
    film = str((args.out / mode / "robot.mp4").resolve())
    body = {"seed": args.seed, "speed": _speed(args), "film": film}
    return {"body": body, "skills": skills}


def _speed(args: argparse.Namespace) -> float:
    return SPEEDS[args.robot] if args.speed is None else float(args.speed)


def _fetch(node: str) -> dict[str, Any]:
    """Return what config/fetch.yaml says to a node."""
    parameters: dict[str, Any] = read_yaml(resource_path("config/fetch.yaml"))[f"/**/{node}"]["ros__parameters"]
    return parameters


def as_rules(values: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters of a file as the values of `-p` rules: texts quoted, lists in brackets."""
    return {name: json.dumps(value) for name, value in flattened(values).items()}


def _planner(args: argparse.Namespace) -> dict[str, str]:
    """Return what the options say of the planner; what they leave open is left to its defaults."""
    named = "llm.model" if args.endpoint else "llm.model_path"
    given = {"planner": args.planner, "llm.base_url": args.endpoint, named: args.model}
    return {name: value for name, value in given.items() if value}
