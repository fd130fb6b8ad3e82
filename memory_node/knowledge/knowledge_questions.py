"""Answers questions from knowledge, and embeds texts for the search: the reading half of knowledge."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import tzinfo

from memory_node.domain.context import Memory
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.process import WorkerThread
from memory_node.knowledge.answering import (
    EPISODIC_HITS,
    Candidate,
    KnowledgeAnswer,
    Mode,
    answer_of,
    answering,
    bearing_on,
    episodic_steps,
    mode_of,
)
from memory_node.knowledge.by_model import ModelAnswers
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.knowledge_nodes import KnowledgeNodes
from memory_node.knowledge.retrieval.retriever import Hit
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.text import concepts_said_in, names_in
from memory_node.llm.chat import ChatModel
from memory_node.search.vector_rows import Vectors

# A remote embedder that is away is asked again after this.
_EMBEDDER_PAUSE_S = 30.0
# Score of what stands beside a statement that was found, as a share of its score.
_BESIDE = 0.8
# Steps of an answer of which all statements are considered.
_READ_WHOLE = 3


# Returns how the robot did the like of an instruction, in words.
WaysTo = Callable[[str], Sequence[str]]


class KnowledgeQuestions:
    """Thread-safe. nodes: what is known; used under `_lock` alone. unread: of facts and lessons those that tell
    nothing. zone: that of the days; None: the machine's. ways_to: how the robot did the like of an instruction, in
    words."""

    def __init__(
        self,
        embedder: TextEmbedder,
        nodes: KnowledgeNodes,
        config: KnowledgeConfig,
        unread: Collection[Memory] = (),
        zone: tzinfo | None = None,
        ways_to: WaysTo = lambda _: (),
    ) -> None:
        self.zone = zone
        self._ways_to = ways_to
        self._embedder = embedder
        self._unread = frozenset(unread)
        self._nodes = nodes
        self._config = config
        self._lock = threading.RLock()
        # Held while a batch of waiting propositions is embedded; taken before _lock.
        self._embedding = threading.Lock()
        self._closing = threading.Event()
        self._background: WorkerThread | None = None
        self._answers: ModelAnswers | None = None

    def answer_by(self, model: ChatModel) -> None:
        """Let a language model answer questions from what is found; the rules answer where it fails."""
        llm = self._config.llm
        self._answers = ModelAnswers(model, self.find, self._config.hops, llm.timeout_s, llm.max_repairs, self.zone)

    def __len__(self) -> int:
        return len(self._nodes.semantic)

    def embed_in_background(self) -> None:
        """Do embed_statements() in a thread; it takes seconds."""
        self._background = WorkerThread("statements", self.embed_statements, _EMBEDDER_PAUSE_S)
        self._background.start()

    def close(self, timeout_s: float = 10.0) -> None:
        """Let the thread of embed_in_background() end after the batch that it is at."""
        self._closing.set()
        if self._background is not None:
            self._background.join(timeout_s)

    def embed_statements(self, on_progress: Callable[[int], None] = lambda _: None) -> None:
        """Make all propositions findable by meaning; on_progress gets how many each batch had."""
        while not self._closing.is_set():
            with self._embedding:  # threads do not embed one twice
                count = self._embed_waiting()
            if not count:
                return
            on_progress(count)

    @property
    def without_meaning(self) -> int:
        """How many propositions are found by their words alone until they are embedded."""
        with self._lock:
            return self._nodes.semantic.waiting_count()

    def _embed_waiting(self) -> int:
        """Make a batch of propositions findable by meaning; return how many it had."""
        with self._lock:
            texts = self._nodes.semantic.waiting()
        self._embed(texts)
        return len(texts)

    def _embed(self, texts: Sequence[str]) -> None:
        if texts:
            vectors = self._embedder.embed(texts)
            with self._lock:
                self._nodes.semantic.put_vectors(texts, vectors)

    def _embed_what_is_new(self) -> None:
        """Embed a batch, if no other thread is at it: a search waits for no more, and finds the rest by its words."""
        if self._embedding.acquire(blocking=False):
            try:
                self._embed_waiting()
            finally:
                self._embedding.release()

    def search(self, question: str, k: int, hops: int | None = None) -> list[Hit]:
        """Return up to k steps that answer, best first, each with its best proposition."""
        self._embed_what_is_new()
        vector = self._embedder.embed([question])[0]
        with self._lock:
            return self._nodes.semantic.search(question, vector, k, hops)

    def ask(self, question: str, mode: Mode | None = None, k: int = 0, as_of_ns: int = 0) -> KnowledgeAnswer:
        """Return what is known of a question; mode: found out from the question by default; k = 0: the config's;
        as_of_ns: only what had been learnt by then, and by the rules, 0 for all.

        Raises:
            InvalidValueError: nothing is asked.
        """
        if not question.strip():
            raise InvalidValueError("a question: expected words, got none")
        k = k or self._config.top_k
        if self._answers is not None and mode is None and not as_of_ns:
            return self._answers.answer(question, k, lambda mode: self.ask(question, mode, k))
        mode = mode or mode_of(question)
        hits = self.search(question, EPISODIC_HITS if mode is Mode.EPISODIC else k)
        vector = self._embedder.embed([question])[0]
        with self._lock:
            candidates = self._candidates(hits[:k], mode, vector)
            known = [one for one in candidates if not as_of_ns or one.proposition.stamp_ns <= as_of_ns]
            propositions, confidence = answering(question, known, self._nodes.semantic.idf)
            steps = episodic_steps([hit.step for hit in hits], self._nodes.steps) if mode is Mode.EPISODIC else []
            steps = [step for step in steps if not as_of_ns or step.stamp_ns <= as_of_ns]
        ways = self._ways_to(question) if mode is Mode.PROCEDURAL else ()
        return answer_of(question, mode, confidence, propositions, ways, steps, self.zone)

    def find(self, query: str, k: int) -> list[Proposition]:
        """Return the best statement of up to k steps by words and meaning, best first, and behind that of the
        best steps all others: "He was born in Bergen" may be told two sentences after his name.
        """
        hits = self.search(query, k)
        with self._lock:
            held = [self._nodes.semantic.get(text) for text in self._texts_of(hits, Mode.PROCEDURAL)]
        return [one for one in held if one is not None]

    def _candidates(self, hits: Sequence[Hit], mode: Mode, vector: Vectors) -> list[Candidate]:
        """Return the statements of hits, and what else the steps of the best say, which counts a little less."""
        scores = {key: _BESIDE * hit.score for hit in reversed(hits) for key in self._nodes.semantic.of_step(hit.step)}
        scores |= {hit.statement.text: hit.score for hit in hits}
        held = [self._nodes.semantic.get(text) for text in self._texts_of(hits, mode)]
        return [
            Candidate(
                one,
                scores.get(one.text, 0.0),
                self._nodes.semantic.likeness(one.text, vector),
                self._nodes.was_read(one),
            )
            for one in held
            if one is not None
        ]

    def _texts_of(self, hits: Sequence[Hit], mode: Mode) -> list[str]:
        """Return the statements of hits, and what else the steps of the best say: how to do a thing often takes several
        sentences, in their order. To other questions the rest of a step matters less than what was found.
        """
        own = [hit.statement.text for hit in hits]
        whole = [[key, *self._nodes.semantic.of_step(hit.step)] for key, hit in zip(own, hits[:_READ_WHOLE])]
        rest = [text for texts in whole for text in texts]
        return list(dict.fromkeys(rest + own if mode is Mode.PROCEDURAL else own + rest))

    def told_facts(self, instruction: str, k: int = 0) -> tuple[Proposition, ...]:
        """Return the k statements that people told last of those that share a name or thing with an instruction, the
        newest first; of no instruction: of all. k = 0: the config's channel.

        Those come too that share one with these: what is in the bread that is to be brought.
        """
        if Memory.FACTS in self._unread:
            return ()
        semantic = self._nodes.semantic
        with self._lock:
            if instruction.strip():
                told = self._counting(semantic.about(concepts_said_in(instruction), told=True))
                names = {name for one in told.values() for name in names_in(one.text)}
                told |= self._counting(semantic.about(names, told=True))
            else:
                told = self._counting(semantic.told())
        newest = sorted(told.values(), key=lambda one: (-one.stamp_ns, one.text))
        return tuple(newest[: k or self._config.channel])

    def _counting(self, told: Iterable[Proposition]) -> dict[str, Proposition]:
        return {one.text: one for one in told if self._nodes.is_told(one)}

    def told_about(self, instruction: str, k: int = 0) -> list[Proposition]:
        """Return up to k propositions that people told, or documents say, and that bear on an instruction.

        k = 0: the few of guidance while acting.
        """
        with self._lock:
            if Memory.FACTS in self._unread or not self._nodes.steps or not instruction.strip():
                return []
        hits = self.search(instruction, self._config.channel)
        vector = self._embedder.embed([instruction])[0]
        with self._lock:
            hits = [hit for hit in hits if hit.step in self._nodes.steps]
            held = {hit.statement.text: self._nodes.semantic.get(hit.statement.text) for hit in hits}
            found = [(one, self._nodes.semantic.likeness(one.text, vector)) for one in held.values() if one is not None]
            bearing = bearing_on(instruction, found, self._nodes.semantic.idf)
            # An occasion is named in few words ("my evening spot"): of what was said with instructions the most like
            # ones come, too.
            said = [one for one, _ in found if one not in bearing and self._nodes.was_said_with_a_task(one)]
            told = (
                self._nodes.said_in(hit.step, one)
                for one in (*bearing, *said)
                for hit in hits
                if held[hit.statement.text] is one
            )
            return list({one.text: one for one in told}.values())[: k or self._config.guidance_k]

    def about(self, concepts: Iterable[str], k: int = 5) -> list[Proposition]:
        """Return the k propositions about these concepts: most concepts first, then best supported, then newest."""
        wanted = set() if Memory.LESSONS in self._unread else set(concepts)
        with self._lock:
            found = self._nodes.semantic.about(wanted)
        return sorted(found, key=lambda p: (-len(p.concepts & wanted), -p.support, -p.stamp_ns, p.text))[:k]

    def propositions(self, active: bool = True) -> list[Proposition]:
        """Return the propositions that count, or all."""
        with self._lock:
            return [one for one in self._nodes.semantic.all() if one.active or not active]

    def steps(self) -> Mapping[str, StandardStep]:
        """Return the steps of talks and documents by source."""
        with self._lock:
            return self._nodes.steps.copy()

    def figures(self) -> tuple[int, int]:
        """Return how many nodes and edges there are."""
        with self._lock:
            return self._nodes.semantic.figures()

    def hash(self) -> str:
        """Return a hash of everything that is known: equal for equal knowledge."""
        with self._lock:
            return self._nodes.hash()
