"""The pairs that learn the variants of a soft memory, with one compiler and one executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.adapters.adapter import load_adapter
from training.adapters.base_model import BaseModel
from training.adapters.processes import device
from training.adapters.text_model import inner, width
from training.softmem.soft_memory import SoftMemory
from training.softmem.soft_pair import ORTHOGONALITY, SideBySide, SoftPair


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


def open_models(base: BaseModel, rank: int, compiler: Path, executor: Path, keep_compiler: bool) -> tuple[Any, Any]:
    """Return compiler and executor of one base with their adapters; see PairModels.

    Raises:
        ValueError: an adapter is of another model.
    """
    says, acts = base.adapted(rank), base.adapted(rank)
    load_adapter(says, compiler)
    load_adapter(acts, executor)
    if keep_compiler:
        says = says.merge_and_unload().requires_grad_(False)
    return says, acts.merge_and_unload()  # what stays as it is computes faster without an adapter beside it


@dataclass
class PairModels:
    """Compiler and executor of all pairs.

    compiler: merged with its adapter where it is kept as it is, else with that adapter free.
    neutral: the token near which latent tokens begin.
    form: the tokens near which placeholders begin, again and again.
    """

    compiler: Any
    executor: Any
    neutral: int
    form: Sequence[int]
    _last: SoftPair | None = None

    def together(self, names: Sequence[str]) -> SideBySide:
        """Return new pairs of some variants."""
        return SideBySide({name: self._pair(name) for name in names})

    def _pair(self, name: str) -> SoftPair:
        variant, size = VARIANTS[name], width(self.compiler)
        embeddings = inner(self.compiler).get_input_embeddings().weight
        first = embeddings[[self.form[at % len(self.form)] for at in range(variant.tokens)]]
        said = inner(self.executor).get_input_embeddings().weight[self.neutral]
        self._last = SoftPair(
            self.compiler,
            self.executor,
            SoftMemory(size, size, variant.tokens, variant.linear, first, said),
            orthogonality=ORTHOGONALITY if variant.orthogonal else 0.0,
            beside=self._last,
            neutral=self.neutral,
        ).to(device())
        return self._last
