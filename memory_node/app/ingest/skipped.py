"""What a recording holds that could not be used: counted by reason, with the names of the first files."""

from __future__ import annotations

from collections import Counter

from memory_node.domain.errors import InputSkippedError

_NAMED_OF_EACH = 20


class Skipped(Counter[str]):
    """Counts by reason; `named`: of each reason what the first ones were."""

    def __init__(self) -> None:
        super().__init__()
        self.named: dict[str, list[str]] = {}

    def note(self, error: InputSkippedError, name: str) -> None:
        """Count an input that cannot be used; name: of the image or message."""
        self[error.reason] += 1
        listed = self.named.setdefault(error.reason, [])
        if len(listed) < _NAMED_OF_EACH:
            listed.append(error.detail if name in error.detail else f"{name}: {error.detail}")

    def add(self, other: Skipped) -> None:
        """Count what another reader skipped, too."""
        for reason, count in other.items():
            self[reason] += count
            listed = self.named.setdefault(reason, [])
            listed += other.named.get(reason, [])[: _NAMED_OF_EACH - len(listed)]

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.named.clear()

    def told(self) -> str:
        """Return the counts in words, with the first name of each reason; empty: nothing was skipped."""
        parts = []
        for reason, count in sorted(self.items()):
            first = next(iter(self.named.get(reason, ())), "")
            parts.append(f"{count} {reason}" + (f" ({first})" if first else ""))
        return ", ".join(parts)
