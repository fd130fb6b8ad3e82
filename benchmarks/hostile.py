"""`memory-node bench hostile`: an attacker sends malformed messages to everything that our nodes offer."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.hostile_nodes import AttackedNodes
from benchmarks.hostile_peer import HostilePeer
from benchmarks.hostile_values import ESCAPES
from benchmarks.process_figures import ProcessFigures
from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.nodes.run import checked_domain
from memory_node.nodes.unused_domain import unused_domain

# Of an input of 64 x 64: centre, size, and a score for each of two classes (YOLO 8's layout, transposed).
_FOUND = np.array([[32.0, 32.0, 7.0, 7.0, 0.9, 0.05], [5.0, 30.0, 2.0, 2.0, 0.1, 0.1]], np.float32)


def save_tiny_detector(folder: Path) -> dict[str, str]:
    """Save a model that finds the same in every image; return the detector node's parameters, none without onnx."""
    try:
        import onnx
    except ImportError:
        return {}
    folder.mkdir()
    info, node, kind = onnx.helper.make_tensor_value_info, onnx.helper.make_node, onnx.TensorProto
    found = _FOUND.T[None]
    constants = {"fixed": found, "zero": np.array(0.0, np.float32)}
    graph = onnx.helper.make_graph(
        [
            node("ReduceSum", ["images"], ["sum"], keepdims=0),
            node("Mul", ["sum", "zero"], ["nothing"]),
            node("Add", ["fixed", "nothing"], ["out"]),
        ],
        "tiny",
        [info("images", kind.FLOAT, [1, 3, 64, 64])],
        [info("out", kind.FLOAT, list(found.shape))],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), str(folder / "tiny.onnx"))
    (folder / "names.txt").write_text("Mug\nBowl\n", encoding="utf-8")
    return {"model": str(folder / "tiny.onnx"), "class_names": str(folder / "names.txt")}


# The detector only where the extra `models` is installed, with which its model is made.
NODES = ("memory", "planner", "home", "skills", "detector")
_START_LIMIT_S = 60.0
_SETTLE_S = 3.0
# Messages between two checks of the processes.
_ROUND = 20
# A process grows until it has done everything once. After this share of its run time its memory should stay the same.
_WARM_SHARE = 0.2
# Memory and one of the others are killed, and started again on what they left, once in so many seconds.
_CRASH_PERIOD_S = 120.0
# After so many failed starts of one node the run ends.
_MOST_FAILED_STARTS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default 1)")
    parser.add_argument("--nodes", nargs="+", choices=NODES, default=NODES, help="which nodes (default: all)")
    parser.add_argument("--domain", type=int, help="ROS domain (default: one that nothing of ours uses)")


@dataclass
class Toll:
    """What the nodes suffered.

    deaths: processes that ended by themselves. restarts_failed: starts, on the same database, that ended in no answer.
    threads_lost: fewer threads than at the start, or told so on /diagnostics. unanswered: calls without an answer.
    rss_growth_mb: of the node that grew most since it was warm. files_outside: files where none belong.
    """

    messages: int = 0
    deaths: int = 0
    restarts_failed: int = 0
    threads_lost: int = 0
    unanswered: int = 0
    rss_growth_mb: float = 0.0
    files_outside: int = 0

    @property
    def is_none(self) -> bool:
        """Whether nothing was harmed."""
        return not (self.deaths or self.restarts_failed or self.unanswered or self.threads_lost or self.files_outside)


def run(args: argparse.Namespace) -> int:
    """Attack; exit status 1 when something was harmed."""
    if not 0.0 < args.minutes <= 24 * 60.0:
        raise InvalidValueError(f"--minutes: expected more than 0 and at most a day, got {args.minutes:g}")
    domain_id = unused_domain() if args.domain is None else checked_domain(args.domain, "--domain")
    present = [path for path in ESCAPES if path.exists()]
    if present:
        raise InvalidValueError(f"{present[0]} exists; the run watches that nobody makes it: remove it first")
    with tempfile.TemporaryDirectory(prefix="robot_memory_hostile_") as text:
        folder = Path(text)
        detector = save_tiny_detector(folder / "brought")
        with (
            AttackedNodes(folder, domain_id, args.nodes, detector) as nodes,
            HostilePeer(domain_id, args.seed) as peer,
        ):
            attack = Attack(nodes, peer)
            attack.run(args.minutes * 60.0)
        toll = attack.toll
        strange = [*nodes.strange_files(), *(path for path in ESCAPES if path.exists())]
        toll.files_outside = len(strange)
        for trouble in (*attack.told, *(f"a file where none belongs: {path}" for path in strange)):
            print(trouble, file=sys.stderr)
    emit([asdict(toll)], args.json)
    return 0 if toll.is_none else 1


