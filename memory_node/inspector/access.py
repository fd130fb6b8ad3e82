"""Access: roles, tokens, and the rate limit of a client."""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from memory_node.domain.errors import RobotMemoryError

Role = Literal["read", "edit", "forget"]
# Each role may do what those before it may.
ROLES: tuple[Role, ...] = ("read", "edit", "forget")
TOKEN_VARIABLE = "ROBOT_MEMORY_TOKEN"
_SHORTEST_TOKEN = 16
_NAME = re.compile(r"[\w.@-]{1,64}")


@dataclass(frozen=True)
class Caller:
    """Who asks: a name for the record of edits, and what it may do."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Return whether the caller's role includes another one."""
        return ROLES.index(self.role) >= ROLES.index(role)


class TokenBook:
    """Callers by their tokens; only digests are kept.

    Args:
        tokens: (token, caller).

    Raises:
        RobotMemoryError: a token is too short to be a secret, or is given twice.
    """

    def __init__(self, tokens: Iterable[tuple[str, Caller]] = ()) -> None:
        self._callers: dict[bytes, Caller] = {}
        for token, caller in tokens:
            if len(token) < _SHORTEST_TOKEN:
                raise RobotMemoryError(f"the token of {caller.name!r}: expected {_SHORTEST_TOKEN} characters or more")
            digest = _digest(token)
            if digest in self._callers:
                raise RobotMemoryError(f"{caller.name!r} and {self._callers[digest].name!r} have the same token")
            self._callers[digest] = caller

    def __len__(self) -> int:
        return len(self._callers)

    def limited_to(self, role: Role) -> TokenBook:
        """Return the same callers with no more than a role."""
        limited = TokenBook()
        limited._callers = {
            digest: replace(caller, role=min(caller.role, role, key=ROLES.index))
            for digest, caller in self._callers.items()
        }
        return limited

    def caller(self, token: str) -> Caller | None:
        """Return whose token it is, None for nobody's; takes as long for either."""
        asked, found = _digest(token), None
        for digest, caller in self._callers.items():
            if hmac.compare_digest(digest, asked):
                found = caller
        return found


def read_tokens(path: Path) -> TokenBook:
    """Read a file of lines `NAME ROLE TOKEN`; empty lines and those that begin with # say nothing.

    Raises:
        RobotMemoryError: a line is not of this form, or others than the owner may read the file.
    """
    if path.stat().st_mode & 0o077:
        raise RobotMemoryError(f"{path}: others may read it; chmod 600 it first")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        role = next((role for role in ROLES if role == words[1]), None) if len(words) == 3 else None
        if role is None or not _NAME.fullmatch(words[0]):
            raise RobotMemoryError(f"{path}, line {number}: expected NAME ROLE TOKEN, ROLE one of {', '.join(ROLES)}")
        found.append((words[2], Caller(words[0], role)))
    if not found:
        raise RobotMemoryError(f"{path}: expected at least one line NAME ROLE TOKEN, got none")
    return TokenBook(found)


class RateLimit:
    """A token bucket for each client; thread-safe.

    Args:
        per_s: requests a second in the long run. burst: requests at once. clock: seconds, monotonic. most_clients: so
            many buckets are kept; the one used longest ago goes first, and begins full when its client comes again.
    """

    def __init__(self, per_s: float, burst: float, clock: Callable[[], float], most_clients: int = 4096) -> None:
        self._per_s, self._burst, self._clock, self._most = per_s, burst, clock, most_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, client: str) -> float:
        """Count a request; return 0 if it may go on, else in how many seconds the next one may."""
        now = self._clock()
        with self._lock:
            level, since = self._buckets.pop(client, (self._burst, now))
            level = min(self._burst, level + (now - since) * self._per_s)
            allowed = level >= 1.0
            self._buckets[client] = (level - allowed, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        return 0.0 if allowed else (1.0 - level) / self._per_s


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
