"""The demo's command line: its options, its two runs, its live progress."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from memory_node.app.writable_folder import require_writable
from memory_node.catalogue.label_space import HOUSEHOLD
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.parameters import flattened
from memory_node.domain.resources import read_yaml, resource_path
from memory_node.domain.scene import SceneSnapshot
from memory_node.nodes.run import activate_ros, checked_domain
from memory_node.nodes.unused_domain import unused_domain
from memory_node.planner.memory_mode import MODES
from memory_node.planner.planner_config import PLANNERS


@dataclass(frozen=True)
class InstructionRow:
    """How one instruction went with one kind of memory."""

    instruction: str
    memory: str
    success: bool
    message: str
    skills: list[str]
    failed_skills: int
    explorations: int
    explored_areas: int
    distance_m: float
    duration_s: float
    lookups: int
    short_term_hits: int
    long_term_hits: int

    @classmethod
    def of(cls, instruction: str, memory: str, result: Any) -> InstructionRow:
        """Return the row of an ExecuteInstruction result."""
        metrics = result.metrics
        return cls(
            instruction=instruction,
            memory=memory,
            success=bool(result.success),
            message=result.message,
            skills=[call.skill for call in result.executed],
            failed_skills=metrics.failed_skills,
            explorations=metrics.explorations,
            explored_areas=metrics.explored_areas,
            distance_m=round(metrics.distance, 2),
            duration_s=round(metrics.duration, 1),
            lookups=metrics.lookups,
            short_term_hits=metrics.short_term_hits,
            long_term_hits=metrics.long_term_hits,
        )


@dataclass
class DemoReport:
    """Everything that the demo measured."""

    rows: list[InstructionRow] = field(default_factory=list)
    remembered: dict[str, Any] = field(default_factory=dict)
    picture: str = ""

    def remember(self, scene: SceneSnapshot) -> None:
        """Take down what the long-term memory holds at the end."""
        classes = Counter(found.class_name for found in scene.objects)
        self.remembered = {
            "objects": len(scene.objects),
            "areas": len(scene.areas),
            "rooms": [room.name for room in scene.rooms],
            "relations": dict(Counter(str(relation.kind) for relation in scene.relations)),
            "classes": dict(sorted(classes.items())),
        }

    @property
    def success(self) -> bool:
        """Whether every instruction was carried out."""
        return bool(self.rows) and all(row.success for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"rows": [asdict(row) for row in self.rows], "remembered": self.remembered, "picture": self.picture}

    def show(self, console: Console) -> None:
        """Print the tables."""
        console.print(self._comparison())
        if self.remembered:
            kept = self.remembered
            relations = ", ".join(f"{count} {kind}" for kind, count in kept["relations"].items())
            console.print(
                f"Remembered: {kept['objects']} objects, {kept['areas']} areas, "
                f"{len(kept['rooms'])} rooms ({', '.join(kept['rooms'])}); relations: {relations}"
            )
        if self.picture:
            console.print(f"Picture of the graph: {self.picture}", soft_wrap=True)

    def _comparison(self) -> Table:
        table = Table(title="What memory is worth", show_lines=True)
        table.add_column("instruction", overflow="fold", min_width=16)
        for title in ("memory", "done"):
            table.add_column(title)
        for title in ("skills", "searches", "places", "metres", "seconds", "answered"):
            table.add_column(title, justify="right")
        for row in self.rows:
            table.add_row(
                row.instruction,
                row.memory,
                "yes" if row.success else "no",
                str(len(row.skills)),
                str(row.explorations),
                str(row.explored_areas),
                f"{row.distance_m:.1f}",
                f"{row.duration_s:.0f}",
                f"{row.short_term_hits}+{row.long_term_hits} of {row.lookups}",
            )
        table.caption = (
            "searches: Explore skills; places: visited by them; answered: lookups, by short- + long-term memory"
        )
        return table


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


INSTRUCTIONS = (
    "wash an apple and put it in the bowl",
    "bring me the apple",
    "throw the clean red fruit away",
)
_START_TIMEOUT_S = 60.0
_CHECK_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--robot",
        choices=tuple(SPEEDS),
        default="home",
        help="home: skills done by the simulator; physics: the skill bridge drives a Fetch (extra physics)",
    )
    parser.add_argument("--home", default="apartment", help="a shipped home's name or a home file (default apartment)")
    parser.add_argument(
        "--label-space", default=HOUSEHOLD, help="what the robot's detector calls things (default household)"
    )
    parser.add_argument("--instruction", action="append", help="instead of the three of the demo; may be repeated")
    parser.add_argument("--memory", choices=("compare", *MODES), default="compare", help="compare: full, then none")
    parser.add_argument(
        "--planner", choices=PLANNERS, default="offline", help="llm: a language model, --endpoint or --model"
    )
    parser.add_argument("--endpoint", default="", metavar="URL", help="an OpenAI-compatible endpoint for --planner llm")
    parser.add_argument("--model", default="", help="the model's name at that endpoint, or a GGUF file")
    parser.add_argument("--speed", type=float, help="simulated seconds per second (default 40; with physics 1)")
    parser.add_argument("--composed", action="store_true", help="run all nodes in one process")
    parser.add_argument(
        "--inspect",
        type=int,
        nargs="?",
        const=8780,
        metavar="PORT",
        help="serve the page to look into its memory (default port 8780), until Ctrl-C; one run with memory",
    )
    parser.add_argument("--headless", action="store_true", help="plain lines, and do not open the picture")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write the figures to this file")
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder of picture and logs")
    parser.add_argument("--domain-id", type=int, help="DDS domain (default: one of the demo's own)")
    parser.add_argument("--seed", type=int, default=0, help="seed of every random choice (default 0)")


def run(args: argparse.Namespace) -> int:
    """Run the demo; return 0 when every instruction was carried out."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    # Asked to end, the demo ends its nodes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _check_paths(args)
    activate_ros()

    plain = args.headless or not sys.stdout.isatty()
    # A table cut to 80 columns would hide figures from a pipe or a file.
    console = Console(force_terminal=False, width=120) if plain else Console()
    domain_id = unused_domain() if args.domain_id is None else checked_domain(args.domain_id, "--domain-id")
    report = DemoReport()
    compared = ("full", "none") if args.inspect is None else ("full",)
    modes = compared if args.memory == "compare" else (args.memory,)
    for mode in modes:
        console.rule(f"memory: {mode}")
        _run_once(args, mode, domain_id, report, console)
    report.show(console)
    if args.json is not None:
        args.json.write_text(json.dumps(report.to_dict(), indent=2) + "\n", encoding="utf-8")
        console.print(f"Figures: {args.json}", soft_wrap=True)
    if report.picture and not args.headless and os.environ.get("DISPLAY") and shutil.which("xdg-open"):
        subprocess.Popen(["xdg-open", report.picture], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return 0 if report.success else 1


def _check_paths(args: argparse.Namespace) -> None:
    require_writable(args.out, "--out")
    if args.json is not None:
        require_writable(args.json.parent, "--json", args.json)
    if args.model and not args.endpoint and not Path(args.model).is_file():
        raise InvalidValueError(f"--model {args.model} is no file; give a GGUF file, or the model's --endpoint")


def _run_once(args: argparse.Namespace, mode: str, domain_id: int, report: Any, console: Console) -> None:
    """Carry the instructions out in a fresh home with a fresh memory."""
    from memory_node.app.demo.client import DemoClient
    from memory_node.app.demo.processes import NodeProcesses, start_inspector
    from memory_node.scene_graph.picture import draw_scene

    with tempfile.TemporaryDirectory(prefix="robot_memory_") as folder:
        parameters = node_parameters(args, mode, folder)
        agent = {"command": "memory-node", "args": ["mcp", "--domain-id", str(domain_id), "--range", "LOCALHOST"]}
        console.print(f"Domain {domain_id}, discovery range LOCALHOST. For an agent (Model Context Protocol):")
        console.print(f'  "robot_memory": {json.dumps(agent)}', soft_wrap=True, markup=False, highlight=False)
        # The client leaves first: DDS waits a second for what nodes that have ended can no longer acknowledge.
        with NodeProcesses(domain_id, args.out / mode) as nodes, DemoClient(domain_id) as client:
            nodes.start_all(parameters, composed=args.composed)
            client.wait_ready(_START_TIMEOUT_S, nodes.check)
            if args.inspect is not None:
                address = start_inspector(nodes, args.inspect, args.label_space)
                console.print(f"Look into its memory: {address}", soft_wrap=True)
            for instruction in args.instruction or INSTRUCTIONS:
                console.print(f"[bold]“{escape(instruction)}”[/bold]")
                progress = _Progress(console, args.headless)
                with progress:
                    result = client.run(instruction, mode, progress.show, TIMEOUTS_S[args.robot])
                nodes.check()
                report.rows.append(InstructionRow.of(instruction, mode, result))
                console.print("  done" if result.success else f"  [red]not done: {escape(result.message)}[/red]")
            if mode != "none":
                scene = client.scene()
                report.remember(scene)
                args.out.mkdir(parents=True, exist_ok=True)
                title = f"{len(scene.objects)} objects remembered after {len(report.rows)} instructions"
                picture = draw_scene(scene, args.out / "scene_graph.png", client.grid, client.path, title)
                report.picture = str(picture.resolve())
            if args.inspect is not None:
                console.print(f"All is done; {address} stays until Ctrl-C", soft_wrap=True)
                with contextlib.suppress(KeyboardInterrupt):
                    while True:
                        nodes.check()
                        time.sleep(_CHECK_S)


class _Progress:
    """Shows one instruction's feedback: a line for each new skill, and a spinner with what goes on now."""

    def __init__(self, console: Console, headless: bool) -> None:
        self._console = console
        self._status = console.status("planning") if not headless else None
        self._step = 0
        self._answer = ""

    def __enter__(self) -> _Progress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, feedback: Any) -> None:
        if feedback.memory_answer not in ("", self._answer):
            self._answer = feedback.memory_answer
            self._console.print(f"  [cyan]memory[/cyan]  {escape(self._answer)}")
        if feedback.step > self._step:
            self._step = feedback.step
            self._console.print(f"  [green]skill {self._step:2d}[/green] {escape(_short(feedback.current_skill))}")
        if self._status is not None:
            self._status.update(escape(_short(feedback.current_skill)) or "planning")


def _short(call: str) -> str:
    """Return a skill call for people: without the places that an exploration is given."""
    name, _, arguments = call.partition("(")
    if name == "Explore":
        target, _, places = arguments.rstrip(")").partition(", ")
        return f"Explore for {target}, {len(places.split(', '))} places if need be"
    return call
