"""`bench`: how fast messages, services and actions are between two processes."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from ros_embedded.bench import DEFAULT_DOMAIN, DEFAULT_SECONDS, KINDS, BenchmarkError, measure
from ros_embedded.cli.command import CommandError, above_zero, argument, command, flag


@command(
    "bench",
    "Measure latency, rate and processor time between two processes",
    argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="what to measure (default: all)"),
    argument("--seconds", type=above_zero, default=DEFAULT_SECONDS, help="how long, for each kind (default 10)"),
    argument("--domain", type=int, default=DEFAULT_DOMAIN, help="ROS domain, on the loopback interface (default 97)"),
    flag("--json", help="one JSON object a row"),
    needs_node=False,
)
def _bench(_: Any, arguments: argparse.Namespace) -> None:
    for number, kind in enumerate(arguments.kinds):
        try:
            row = dataclasses.asdict(measure(kind, arguments.seconds, arguments.domain))
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        if arguments.json:
            print(json.dumps(row), flush=True)
            continue
        if number == 0:
            print("".join(f"{name:>15}" for name in row))
        print("".join(f"{value:>15}" for value in row.values()), flush=True)
