"""`bench knowledge --answered`: a language model answers from several memories, and what these are worth to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.knowledge_cases import AskedQuestion, Collection, Dataset
from benchmarks.knowledge_rankers import NoLog
from benchmarks.knowledge_utility import TRUTHS, answer_f1, texts_within
from benchmarks.memory_utility import Answered, UtilityRow, utility_row
from memory_node.domain.context import estimate_tokens
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.answering import NOTHING, KnowledgeAnswer, dated
from memory_node.knowledge.by_model import FindStatements, ModelAnswers
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.text import stems
from memory_node.llm.ask import answer_of
from memory_node.llm.chat import ChatModel, Deadline, Message
from memory_node.search.lexical_index import LexicalIndex
from memory_node.search.request_words import content_tokens

# Passages or sessions of a question's memory besides those that answer it.
OTHERS = 10
# Tokens of what a search finds.
BUDGET = 512
_FOUND = 40
_SYSTEM = "You answer a question in as few words as possible, a name, a date, yes or no. Use what is known."


@dataclass(frozen=True)
class Memories:
    """What is compared for one question: the statements of its memory, by search and at random, and its raw texts."""

    question: AskedQuestion
    statements: FindStatements
    random: FindStatements
    raw: FindStatements


def answered_rows(
    dataset: Dataset, embedder: TextEmbedder, model: ChatModel, count: int, seed: int, timeout_s: float
) -> Iterator[UtilityRow]:
    """Yield a row for each memory over `count` questions that are drawn by the seed; all prompts wait at once.

    knowledge: PlugMem's chain, by the model; its reasoned answer is the memory that the reader gets. no-structuring:
    the same over raw passages or turns. no-retrieval: the same over statements at random, without planned searches.
    no-reasoning: the reader gets what the search finds. P is the F1 of the reader's answer; its base has no memory.
    """
    memories = list(_drawn(dataset, embedder, count, seed))
    reader = _Reader(model, timeout_s)
    with ThreadPoolExecutor(max(1, len(memories) * len(_RECALLS))) as pool:
        bases = list(pool.map(lambda one: reader.f1(one.question, ()), memories))
        pairs = [(name, one, base) for name in _RECALLS for one, base in zip(memories, bases)]
        answers = list(pool.map(lambda pair: reader.answered(*pair), pairs))
    for place, name in enumerate(_RECALLS):
        mine = answers[place * len(memories) : (place + 1) * len(memories)]
        yield utility_row(dataset.name, model.name, name, BUDGET, "score", mine)


def held_rows(dataset: Dataset, embedder: TextEmbedder, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield for each memory the share of the drawn questions of which a whole answer stands in what one search finds,
    within the budget; yes and no stand nowhere."""
    asked = [one for one in _drawn(dataset, embedder, count, seed) if one.question.answers[0].lower() not in TRUTHS]
    finds: dict[str, Callable[[Memories], FindStatements]] = {
        "knowledge": lambda one: one.statements,
        "no-structuring": lambda one: one.raw,
        "no-retrieval": lambda one: one.random,
    }
    for name, find in finds.items():
        held = [_holds(one.question, find(one)(one.question.text, _FOUND)) for one in asked]
        yield {"dataset": dataset.name, "memory": name, "budget": BUDGET, "questions": len(held), "held": np.mean(held)}


def _holds(question: AskedQuestion, found: Sequence[Proposition]) -> bool:
    words = {word for one in found for word in stems(one.text)}
    return any(words.issuperset(stems(answer)) for answer in question.answers)


def _drawn(dataset: Dataset, embedder: TextEmbedder, count: int, seed: int) -> Iterator[Memories]:
    asked = [(one, question) for one in dataset.collections for question in one.questions if question.answers]
    generator = np.random.default_rng(seed)
    for place in sorted(generator.permutation(len(asked))[:count]):
        collection, question = asked[place]
        yield memories_of(collection, question, embedder, generator)


def memories_of(
    collection: Collection, question: AskedQuestion, embedder: TextEmbedder, generator: np.random.Generator
) -> Memories:
    """Return the memories over the passages (of talks, sessions) that answer a question, and ten others."""
    steps = collection.steps
    sessions = list(dict.fromkeys(one.session for one in steps))
    gold = {one.session for one in steps if collection.passage_of[one.source] in question.gold}
    others = [sessions[place] for place in generator.permutation(len(sessions)) if sessions[place] not in gold]
    kept = [one for one in steps if one.session in gold.union(others[:OTHERS])]
    graph = KnowledgeGraph(embedder, NoLog())
    graph.add(kept)
    graph.embed_statements()
    every = list(graph.propositions())
    order = generator.permutation(len(every))
    first = {collection.passage_of[one.source]: one for one in reversed(kept)}
    texts = [
        Proposition(collection.passages[place], frozenset(), (one.source,), one.stamp_ns)
        for place, one in sorted(first.items())
    ]
    index = LexicalIndex.of(content_tokens(one.text) for one in texts)

    def raw(query: str, k: int) -> Sequence[Proposition]:
        best = np.argsort(-index.shares(content_tokens(query)), kind="stable")
        return [texts[place] for place in best[:k]]

    def random(query: str, k: int) -> Sequence[Proposition]:
        return [every[place] for place in order[:k]]

    return Memories(question, _within(graph.find), _within(random), _within(raw))


def _within(find: FindStatements) -> FindStatements:
    def found(query: str, k: int) -> Sequence[Proposition]:
        best = find(query, k)
        return best[: len(texts_within(map(dated, best), estimate_tokens, BUDGET)[0])]

    return found


@dataclass(frozen=True)
class _Reader:
    model: ChatModel
    timeout_s: float

    def answered(self, name: str, memories: Memories, base: float) -> Answered:
        """Return how a question was answered with a memory of this name; an empty one tells nothing."""
        memory = _RECALLS[name](self, memories)
        if not memory:
            return Answered(base, base, 0)
        return Answered(base, self.f1(memories.question, memory), estimate_tokens("\n".join(memory)))

    def f1(self, question: AskedQuestion, memory: Sequence[str]) -> float:
        known = "".join(f"- {one}\n" for one in memory)
        asked = f"Known:\n{known}\nQuestion: {question.text}" if known else f"Question: {question.text}"
        messages = (Message("system", _SYSTEM), Message("user", asked))
        said = answer_of(self.model.reply(messages, Deadline(self.timeout_s)))
        return max(answer_f1(said, right) for right in question.answers)

    def reasoned(self, memories: Memories, find: FindStatements, hops: int = 2) -> Sequence[str]:
        asked = memories.question.text
        chain = ModelAnswers(self.model, find, hops, self.timeout_s)
        answer = chain.answer(asked, _FOUND, lambda mode: KnowledgeAnswer(asked, NOTHING, mode, 0.0))
        return [] if answer.abstains else [answer.text]


_RECALLS: dict[str, Callable[[_Reader, Memories], Sequence[str]]] = {
    "knowledge": lambda reader, memories: reader.reasoned(memories, memories.statements),
    "no-structuring": lambda reader, memories: reader.reasoned(memories, memories.raw),
    "no-retrieval": lambda reader, memories: reader.reasoned(memories, memories.random, hops=1),
    "no-reasoning": lambda _, memories: list(map(dated, memories.statements(memories.question.text, _FOUND))),
}
