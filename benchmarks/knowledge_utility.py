"""`bench knowledge --utility`: what memories of several kinds are worth for their tokens, over budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.knowledge_cases import AskedQuestion, Collection, Dataset
from benchmarks.knowledge_rankers import NoLog
from benchmarks.knowledge_readers import Reader
from benchmarks.memory_utility import Answered, UtilityRow, utility_row
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.answering import Mode
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.text import names_in, plain_words, stems
from memory_node.search.lexical_index import LexicalIndex
from memory_node.search.request_words import content_tokens

BUDGETS = (64, 128, 256, 512, 1024)
CANDIDATES = 10
TRUTHS = ("yes", "no")
_STATEMENTS = 40
# Passages whose names are wrong answers that are hard to tell from the right one.
_NEAR_PASSAGES = 5

# Returns what a memory tells of (the question's number, the question), best first.
Recall = Callable[[int, AskedQuestion], Sequence[str]]


@dataclass(frozen=True)
class Case:
    """A question with candidates for its answer; the first is right."""

    number: int
    question: AskedQuestion
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """How a case was answered: by the task's score (answer F1) and by the probability of the right answer."""

    by_score: Answered
    by_likelihood: Answered


def utility_rows(
    dataset: Dataset, embedder: TextEmbedder, reader: Reader, budgets: Sequence[int], seed: int
) -> Iterator[UtilityRow]:
    """Yield the rows of rows_over() for questions about passages or talks."""
    asked = (
        (list(cases_of(collection, seed + place)), recalls_of(collection, embedder, seed + place))
        for place, collection in enumerate(dataset.collections)
    )
    yield from rows_over(dataset.name, asked, reader, budgets)


def rows_over(
    name: str,
    asked: Iterable[tuple[Sequence[Case], Mapping[str, Recall]]],
    reader: Reader,
    budgets: Sequence[int],
) -> Iterator[UtilityRow]:
    """Yield a row for each memory and budget, by score and by likelihood.

    Raises:
        InvalidValueError: no question has an answer.
    """
    once = _ReadOnce(reader)
    read: dict[str, dict[int, list[Read]]] = {}
    for cases, recalls in asked:
        for memory, recall in recalls.items():
            by_budget = read.setdefault(memory, {budget: [] for budget in budgets})
            for case in cases:
                told = recall(case.number, case.question)
                for budget in budgets:
                    by_budget[budget].append(_read(once, case, told, budget))
    for memory, by_budget in read.items():
        if not all(by_budget.values()):
            raise InvalidValueError(f"{name}: expected questions with answers, got none")
        yield from _rows_of(name, reader.name, memory, by_budget)


