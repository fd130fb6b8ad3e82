"""English verb forms for the training words."""

from __future__ import annotations


def _listed(words: str) -> list[str]:
    return words.split()


_DOUBLED = frozenset(
    _listed(
        "cut put chop flip set get stir mop hit rub sip hug strap sit scrub wrap stab drop pop stop shut let run dim"
    )
)
_DOUBLED |= frozenset(_listed("dim bin grab wet trip skip"))


def gerund(phrase: str) -> str:
    """Return "slicing bread" for "slice bread"."""
    verb, _, rest = phrase.partition(" ")
    if verb.endswith("ie"):
        verb = verb[:-2] + "y"
    elif verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        verb = verb[:-1]
    elif verb in _DOUBLED:
        verb += verb[-1]
    return f"{verb}ing {rest}".strip()


def capital(text: str) -> str:
    """Return the text with its first letter large."""
    return text[:1].upper() + text[1:]
