"""The rows of `bench compiler --on alfworld`: one frozen executor, memory compiled in several ways."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.alfworld.command import Setting, play_all
from benchmarks.alfworld.compiled_aid import CompiledSetting
from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.policy import with_shipped_adapter
from benchmarks.alfworld.transcripts import TranscriptFile
from benchmarks.compiler_variants import FULL, NONE, OF_COMPILERS, STATIC, WITH_LATENT, row_of
from benchmarks.model_figures import llm_config
from benchmarks.stream.alfworld import progress_of
from memory_node.context.config import CompilerConfig

ALFWORLD_VARIANTS = (NONE, STATIC, *OF_COMPILERS, *WITH_LATENT)


@dataclass(frozen=True)
class Row:
    """What one row is made with. compiler: "none" where nothing is compiled. soft_memory: of the latent tokens."""

    variant: str
    compiler: str
    soft_memory: Path | None = None

    @property
    def name(self) -> str:
        """The variant; of several soft memories each by the name of its file."""
        return self.soft_memory.stem if self.soft_memory is not None and self.variant == FULL else self.variant

    def setting(self, args: argparse.Namespace, config: CompilerConfig) -> CompiledSetting | None:
        """Return how memory is compiled, None for no memory."""
        if self.variant == NONE:
            return None
        if self.soft_memory is not None:
            config = config.changed(llm=config.llm.changed(soft_memory_path=str(self.soft_memory)))
        who = "rules" if self.compiler == "none" else self.compiler
        return CompiledSetting(self.variant, who, config, args.attempts, args.seed)


def rows_asked(variants: Sequence[str], compilers: Sequence[str], soft_memories: Sequence[Path]) -> Iterator[Row]:
    """Yield the rows of some variants: one for each compiler, or for each soft memory of the learned one."""
    for variant in variants:
        if variant in WITH_LATENT:
            yield from (Row(variant, "learned", path) for path in soft_memories)
        else:
            yield from (Row(variant, name) for name in (compilers if variant in OF_COMPILERS else ("none",)))


def rows_of_alfworld(
    args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured.

    Raises:
        ResourceMissingError: the engine is not installed.
        NotFoundError: a file is not there.
    """
    require_engine()
    games = load_games(args.games, args.limit, args.seed)
    model = with_shipped_adapter(llm_config(args))
    with Learnt(args.memory_file, learns=False) as learnt:
        for row in rows_asked(variants, args.compilers, args.soft_memory or ()):
            compiled = row.setting(args, config)
            setting = Setting("executor", args.max_steps, model, compiled=compiled)
            known = learnt if compiled is not None else None
            [played] = play_all([games], setting, args.jobs, known, TranscriptFile(None))
            progress = [progress_of(game) for game in played if not game.lost]
            yield row_of(row.name, row.compiler, played, progress)