class Attack:
    """One run against nodes; toll: what came of it; told: in words, what a developer wants to see."""

    def __init__(self, nodes: AttackedNodes, peer: HostilePeer) -> None:
        self._nodes = nodes
        self._peer = peer
        self._failed_starts = 0
        self.toll = Toll()
        self.told: list[str] = []

    def run(self, seconds: float) -> None:
        """Start all nodes, attack them with occasional crashes until the time is up, and start them all once more."""
        for name in self._nodes.names:
            self._nodes.start(name)
        for name in self._nodes.names:
            self._peer.meet(self._nodes.full_name(name), _START_LIMIT_S)
        time.sleep(_SETTLE_S)
        threads = {name: self._nodes.figures(name).threads for name in self._nodes.names}
        begun_s = time.monotonic()
        warm: dict[str, ProcessFigures] = {}
        warming_s = min(seconds * _WARM_SHARE, _CRASH_PERIOD_S / 2.0)
        crashes, warm_at_s = 0, warming_s
        with progress_bar() as progress:
            task = progress.add_task("hostile messages, seconds", total=seconds)
            while (passed_s := time.monotonic() - begun_s) < seconds and self._failed_starts < _MOST_FAILED_STARTS:
                progress.update(task, completed=passed_s)
                self._round()
                if crashes < passed_s // _CRASH_PERIOD_S:
                    self._crash(crashes)
                    crashes += 1
                    warm, warm_at_s = {}, time.monotonic() - begun_s + warming_s
                if not warm and passed_s > warm_at_s:
                    warm = self._figures()
        time.sleep(_SETTLE_S)
        self._compare(threads, warm)
        self._start_all_again()
        self._collect()

    def _round(self) -> None:
        sent, unanswered = self._peer.send(_ROUND)
        self.toll.messages += sent
        for name in self._nodes.names:
            if not self._nodes.is_running(name):
                self.toll.deaths += 1
                self._tell(f"{name} died; the last message was {self._peer.last_sent}; its log ends with", name)
                self._bring_up(name)
            elif not self._peer.is_answered(self._nodes.full_name(name)):
                unanswered += 1
        self.toll.unanswered += unanswered

    def _crash(self, number: int) -> None:
        """Kill the first node, and one of the others in turn, and start both on what they left."""
        first, *others = self._nodes.names
        for name in (first, *others[number % len(others) :][:1]) if others else (first,):
            if self._nodes.is_running(name):
                self._nodes.kill(name)
            self._bring_up(name)

    def _start_all_again(self) -> None:
        """End each node in good order and start it again: what it has taken must not keep it from that."""
        for name in self._nodes.names:
            if self._nodes.is_running(name) and not self._nodes.end(name):
                self.toll.restarts_failed += 1
                self._tell(f"{name} did not end when asked; its log ends with", name)
            self._bring_up(name)

    def _bring_up(self, name: str) -> None:
        self._nodes.start(name)
        try:
            self._peer.meet(self._nodes.full_name(name), _START_LIMIT_S)
        except RobotMemoryError as error:
            self.toll.restarts_failed += 1
            self._failed_starts += 1
            self._tell(f"{error}; its log ends with", name)

    def _figures(self) -> dict[str, ProcessFigures]:
        return {name: self._nodes.figures(name) for name in self._nodes.names if self._nodes.is_running(name)}

    def _compare(self, threads: dict[str, int], warm: dict[str, ProcessFigures]) -> None:
        for name, now in self._figures().items():
            self.toll.threads_lost += max(threads[name] - now.threads, 0)
            grown_mb = now.resident_mb - warm.get(name, now).resident_mb
            told = f"{now.threads} threads, {now.resident_mb:.0f} MB, {grown_mb:+.0f} MB since it was warm"
            self.told.append(f"{name}: {told}")
            self.toll.rss_growth_mb = max(self.toll.rss_growth_mb, grown_mb)

    def _collect(self) -> None:
        self.told.extend(f"not answered in time: {call}" for call in self._peer.overdue)
        for component, message in self._peer.troubles.items():
            self.toll.threads_lost += component.endswith(": threads") and "has ended" in message
            self.told.append(f"{component}: {message}")
        for name in self._nodes.names:
            log = self._nodes.log_of(name).read_text(errors="replace")
            # Each fault is told once, with the traceback.
            for number, text in enumerate(log.split("internal error")[1:11]):
                self.told.append(f"--- {name}, internal error {number + 1}{text[:3_000]}")

    def _tell(self, what: str, name: str) -> None:
        lines = self._nodes.log_of(name).read_text(errors="replace").splitlines()[-25:]
        self.told.append("\n  ".join([what, *lines]))
