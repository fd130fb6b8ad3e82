"""PlugMem's structuring of an ended episode by a language model: intent, prescription, return, statements with tags.

One call an episode. Each part of a reply is checked by rules and dropped where it does not hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_action
from memory_node.knowledge.extraction import ACTS, MOST_PROPOSITIONS, told_and_asked
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.text import MOST_CONCEPTS, concepts_of, name_key, plain_words, stems
from memory_node.knowledge.told.fact import ToldFact
from memory_node.knowledge.updating import added_by
from memory_node.llm.ask import ask_by_prompt
from memory_node.llm.chat import ChatModel, Deadline, LlmError, RejectedReplyError

# Newest steps that a model reads; what a longer episode did first is left out.
_MOST_STEPS = 60
_LONGEST_INTENT = 12  # words
# What an episode scores at least whose way is worth keeping: a part of what was asked is none (PlugMem: 8 to 9, most of
# the goal).
LEAST_SCORE = 8
# The share of a statement's words that its episode must hold.
_LEAST_FOUNDED = 0.6
# What may stand in an intent beside the words of the instruction.
_PLAIN_WORDS = frozenset(stems(" ".join(["something somebody", *ACTS])))

_PRONOUN = re.compile(r"\b(?:it|its|they|their|them|he|she|him|his|her|this|that)\b", re.I)
_Text = Annotated[str, Field(max_length=400)]


class StatedInEpisode(BaseModel):
    """A statement of a reply, and what it is about."""

    statement: Annotated[str, Field(min_length=3, max_length=400)]
    tags: Annotated[list[Annotated[str, Field(max_length=80)]], Field(max_length=30)] = []


class ReadEpisode(BaseModel):
    """The reply. steps: numbers from 1; score: PlugMem's return, how much of the instruction was done."""

    intent: _Text
    steps: Annotated[list[int], Field(max_length=_MOST_STEPS)]
    score: Annotated[int, Field(ge=1, le=10)]
    facts: Annotated[list[StatedInEpisode], Field(max_length=MOST_PROPOSITIONS)] = []


@dataclass(frozen=True)
class EpisodeReading:
    """What a model read out of an episode, checked.

    intent: what was wanted, "" where no rule lets its words stand. way: the successful steps that do it, in order.
    score: PlugMem's return, 1 to 10. statements: what it tells that stays true.
    """

    intent: str
    way: tuple[StepRecord, ...]
    score: int
    statements: tuple[Proposition, ...]