def cases_of(collection: Collection, seed: int) -> Iterator[Case]:
    """Yield the questions that have an answer, each with the right and with wrong candidates.

    Wrong ones are names in the passages most like the question, then answers of other questions; of yes, no.
    """
    generator = np.random.default_rng(seed)
    index = LexicalIndex.of(map(content_tokens, collection.passages))
    answers = [question.answers[0] for question in collection.questions if question.answers]
    for number, question in enumerate(collection.questions):
        if not question.answers:
            continue
        right = question.answers[0]
        if right.lower() in TRUTHS:
            wrong = [truth for truth in TRUTHS if truth != right.lower()]
        else:
            nearest = np.argsort(-index.shares(content_tokens(question.text)), kind="stable")[:_NEAR_PASSAGES]
            names = [name for place in nearest for name in names_in(collection.passages[place])]
            others = [answers[place] for place in generator.permutation(len(answers))]
            asked = set(stems(question.text))
            # What the question names is seldom what it asks for.
            names = [name for name in names if not set(stems(name)) <= asked]
            wrong = [*_unlike(right, names)[: CANDIDATES // 2], *_unlike(right, others)]
        yield Case(number, question, tuple(dict.fromkeys([right, *wrong]))[:CANDIDATES])


def recalls_of(collection: Collection, embedder: TextEmbedder, seed: int) -> dict[str, Recall]:
    """Return the memories that are compared: the paper's ablations and knowledge."""
    graph = KnowledgeGraph(embedder, NoLog())
    graph.add(collection.steps)
    graph.embed_statements()
    statements = [one.text for one in graph.propositions()]
    generator = np.random.default_rng(seed)
    passages = collection.passages
    index = LexicalIndex.of(map(content_tokens, passages))

    def raw_chunks(_: int, question: AskedQuestion) -> Sequence[str]:
        order = np.argsort(-index.shares(content_tokens(question.text)), kind="stable")
        return [passages[place] for place in order[:_STATEMENTS]]

    def random_nodes(_: int, question: AskedQuestion) -> Sequence[str]:
        return [statements[place] for place in generator.permutation(len(statements))[:_STATEMENTS]]

    def without_reasoning(_: int, question: AskedQuestion) -> Sequence[str]:
        return [hit.statement.text for hit in graph.search(question.text, _STATEMENTS)]

    def knowledge(_: int, question: AskedQuestion) -> Sequence[str]:
        return [one.text for one in graph.ask(question.text, Mode.SEMANTIC, _STATEMENTS).propositions]

    return {
        "no-memory": lambda *_: [],
        "random-nodes": random_nodes,
        "raw-chunks": raw_chunks,
        "no-reasoning": without_reasoning,
        "knowledge": knowledge,
        "gold": lambda _, question: [passages[place] for place in sorted(question.gold)],
    }


def answer_f1(said: str, right: str) -> float:
    """Return the F1 of an answer's words (Rajpurkar et al. 2016)."""
    first, second = Counter(plain_words(said)), Counter(plain_words(right))
    common = sum((first & second).values())
    return 2.0 * common / (sum(first.values()) + sum(second.values())) if common else 0.0


def _unlike(right: str, texts: Sequence[str]) -> list[str]:
    return [text for text in texts if answer_f1(text, right) == 0.0 and text.lower() not in TRUTHS]


class _ReadOnce:
    """A Reader that reads the same memory for the same question once: a larger budget often holds nothing more."""

    def __init__(self, reader: Reader) -> None:
        self.name = reader.name
        self.count_tokens = lru_cache(maxsize=None)(reader.count_tokens)
        self._reader = reader
        self._read: dict[tuple[str, tuple[str, ...]], NDArray[np.float64]] = {}

    def probabilities(self, question: str, memory: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
        key = (question, tuple(memory))
        if key not in self._read:
            self._read[key] = self._reader.probabilities(question, memory, candidates)
        return self._read[key]


def _read(reader: Reader, case: Case, texts: Sequence[str], budget: int) -> Read:
    memory, tokens = texts_within(texts, reader.count_tokens, budget)
    base = reader.probabilities(case.question.text, [], case.candidates)
    now = reader.probabilities(case.question.text, memory, case.candidates) if memory else base
    return Read(
        Answered(_score(base, case), _score(now, case), tokens), Answered(float(base[0]), float(now[0]), tokens)
    )


def texts_within(texts: Iterable[str], count_tokens: Callable[[str], int], budget: int) -> tuple[list[str], int]:
    """Return the first whole texts that fit into a budget of tokens, and their tokens."""
    kept: list[str] = []
    used = 0
    for text in texts:
        tokens = count_tokens(text)
        if used + tokens > budget:
            break
        kept.append(text)
        used += tokens
    return kept, used


def _score(probabilities: NDArray[np.float64], case: Case) -> float:
    """Return the F1 of the most probable answer; the mean of several that are as probable."""
    best = np.flatnonzero(np.isclose(probabilities, probabilities.max()))
    return float(np.mean([answer_f1(case.candidates[place], case.candidates[0]) for place in best]))


def _rows_of(name: str, reader: str, memory: str, read: Mapping[int, Sequence[Read]]) -> Iterator[UtilityRow]:
    curves = {
        "score": {budget: [one.by_score for one in all_] for budget, all_ in read.items()},
        "likelihood": {budget: [one.by_likelihood for one in all_] for budget, all_ in read.items()},
    }
    for p, curve in curves.items():
        for budget, cases in curve.items():
            yield utility_row(name, reader, memory, budget, p, cases)
