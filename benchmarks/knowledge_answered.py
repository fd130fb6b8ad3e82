"""`bench knowledge --answered`: a language model answers from several memories, and what these are worth to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.knowledge_cases import AskedQuestion, Collection, Dataset
from benchmarks.knowledge_rankers import NoLog
from benchmarks.knowledge_utility import answer_f1, texts_within
from benchmarks.memory_utility import Answered, UtilityRow, utility_row
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.token_count import estimate_tokens
from memory_node.knowledge.answering import NOTHING, KnowledgeAnswer, quoted
from memory_node.knowledge.by_model.answering import FindStatements, ModelAnswers
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.llm.ask import answer_of
from memory_node.llm.chat import ChatModel, Message
from memory_node.llm.deadline import Deadline
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
    """Yield a row for each memory over `count` questions that are drawn by the seed; all questions wait at once.

    knowledge: PlugMem's chain, by the model; its reasoned answer is the memory that the reader gets. no-structuring:
    the same over raw passages or turns. no-retrieval: the same over statements at random, without planned searches.
    no-reasoning: the reader gets what the search finds. P is the F1 of the reader's answer; its base has no memory.
    """
    asked = [(one, question) for one in dataset.collections for question in one.questions if question.answers]
    generator = np.random.default_rng(seed)
    drawn = [asked[place] for place in sorted(generator.permutation(len(asked))[:count])]
    memories = [memories_of(one, question, embedder, generator) for one, question in drawn]
    with ThreadPoolExecutor(max(1, len(memories))) as pool:
        answers = list(pool.map(lambda one: _answered(one, model, timeout_s), memories))
    for name in answers[0]:
        yield utility_row(dataset.name, model.name, name, BUDGET, "score", [one[name] for one in answers])


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
        return best[: len(texts_within(map(quoted, best), estimate_tokens, BUDGET)[0])]

    return found


def _answered(memories: Memories, model: ChatModel, timeout_s: float) -> dict[str, Answered]:
    """Return by memory how a question was answered."""
    question = memories.question.text

    def f1(memory: Sequence[str]) -> float:
        said = _read(model, question, memory, timeout_s)
        return max(answer_f1(said, right) for right in memories.question.answers)

    def reasoned(find: FindStatements, hops: int = 2) -> Sequence[str]:
        chain = ModelAnswers(model, find, hops, timeout_s)
        answer = chain.answer(question, _FOUND, lambda mode: KnowledgeAnswer(question, NOTHING, mode, 0.0))
        return [] if answer.abstains else [answer.text]

    recalls: dict[str, Callable[[], Sequence[str]]] = {
        "knowledge": lambda: reasoned(memories.statements),
        "no-structuring": lambda: reasoned(memories.raw),
        "no-retrieval": lambda: reasoned(memories.random, hops=1),
        "no-reasoning": lambda: list(map(quoted, memories.statements(question, _FOUND))),
    }
    base = f1([])
    nothing = Answered(base, base, 0)
    found: dict[str, Answered] = {}
    for name, recall in recalls.items():
        memory = recall()
        tokens = estimate_tokens("\n".join(memory))
        found[name] = replace(nothing, with_memory=f1(memory), tokens=tokens) if memory else nothing
    return found


def _read(model: ChatModel, question: str, memory: Sequence[str], timeout_s: float) -> str:
    known = "".join(f"- {one}\n" for one in memory)
    asked = f"Known:\n{known}\nQuestion: {question}" if known else f"Question: {question}"
    return answer_of(model.reply((Message("system", _SYSTEM), Message("user", asked)), Deadline(timeout_s)))