class ModelEpisodeReader:
    """Reads ended episodes.

    read_facts: reads a sentence that was told at a stamp (ns). keep: takes statements over. counts: what was read, and
    what was dropped and why. timeout_s: for the reply on one episode, corrections included.
    """

    def __init__(
        self,
        model: ChatModel,
        read_facts: Callable[[str, int], Sequence[ToldFact]],
        keep: Callable[[Sequence[Proposition]], object],
        timeout_s: float = 30.0,
        max_repairs: int = 1,
    ) -> None:
        self._model, self._read_facts, self.keep = model, read_facts, keep
        self._timeout_s, self._max_repairs = timeout_s, max_repairs
        self.counts: Counter[str] = Counter()

    def figures(self) -> Mapping[str, int]:
        """Return the counts for diagnostics."""
        return {f"knowledge.episodes.{name}": count for name, count in sorted(self.counts.items())}

    def read(self, episode: EpisodeSummary, steps: Sequence[StepRecord]) -> EpisodeReading | None:
        """Return what an episode tells; None where the model fails at it."""
        shown = steps[-_MOST_STEPS:]
        lines = [_line(step) for step in shown]
        said = f"{episode.instruction} {' '.join(lines)}"

        def checked(reply: ReadEpisode) -> tuple[ReadEpisode, str, tuple[StepRecord, ...]]:
            intent = " ".join(reply.intent.split()).strip(" .")
            _check_intent(intent, episode.instruction)
            return reply, intent, _chosen(reply.steps, shown)

        try:
            reply, intent, way = ask_by_prompt(
                self._model,
                ReadEpisode,
                "memory_episode.j2",
                Deadline(self._timeout_s),
                self._max_repairs,
                checked,
                instruction=episode.instruction,
                steps=lines,
            )
        except RejectedReplyError as error:
            self.counts[f"rejected.{error.reason}"] += 1
            return None
        except LlmError:
            self.counts["failed"] += 1
            return None
        self.counts["read"] += 1
        stated = [self._proposition(one, said, episode) for one in reply.facts]
        return EpisodeReading(intent, way, reply.score, tuple(filter(None, stated)))

    def _proposition(self, one: StatedInEpisode, said: str, episode: EpisodeSummary) -> Proposition | None:
        """Return a statement of a reply; None, and counted, where the episode does not say it.

        It binds like a told fact where a person has said each of its words in one sentence beside what was to be done;
        what "it" is there the order may tell.
        """
        text = " ".join(one.statement.split())
        words, (telling, asking) = set(stems(text)), told_and_asked(episode.instruction)
        if told_and_asked(text)[1]:
            self.counts["dropped.order"] += 1
            return None
        if added_by(text, said) or len(words & set(stems(said))) < _LEAST_FOUNDED * max(1, len(words)):
            self.counts["dropped.unfounded"] += 1
            return None
        tags = [name_key(tag) for tag in one.tags]
        spoken = f" {' '.join(plain_words(text))} "
        concepts = [tag for tag in tags if tag and f" {tag} " in spoken]
        self.counts["dropped.tag"] += len(tags) - len(concepts)
        stamp_ns = episode.ended_ns or episode.started_ns
        is_told = any(words <= _words_of(one, asking) and not added_by(text, one, *asking) for one in telling)
        facts = self._read_facts(text, stamp_ns) if is_told else ()
        return Proposition(
            text,
            frozenset(concepts[:MOST_CONCEPTS]) or concepts_of("", text),
            (f"{episode.id}:0",),
            stamp_ns,
            made_by=self._model.name,
            structure=tuple(fact.to_json() for fact in facts),
        )


def _words_of(telling: str, asking: Sequence[str]) -> set[str]:
    """Return the stems of a telling sentence; with those of the orders where a pronoun may mean what they name."""
    return set(stems(" ".join([telling, *asking] if _PRONOUN.search(telling) else [telling])))


def _line(step: StepRecord) -> str:
    """Return a step in a line: the call over classes, where it was, how it went, and what was seen then."""
    where = f" in the {step.room}" if step.room else ""
    went = "it worked" if step.success else f"it failed: {step.message or step.reason}"
    seen = f"; seen: {', '.join(step.relations)}" if step.relations else ""
    return f"{class_action(step)}{where}: {went}{seen}"


def _chosen(numbers: Sequence[int], shown: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
    """Return the steps of numbers from 1.

    Raises:
        RejectedReplyError: they are not in order, or one of them is no step that worked.
    """
    wrong = [n for n in numbers if not 1 <= n <= len(shown) or not shown[n - 1].success]
    if wrong or list(numbers) != sorted(set(numbers)):
        raise RejectedReplyError("steps", f"steps {list(numbers)}: expected steps that worked, in order, each once")
    return tuple(shown[n - 1] for n in numbers)


def _check_intent(intent: str, instruction: str) -> None:
    """Raise RejectedReplyError where words of an intent are neither of the instruction nor plain verbs."""
    strange = set(stems(intent)) - set(stems(instruction)) - _PLAIN_WORDS
    if strange or len(plain_words(intent)) > _LONGEST_INTENT:
        words = f"; nobody said {', '.join(sorted(strange))}" if strange else ""
        raise RejectedReplyError("intent", f"intent {intent!r:.100}: expected at most {_LONGEST_INTENT} words{words}")
