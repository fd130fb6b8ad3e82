"""`memory-node bench ros`: latency, rate and CPU of ROS communication, measured by ros_embedded's benchmark, and of the
memory node under a robot's streams."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

from benchmarks.ros_load import measure_load
from benchmarks.ros_load_kinds import LOADS
from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.run import checked_domain
from memory_node.nodes.unused_domain import unused_domain

try:
    from ros_embedded.bench import DEFAULT_SECONDS, KINDS, BenchmarkError, measure
except ImportError as error:
    raise RobotMemoryError(f"bench ros is ros_embedded's: pip install ./ros_embedded ({error})") from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=(*KINDS, *LOADS),
        default=list(KINDS),
        help=f"what to measure (default: {' '.join(KINDS)}); the others are memory beside a plain node, under /tf, a "
        "camera that moves, one that is segmented, and one that stands still",
    )
    parser.add_argument("--seconds", type=float, default=DEFAULT_SECONDS, help="how long, for each kind (default 10)")
    parser.add_argument("--domain", type=int, help="ROS domain, on loopback (default: one that nothing of ours uses)")


def run(args: argparse.Namespace) -> int:
    """Measure each kind with two fresh processes."""
    domain_id = unused_domain() if args.domain is None else checked_domain(args.domain, "--domain")
    for family in (KINDS, LOADS):
        kinds = [kind for kind in args.kinds if kind in family]
        if kinds:
            emit(_rows(kinds, args.seconds, domain_id), args.json)
    return 0


def _rows(kinds: list[str], seconds: float, domain: int) -> Iterator[dict[str, Any]]:
    with progress_bar() as progress:
        for kind in progress.track(kinds, description="bench ros"):
            try:
                load = kind in LOADS
                yield (
                    measure_load(kind, seconds, domain) if load else dataclasses.asdict(measure(kind, seconds, domain))
                )
            except BenchmarkError as error:
                raise RobotMemoryError(str(error)) from error
