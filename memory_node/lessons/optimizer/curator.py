"""UMEM: one policy extracts from an attempt and manages the bank: ADD or UPDATE over the retrieved neighbourhood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import NotFoundError
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.bank import Change, LessonBank
from memory_node.lessons.config import OptimizerConfig
from memory_node.lessons.lesson import ExperienceLog, Lesson, write_lessons
from memory_node.lessons.optimizer.attempt import Attempt, Optimizer, Proposal
from memory_node.lessons.optimizer.prompt import PromptOptimizer
from memory_node.lessons.optimizer.rules import RulesOptimizer
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.chat import RejectedReplyError
from memory_node.llm.open_model import ModelShelf


def open_curator(
    config: OptimizerConfig,
    embedder: TextEmbedder,
    kinds: ObjectCatalogue,
    models: ModelShelf,
    log: ExperienceLog | None = None,
) -> Curator | None:
    """Return the curator of an empty bank, None where nobody decides what is kept."""
    if config.kind == "none":
        return None
    vetting = Vetting(kinds)
    optimizer: Optimizer = RulesOptimizer()
    if config.kind == "model":
        optimizer = PromptOptimizer(models.open_or_excuse(config.llm), vetting, config.llm)
    return Curator(LessonBank(embedder, config), optimizer, vetting, log)


@dataclass(frozen=True)
class Curated:
    """What an attempt left. change: what the candidate did, None where none was taken over; proposal: what the
    optimizer said."""

    proposal: Proposal
    change: Change | None


class Curator:
    """Not thread-safe; its owner locks. Every change is in the log when it returns."""

    def __init__(
        self, bank: LessonBank, optimizer: Optimizer, vetting: Vetting, log: ExperienceLog | None = None
    ) -> None:
        self.bank = bank
        self._optimizer = optimizer
        self._vetting = vetting
        self._log = log or ExperienceLog()
        self._counts: Counter[str] = Counter()

    @property
    def is_quick(self) -> bool:
        """Whether its optimizer answers at once."""
        return self._optimizer.is_quick

    def learn(self, attempt: Attempt, given: Collection[str] = ()) -> Curated:
        """Take over what an attempt leaves. given: ids of the lessons that it was carried out with."""
        shown = self.note(attempt, given)
        return self.take_over(attempt, shown, self.propose(attempt, shown))

    def note(self, attempt: Attempt, given: Collection[str] = ()) -> tuple[Lesson, ...]:
        """Count how an attempt went, take back what that proves bad, and return what its query retrieves now."""
        counted, bad = self.bank.note_outcome(attempt.query, float(attempt.success), given)
        self._counts["taken_back"] += len(bad)
        write_lessons(self._log, counted, bad)
        return self.bank.retrieve(attempt.query)

    def propose(self, attempt: Attempt, shown: Sequence[Lesson]) -> Proposal:
        """Ask the optimizer. It takes as long as its model does, and may be called without the owner's lock."""
        return self._optimizer.propose(attempt, shown)

    def take_over(self, attempt: Attempt, shown: Sequence[Lesson], proposal: Proposal) -> Curated:
        """Take a proposal over where it passes."""
        if proposal.candidate is None:
            self._counts["nothing_said"] += 1
            return Curated(proposal, None)
        try:
            candidate = self._vetting.read(proposal.candidate.text(), attempt, shown)
            change = self.bank.apply(candidate, shown, attempt, self._optimizer.name)
        except (RejectedReplyError, NotFoundError) as error:  # not found: a task that ended meanwhile proved it bad
            reason = error.reason if isinstance(error, RejectedReplyError) else "gone"
            self._counts[f"rejected.{reason}"] += 1
            return Curated(proposal, None)
        self._counts["added" if change.added else "updated"] += 1
        self._counts["evicted"] += change.evicted is not None
        write_lessons(self._log, [change.lesson], filter(None, [change.evicted]))
        return Curated(proposal, change)

    def figures(self) -> dict[str, int]:
        """Return how many lessons there are, and what became of proposals."""
        return {"lessons.kept": len(self.bank)} | {f"lessons.{key}": n for key, n in sorted(self._counts.items())}
