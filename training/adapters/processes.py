"""One training run in several processes, as torchrun starts them: one for each GPU, or on processors alone.

Every process does the same, but takes only its portion of what can be divided. So a run comes to the same with any
number of processes, except for the order in which numbers are added up.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed

Item = TypeVar("Item")


def begin(seed: int, threads: int) -> None:
    """Join the run's other processes, seed all draws, and let new tensors lie on this process' device."""
    if _count() > 1 and not distributed.is_initialized():
        distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
        atexit.register(distributed.destroy_process_group)
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    torch.set_default_device(device())


def device() -> torch.device:
    """Return where this process computes: its GPU where there is one."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def is_first() -> bool:
    """Return whether this process is the one that writes files and tells how it goes."""
    return _rank() == 0


def tell(line: str) -> None:
    """Tell how it goes, once for all processes."""
    if is_first():
        print(line, file=sys.stderr, flush=True)


def portion(items: Sequence[Item]) -> Sequence[Item]:
    """Return what this process does of some work that all of them know."""
    return items[_rank() :: _count()]


def together(own: Sequence[Item]) -> list[Item]:
    """Return what all processes made of their portions, in the order of the whole."""
    if _count() == 1:
        return list(own)
    parts: list[Any] = [None] * _count()
    distributed.all_gather_object(parts, list(own))
    whole: list[Any] = [None] * sum(map(len, parts))
    for rank, part in enumerate(parts):
        whole[rank :: _count()] = part
    return whole


def from_first(make: Callable[[], Item]) -> Item:
    """Return what the first process makes, which may not be the same in all: what is drawn, or depends on the time."""
    if _count() == 1:
        return make()
    made: list[Any] = [make() if is_first() else None]
    distributed.broadcast_object_list(made, src=0)
    found: Item = made[0]
    return found


def sum_gradients(weights: Iterable[Tensor]) -> None:
    """Give each weight the sum of its gradients in all processes; a process without one adds nothing."""
    for weight in weights:
        if weight.grad is None:
            weight.grad = torch.zeros_like(weight)
        if _count() > 1:
            distributed.all_reduce(weight.grad)


def _count() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def _rank() -> int:
    return int(os.environ.get("RANK", "0"))
