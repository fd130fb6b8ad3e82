"""`bench knowledge --data RUNS.jsonl --utility`: what memories of games are worth for choosing the next command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.knowledge_cases import AskedQuestion
from benchmarks.knowledge_rankers import NoLog
from benchmarks.knowledge_utility import CANDIDATES, Case, Recall
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.transcripts import Transcript, read_transcripts
from memory_node.search.lexical import Bm25

# Commands of each run that are asked for.
_ASKED = 3
# Turns that a question shows.
_SHOWN = 3
_TOLD = 20
_WAYS = 4


def load_runs(path: Path) -> list[Transcript]:
    """Return the runs of a file as `bench alfworld --transcripts` writes them.

    Raises:
        InvalidValueError: a line is no run, or there are not two won runs.
    """
    runs = [run for _, run in read_transcripts(path)]
    if sum(run.won for run in runs) < 2:
        raise InvalidValueError(f"{path}: expected at least two runs that were won")
    return runs


def split_runs(runs: Sequence[Transcript]) -> tuple[list[Transcript], list[Transcript]]:
    """Return the first half, which memories are made of, and the won runs of the second, which are asked about."""
    half = len(runs) // 2
    return list(runs[:half]), [run for run in runs[half:] if run.won and len(run.turns) > 1]


def action_cases(asked: Sequence[Transcript], limit: int, seed: int) -> Iterator[Case]:
    """Yield cases: which command comes next in a run that was won; the wrong ones are others of the same run.

    limit: so many at most, 0 for all.
    """
    generator = np.random.default_rng(seed)
    number = 0
    for run_number, run in enumerate(asked):
        for at in sorted(generator.permutation(len(run.turns))[:_ASKED].tolist()):
            right = run.turns[at][0]
            others = list(dict.fromkeys(command for command, _ in run.turns if command != right))
            wrong = [others[place] for place in generator.permutation(len(others))[: CANDIDATES - 1]]
            if not wrong or (limit and number >= limit):
                continue
            before = "\n".join(f"> {command}\n{reply}" for command, reply in run.turns[max(0, at - _SHOWN) : at])
            text = f"Task: {run.task}\n{before}\nWhat is the next command?"
            yield Case(number, AskedQuestion(text, frozenset((run_number,)), (right,)), (right, *wrong), exact=True)
            number += 1


def action_recalls(
    known: Sequence[Transcript], asked: Sequence[Transcript], embedder: TextEmbedder, seed: int
) -> dict[str, Recall]:
    """Return memories of the known runs, as knowledge_utility.recalls_of() does; gold is the run that is asked about,
    as a way without its numbers."""
    graph = _graph_of(known, embedder)
    own = [_graph_of([run], embedder) for run in asked]
    generator = np.random.default_rng(seed)
    pages = ["\n".join(f"> {command}\n{reply}" for command, reply in run.turns) for run in known]
    index = Bm25([[run.task] for run in known])
    texts = [one.text for one in graph.propositions()] + [
        way.advice or "; ".join(way.actions) for way in graph.prescriptions()
    ]

    def task_of(question: AskedQuestion) -> str:
        return question.text.partition("\n")[0].removeprefix("Task: ")

    def raw_chunks(_: int, question: AskedQuestion) -> Sequence[str]:
        order = np.argsort(-index.scores(task_of(question)), kind="stable")
        # The beginning of a run fits a budget that the whole does not.
        return [line for place in order[:_TOLD] for line in pages[place].split("\n> ")]

    def random_nodes(_: int, question: AskedQuestion) -> Sequence[str]:
        return [texts[place] for place in generator.permutation(len(texts))[:_TOLD]]

    def without_reasoning(_: int, question: AskedQuestion) -> Sequence[str]:
        ways = [f"{way.intent}: {'; '.join(way.actions)}" for way in graph.ways_to(task_of(question), _WAYS, 1.0)]
        return [*ways, *(hit.statement.key for hit in graph.search(task_of(question), _TOLD))]

    def knowledge(_: int, question: AskedQuestion) -> Sequence[str]:
        ways = graph.ways_to(task_of(question), _WAYS)
        return [f"{way.intent}: {way.advice or ', then '.join(way.actions)}" for way in ways]

    def gold(_: int, question: AskedQuestion) -> Sequence[str]:
        (run,) = question.gold
        return [f"{way.intent}: {', then '.join(way.actions)}" for way in own[run].ways_to(task_of(question), 1)]

    return {
        "no-memory": lambda *_: [],
        "random-nodes": random_nodes,
        "raw-chunks": raw_chunks,
        "no-reasoning": without_reasoning,
        "knowledge": knowledge,
        "gold": gold,
    }


def _graph_of(runs: Sequence[Transcript], embedder: TextEmbedder) -> KnowledgeGraph:
    graph = KnowledgeGraph(embedder, NoLog())
    for number, run in enumerate(runs):
        graph.watch(f"run-{number}", run)
    graph.embed_intents()
    return graph
