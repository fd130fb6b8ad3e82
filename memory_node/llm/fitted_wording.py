"""A wording in a given number of tokens, so that each latent token stands as far behind the word that it says."""

from __future__ import annotations

from collections.abc import Sequence

# Says nothing to a model.
FILLER = "\n"


def fitted(tokens: Sequence[int], count: int, filler: int) -> tuple[int, ...]:
    """Return the last `count` tokens, behind as many fillers as miss."""
    last = tokens[-count:] if count else ()
    return (*(filler,) * (count - len(last)), *last)
