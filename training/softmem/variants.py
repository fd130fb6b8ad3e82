"""The rows of the paper's ablation of Soft-Mem; N = 0 is the compiler without soft memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variant:
    """A soft memory to compare. tokens: N. orthogonal: whether L_orth counts."""

    tokens: int = 16
    linear: bool = False
    orthogonal: bool = True


VARIANTS = {
    "full": Variant(),
    "soft-4": Variant(4),
    "soft-8": Variant(8),
    "soft-32": Variant(32),
    "no-orthogonality": Variant(orthogonal=False),
    "linear": Variant(linear=True),
}
