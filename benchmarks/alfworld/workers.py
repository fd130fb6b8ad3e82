"""Games side by side in processes: one that dies or hangs costs one game."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Generic, TypeVar

from benchmarks.process_figures import end_with

Work = TypeVar("Work")
Done = TypeVar("Done")
# Time for the system to free a killed process, whose memory can be gigabytes (s).
_ENDING_S = 2.0
# Games of one process: the engine keeps some megabytes of every game, so a new process takes over.
_PIECES_PER_PROCESS = 40
# A piece of work may not depend on the last LAG - 1 outcomes before it: those may still be running.
LAG = 8
# A fresh interpreter: the engine loads a library for each process, and what was forked would share its state. It finds
# the same modules; multiprocessing would run the main program's file again to get there.
_MAIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from benchmarks.alfworld.workers import serve; serve()"
)


@dataclass(frozen=True)
class Outcome(Generic[Done]):
    """What came of the piece of work with a number. lost: why nothing did, "" where something did."""

    number: int
    done: Done | None
    lost: str = ""


@dataclass(frozen=True)
class Ready(Generic[Done]):
    """Stands for a piece of work whose result is known already: no process gets it."""

    done: Done


@dataclass
class _Worker(Generic[Work, Done]):
    process: subprocess.Popen[bytes]
    pipe: Connection
    number: int = -1
    until: float = 0.0
    pieces: int = 0


class Workers(Generic[Work, Done]):
    """Processes that each do one piece of work at a time. Leaving the context ends them all.

    begin: is called in each process, and returns what does the work there; it is sent there, as the pieces are, by
    pickle. jobs: how many processes, LAG at most. limit_s: longest time for one piece of work, the start of a process
    included; who needs longer is killed.
    """

    def __init__(self, begin: Callable[[], Callable[[Work], Done]], jobs: int, limit_s: float) -> None:
        self._begin = begin
        self._limit_s = limit_s
        self._jobs = min(jobs, LAG)
        self._workers: list[_Worker[Work, Done]] = []

    def __enter__(self) -> Workers[Work, Done]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.pipe.close()
            _end(worker.process)
        self._workers.clear()

    def run(self, count: int, piece_of: Callable[[int], Work | Ready[Done]]) -> Iterator[Outcome[Done]]:
        """Yield the outcome of each piece, in their order.

        piece_of: makes the piece of a number, or has its result. Exactly the outcomes before the last LAG - 1 pieces
        have been yielded by then, so that what is learnt depends neither on the number of processes nor on how fast
        they are.
        """
        finished: dict[int, Outcome[Done]] = {}
        pieces: deque[tuple[int, Work]] = deque()
        made = 0
        for number in range(count):
            while made < min(number + LAG, count):
                piece = piece_of(made)
                if isinstance(piece, Ready):
                    finished[made] = Outcome(made, piece.done)
                else:
                    pieces.append((made, piece))
                made += 1
            while number not in finished:
                while pieces and self._has_free():
                    self._give(*pieces.popleft())
                finished.update((outcome.number, outcome) for outcome in self._collect())
            yield finished.pop(number)

    def _has_free(self) -> bool:
        return len(self._workers) < self._jobs or any(worker.number < 0 for worker in self._workers)

    def _give(self, number: int, piece: Work) -> None:
        worker = next((one for one in self._workers if one.number < 0), None) or self._start()
        worker.number, worker.until = number, time.monotonic() + self._limit_s
        worker.pieces += 1
        with contextlib.suppress(OSError):  # it has just died, which collecting tells
            worker.pipe.send(piece)

    def _start(self) -> _Worker[Work, Done]:
        ours, theirs = Pipe()
        command = [sys.executable, "-c", _MAIN, str(theirs.fileno()), json.dumps(sys.path), str(os.getpid())]
        # In a session of its own: Ctrl-C is for this process, which ends the others.
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], start_new_session=True, stdin=subprocess.DEVNULL, stdout=sys.stderr
        )
        theirs.close()
        worker: _Worker[Work, Done] = _Worker(process, ours)
        self._workers.append(worker)
        with contextlib.suppress(OSError):
            ours.send(self._begin)
        return worker

    def _collect(self) -> Iterator[Outcome[Done]]:
        busy = [worker for worker in self._workers if worker.number >= 0]
        left_s = min(worker.until for worker in busy) - time.monotonic()
        ready = wait([worker.pipe for worker in busy], timeout=max(left_s, 0.0))
        for worker in busy:
            number = worker.number
            if worker.pipe in ready:
                try:
                    done, lost = worker.pipe.recv()
                except (EOFError, OSError):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        worker.process.wait(_ENDING_S)
                    yield self._buried(worker, f"its process ended with {worker.process.returncode}")
                    continue
                worker.number = -1
                if worker.pieces >= _PIECES_PER_PROCESS:
                    self._retire(worker)
                yield Outcome(number, done, lost)
            elif time.monotonic() >= worker.until:
                yield self._buried(worker, f"not done within {self._limit_s:g} s")

    def _buried(self, worker: _Worker[Work, Done], why: str) -> Outcome[Done]:
        self._retire(worker)
        return Outcome(worker.number, None, why)

    def _retire(self, worker: _Worker[Work, Done]) -> None:
        worker.pipe.close()
        _end(worker.process)
        self._workers.remove(worker)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process; a busy machine may need longer to take it back, which loses nothing."""
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_S)


def serve() -> None:
    """Do the work that comes through the pipe until it closes, which it does when the parent ends; runs in a worker."""
    pipe = Connection(int(sys.argv[1]))
    end_with(int(sys.argv[3]))
    with contextlib.suppress(EOFError, OSError):
        perform = pipe.recv()()
        while True:
            piece = pipe.recv()
            try:
                reply = perform(piece), ""
            except Exception as error:  # any error costs this piece of work only
                reply = None, f"{type(error).__name__}: {error}"
            pipe.send(reply)
