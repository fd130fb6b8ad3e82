"""Grammars in GBNF, llama.cpp's notation: the pieces that our grammars are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(text: str) -> str:
    """Return a text as GBNF takes it word for word."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    return letter if letter.isprintable() else f"\\U{ord(letter):08X}"


class Rules:
    """The rules of a grammar by name, in the order in which they were added."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}

    def add(self, name: str, body: str) -> str:
        """Add a rule and return its name. name: letters, digits and dashes."""
        self._bodies[name] = body
        return name

    def add_choice(self, name: str, texts: Iterable[str]) -> str:
        """Add a rule for one of several texts and return its name."""
        return self.add(name, one_of_texts(dict.fromkeys(texts, "")))

    def __contains__(self, name: str) -> bool:
        return name in self._bodies

    def text(self) -> str:
        """Return the grammar."""
        return "\n".join(f"{name} ::= {body}" for name, body in self._bodies.items())


def one_of(bodies: Sequence[str]) -> str:
    """Return what stands for any of several bodies."""
    return bodies[0] if len(bodies) == 1 else f"({' | '.join(bodies)})"


def repeated(body: str, least: int, most: int) -> str:
    """Return what stands for a body so many times."""
    return f"({body}){{{least},{most}}}"


def one_of_texts(followed_by: Mapping[str, str]) -> str:
    """Return what stands for one of several texts, each with what follows it ("" for nothing).

    Beginnings that texts share are written once: llama.cpp follows all alternatives at the same time, letter by
    letter, and a home has hundreds of ids.
    """
    return _shared(sorted(followed_by), 0, followed_by)


def _shared(texts: Sequence[str], start: int, followed_by: Mapping[str, str]) -> str:
    """Return what stands for one of sorted texts that agree up to `start`, from there on."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(text[start : start + 1], []).append(text)
    bodies = []
    for first, group in groups.items():
        if len(group) == 1:
            rest = literal(group[0][start:]) if first else ""
            bodies.append(f"{rest} {followed_by[group[0]]}".strip() or '""')
        else:
            end = _agreed(group, start)
            bodies.append(f"{literal(group[0][start:end])} {_shared(group, end, followed_by)}")
    return one_of(bodies)


def _agreed(texts: Sequence[str], start: int) -> int:
    """Return up to where sorted texts agree: as far as the first and the last of them."""
    first, last = texts[0], texts[-1]
    end = start
    while end < min(len(first), len(last)) and first[end] == last[end]:
        end += 1
    return end
