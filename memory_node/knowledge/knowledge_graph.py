"""What is known: the semantic and the procedural graph under one lock, made durable; learns, answers, forgets."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.domain.worker_thread import WorkerThread
from memory_node.knowledge.answering import EPISODIC_HITS, KnowledgeAnswer, episodic_steps
from memory_node.knowledge.asking import answer_of, bearing_on, confidence_of
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.extraction import (
    Extractor,
    RuleExtractor,
    prescription_of,
    propositions_of,
    told_propositions,
)
from memory_node.knowledge.facts import (
    Prescription,
    Proposition,
    prescription_from_dict,
    proposition_from_dict,
    to_dict,
)
from memory_node.knowledge.history import Edit, History, Node
from memory_node.knowledge.mode import Mode, mode_of
from memory_node.knowledge.procedural_graph import WORTH_GOING, ProceduralGraph, best_ways
from memory_node.knowledge.retrieval.retriever import Hit
from memory_node.knowledge.segments import prescriptions_of
from memory_node.knowledge.semantic_graph import SemanticGraph
from memory_node.knowledge.standard_step import StandardStep, step_from_dict, step_to_dict
from memory_node.knowledge.text.names import concepts_said_in, names_in
from memory_node.knowledge.updating import LEAST_LIKENESS, UpdateJudge, judge_by_rules, updated

# A remote embedder that is away is asked again after this.
_EMBEDDER_PAUSE_S = 30.0

PROPOSITIONS = "proposition"
PRESCRIPTIONS = "prescription"
STEPS = "knowledge_step"
Source = tuple[str, str]


class KnowledgeLog(Protocol):
    """Where knowledge becomes durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[Source, ...]]]) -> None:
        """Keep (id, values, what it was learned from as (kind, id)) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


@dataclass(frozen=True)
class Withdrawal:
    """What an episode's withdrawal changed, and the texts and keys of what went."""

    stated: list[Proposition]
    ways: list[Prescription]
    texts: list[str]
    keys: list[str]


class KnowledgeGraph:
    """Thread-safe.

    embedder: compares texts. log: makes changes durable. extractor: reads propositions out of talks and documents.
    judge: decides what becomes of two like statements.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        log: KnowledgeLog,
        config: KnowledgeConfig | None = None,
        extractor: Extractor | None = None,
        judge: UpdateJudge = judge_by_rules,
        make_id: IdSource = new_id,
    ) -> None:
        self._embedder = embedder
        self._log = log
        self._config = config or KnowledgeConfig()
        self._extractor = extractor or RuleExtractor()
        self._judge = judge
        self._make_id = make_id
        self._lock = threading.RLock()
        self._semantic = SemanticGraph(embedder, self._config)
        self._procedural = ProceduralGraph(embedder)
        self._steps: dict[str, StandardStep] = {}
        self._history = History()
        self._closing = threading.Event()
        self._background: WorkerThread | None = None

    def __len__(self) -> int:
        return len(self._semantic) + len(self._procedural)

    def load(
        self,
        propositions: Iterable[dict[str, Any]],
        prescriptions: Iterable[dict[str, Any]],
        steps: Iterable[dict[str, Any]] = (),
    ) -> None:
        """Take over what the store holds, at start-up, or what another robot has learnt."""
        with self._lock:
            for values in propositions:
                self._semantic.put(proposition_from_dict(values))
            for values in prescriptions:
                self._procedural.put(prescription_from_dict(values))
            for values in steps:
                step = step_from_dict(values)
                self._steps[step.source] = step
            self._procedural.keep_newest()

    def embed_intents(self) -> None:
        """Make what was loaded findable by meaning; takes seconds, so not to be waited for. close() ends it."""
        with self._lock:
            intents = self._procedural.unknown_intents()
        for intent in intents:
            if self._closing.is_set():
                return
            vector = self._embedder.embed([intent])[0]
            with self._lock:
                self._procedural.put_vector(intent, vector)
        self.embed_statements()

    def embed_in_background(self) -> None:
        """Do embed_intents() in a thread."""
        self._background = WorkerThread("intents", self.embed_intents, _EMBEDDER_PAUSE_S)
        self._background.start()

    def close(self, timeout_s: float = 10.0) -> None:
        """Let the thread of embed_in_background() end after the batch that it is at."""
        self._closing.set()
        if self._background is not None:
            self._background.join(timeout_s)

    def embed_statements(self, on_progress: Callable[[int], None] = lambda _: None) -> None:
        """Make all propositions findable by meaning; on_progress gets how many each batch had."""
        while not self._closing.is_set() and (count := self._embed_some()):
            on_progress(count)

    def _embed_some(self) -> int:
        """Make a batch of propositions findable by meaning; return how many it had.

        A search waits for one batch alone: what it leaves is found by its words, and by meaning from the next one on.
        """
        with self._lock:
            texts = self._semantic.waiting()
        if texts:
            vectors = self._embedder.embed(texts)
            with self._lock:
                self._semantic.put_vectors(texts, vectors)
        return len(texts)

    # --- learning --------------------------------------------------------------------------------

    def learn(self, episode: EpisodeSummary, steps: Sequence[StepRecord]) -> None:
        """Take over what a finished episode showed."""
        whole = prescription_of(episode, steps)
        parts = prescriptions_of(episode, steps, self._embedder.embed) if episode.success is not None else []
        ways = {way.key: way for way in [*([whole] if whole is not None else []), *parts]}
        intents = list(dict.fromkeys(way.intent for way in ways.values()))
        vectors = self._embedder.embed(intents) if intents else ()
        with self._lock:
            edits = [self._stated(proposition) for proposition in propositions_of(steps)]
            for key, way in ways.items():
                known = self._procedural.get(key)
                edits.append(self._edit(PRESCRIPTIONS, key, known.merged(way) if known else way))
            for intent, vector in zip(intents, vectors):
                self._procedural.put_vector(intent, vector)
            self._finish(edits)
            self._procedural.keep_newest()

    def add(self, steps: Iterable[StandardStep]) -> int:
        """Take over steps of talks and documents; return how many propositions were new."""
        with self._lock:
            before = len(self._semantic)
            edits = []
            for step in steps:
                edits.append(self._edit(STEPS, step.source, step))
                edits += [self._stated(proposition) for proposition in self._extractor.propositions(step)]
            self._finish(edits)
            return len(self._semantic) - before

    def tell(self, text: str, teller: str = "", stamp_ns: int = 0) -> tuple[Proposition, ...]:
        """Take over a fact that somebody told; return its statements. A later one takes an earlier one's place.

        Raises:
            InvalidValueError: nothing was said.
        """
        if not text.strip():
            raise InvalidValueError("a fact: expected words, got none")
        step = StandardStep(
            f"told-{self._make_id()}:0",
            state="told by a person",
            action=text.strip(),
            subject=teller,
            stamp_ns=stamp_ns,
        )
        told = told_propositions(step)
        self.embed_statements()
        vectors = self._embedder.embed([one.text for one in told])
        with self._lock:
            edits = [self._edit(STEPS, step.source, step)]
            for proposition, vector in zip(told, vectors):
                edits.append(self._stated(proposition))
                self._semantic.put_vectors([proposition.text], vector[None, :])
                edits += self._updates(proposition.text)
            self._finish(edits)
            return tuple(held for one in told if (held := self._semantic.get(one.text)) is not None)

    def update(self) -> int:
        """Compare each proposition with the one most like it and merge what says the same; return how many went."""
        self.embed_statements()
        with self._lock:
            edits: list[Edit] = []
            for proposition in self._semantic.all():
                edits += self._updates(proposition.text)
            self._finish(edits)
            return sum(1 for edit in edits if isinstance(edit.after, Proposition) and not edit.after.active)

    def note_advice(self, intent: str, session: str, advice: str) -> int:
        """Put advice in words beside the ways to an intent that an episode went; return how many there are."""
        with self._lock:
            ways = [way for way in self._procedural.all() if way.intent == intent and session in way.sources]
            self._finish([self._edit(PRESCRIPTIONS, way.key, replace(way, advice=advice)) for way in ways])
            return len(ways)

    def feedback(self, key: str, helped: bool) -> Prescription:
        """Note how the use of a way as guidance went; a way that keeps failing loses its return.

        Raises:
            NotFoundError: there is no such way.
        """
        with self._lock:
            way = self._procedural.get(key)
            if way is None:
                raise NotFoundError(f"there is no way {key!r}")
            used = replace(way, uses=way.uses + 1, helped=way.helped + helped)
            # Its own success counts as one use beside those of later users.
            returned = max(1.0, way.returned * (1 + used.helped) / (1 + used.uses)) if not helped else way.returned
            used = replace(used, returned=returned)
            self._finish([self._edit(PRESCRIPTIONS, key, used)])
            return used

    def undo(self) -> bool:
        """Take back the last change that was not a Forget; return whether there was one."""
        with self._lock:
            edits = self._history.take_back()
            for edit in edits:
                self._apply(edit)
            self._write(edits)
            return bool(edits)

    # --- asking ----------------------------------------------------------------------------------

    def search(self, question: str, k: int, hops: int | None = None) -> list[Hit]:
        """Return up to k steps that answer, best first, each with its best proposition."""
        self._embed_some()
        vector = self._embedder.embed([question])[0]
        with self._lock:
            return self._semantic.search(question, vector, k, hops)

    def ask(self, question: str, mode: Mode | None = None, k: int = 0) -> KnowledgeAnswer:
        """Return what is known of a question; mode: found out from the question by default; k = 0: the config's.

        Raises:
            InvalidValueError: nothing is asked.
        """
        if not question.strip():
            raise InvalidValueError("a question: expected words, got none")
        mode = mode or mode_of(question)
        k = k or self._config.top_k
        hits = self.search(question, EPISODIC_HITS if mode is Mode.EPISODIC else k)
        vector = self._embedder.embed([question])[0]
        with self._lock:
            held = [self._semantic.get(hit.statement.key) for hit in hits[:k]]
            found = [(one, self._semantic.likeness(one.text, vector)) for one in held if one is not None]
            propositions = bearing_on(question, found, self._semantic.idf)
            likeness = max((cosine for one, cosine in found if one in propositions), default=0.0)
            confidence = confidence_of(question, propositions, likeness, self._semantic.idf)
            ways = self.ways_to(question, least_return=1.0) if mode is Mode.PROCEDURAL else []
            steps = episodic_steps([hit.step for hit in hits], self._steps) if mode is Mode.EPISODIC else []
        return answer_of(question, mode, confidence, propositions, ways, steps)

    def told_facts(self, instruction: str) -> tuple[Proposition, ...]:
        """Return the statements that people told and that share a name or thing with an instruction, the newest first.

        Those come too that share one with these: what is in the bread that is to be brought.
        """
        with self._lock:
            told = {one.text: one for one in self._semantic.about(concepts_said_in(instruction)) if self._is_told(one)}
            named = {name for one in told.values() for name in names_in(one.text)}
            told |= {one.text: one for one in self._semantic.about(named) if self._is_told(one)}
        newest = sorted(told.values(), key=lambda one: (-one.stamp_ns, one.text))
        return tuple(newest[: self._config.channel])

    def _is_told(self, proposition: Proposition) -> bool:
        return proposition.active and not proposition.subject and proposition.sources[-1] in self._steps

    def told_about(self, instruction: str, k: int = 0) -> list[Proposition]:
        """Return up to k propositions that people told, or documents say, and that bear on an instruction.

        k = 0: the few of guidance while acting.
        """
        with self._lock:
            if not self._steps or not instruction.strip():
                return []
        hits = self.search(instruction, self._config.channel)
        vector = self._embedder.embed([instruction])[0]
        with self._lock:
            held = [self._semantic.get(hit.statement.key) for hit in hits if hit.step in self._steps]
            found = [(one, self._semantic.likeness(one.text, vector)) for one in held if one is not None]
            return bearing_on(instruction, found, self._semantic.idf)[: k or self._config.guidance_k]

    def about(self, concepts: Iterable[str], k: int = 5) -> list[Proposition]:
        """Return the k propositions about these concepts: most concepts first, then best supported, then newest."""
        wanted = set(concepts)
        with self._lock:
            found = self._semantic.about(wanted)
        return sorted(found, key=lambda p: (-len(p.concepts & wanted), -p.support, -p.stamp_ns, p.text))[:k]

    def ways_to(self, intent: str, k: int = 2, least_return: float = WORTH_GOING) -> list[Prescription]:
        """Return the k prescriptions whose intents are most like this one; least_return: of ways that led so far."""
        with self._lock:
            known, vectors = self._procedural.candidates(least_return)
        if not known or not intent.strip():
            return []
        return best_ways(known, vectors, self._embedder.embed([intent])[0], k)

    def propositions(self, active: bool = True) -> list[Proposition]:
        """Return the propositions that count, or all."""
        with self._lock:
            return [one for one in self._semantic.all() if one.active or not active]

    def prescriptions(self) -> list[Prescription]:
        """Return every way."""
        with self._lock:
            return self._procedural.all()

    def steps(self) -> Mapping[str, StandardStep]:
        """Return the steps of talks and documents by source."""
        with self._lock:
            return dict(self._steps)

    def figures(self) -> tuple[int, int]:
        """Return how many nodes and edges there are."""
        with self._lock:
            nodes, edges = self._semantic.figures()
            ways = self._procedural.all()
        intents = {way.intent for way in ways}
        return nodes + len(ways) + len(intents), edges + len(ways) + sum(len(way.sources) for way in ways)

    def hash(self) -> str:
        """Return a hash of everything that is known: equal for equal knowledge."""
        with self._lock:
            facts = sorted(json.dumps(to_dict(one), sort_keys=True) for one in self._semantic.all())
            facts += sorted(json.dumps(to_dict(one), sort_keys=True) for one in self._procedural.all())
            facts += sorted(json.dumps(step_to_dict(one), sort_keys=True) for one in self._steps.values())
        return hashlib.blake2b("\n".join(facts).encode(), digest_size=16).hexdigest()

    # --- forgetting ------------------------------------------------------------------------------

    def forget(self, session: str) -> int:
        """Withdraw an episode, document or talk for good; return how many facts that only it supported are gone."""
        withdrawn = self.drop(session)
        with self._lock:
            steps = [source for source in self._steps if source.rpartition(":")[0] == session]
            for source in steps:
                del self._steps[source]
            self._log.remove_documents(PROPOSITIONS, withdrawn.texts)
            self._log.remove_documents(PRESCRIPTIONS, withdrawn.keys)
            self._log.remove_documents(STEPS, steps)
            self._put(withdrawn.stated, withdrawn.ways, [])
        return len(withdrawn.texts) + len(withdrawn.keys)

    def drop(self, session: str) -> Withdrawal:
        """Withdraw an episode that has gone from the store already; return what that took and changed. It is final."""
        with self._lock:
            self._history.clear()
            shown = self._semantic.of_session(session)
            for proposition in shown:
                self._semantic.remove(proposition.text)
            stated = [left for one in shown if (left := one.without(session)) is not None]
            for left in stated:
                self._semantic.put(left)
            worked = [way for way in self._procedural.all() if session in way.sources]
            for way in worked:
                self._procedural.remove(way.key)
            ways = [kept for way in worked if (kept := way.without(session)) is not None]
            for way in ways:
                self._procedural.put(way)
            texts = [one.key for one in shown if self._semantic.get(one.text) is None]
            keys = [way.key for way in worked if self._procedural.get(way.key) is None]
        return Withdrawal(stated, ways, texts, keys)

    def drop_forgotten(self, is_forgotten: Callable[[str, str], bool], episode_ids: Iterable[str]) -> None:
        """Give up what has gone from the store already; is_forgotten: by a document's kind and id."""
        for episode_id in episode_ids:
            self.drop(episode_id)
        self._take_out(is_forgotten)

    def give_up(self, gone: Mapping[str, Collection[str]]) -> None:
        """Drop what another robot gave up, ids by kind; the store knows already."""
        if any(gone.values()):
            self._take_out(lambda kind, key: key in gone.get(kind, ()))

    def _take_out(self, is_gone: Callable[[str, str], bool]) -> None:
        with self._lock:
            self._history.clear()
            for one in self._semantic.all():
                if is_gone(PROPOSITIONS, one.key):
                    self._semantic.remove(one.text)
            for way in self._procedural.all():
                if is_gone(PRESCRIPTIONS, way.key):
                    self._procedural.remove(way.key)
            for source in [source for source in self._steps if is_gone(STEPS, source)]:
                del self._steps[source]

    # --- edits -----------------------------------------------------------------------------------

    def _stated(self, proposition: Proposition) -> Edit:
        """Apply a statement, or add its sources to the one that is known, which counts again."""
        known = self._semantic.get(proposition.text)
        if known is not None and known.active and set(proposition.sources) <= set(known.sources):
            return Edit(PROPOSITIONS, proposition.text, known, known)
        kept = replace(known.merged(proposition), active=True, replaced_by="") if known else proposition
        return self._edit(PROPOSITIONS, proposition.text, kept)

    def _updates(self, text: str) -> list[Edit]:
        """Apply what becomes of a proposition beside the one that is most like it."""
        later = self._semantic.get(text)
        if later is None or not later.active:
            return []
        earlier = self._semantic.most_like(later, LEAST_LIKENESS)
        if earlier is None:
            return []
        if earlier.stamp_ns > later.stamp_ns:
            earlier, later = later, earlier
        update = self._judge(earlier, later)
        if not (update.deactivate_earlier or update.deactivate_later):
            return []
        results = updated(earlier, later, update)
        return [self._edit(PROPOSITIONS, one.text, one) for one in results if one != self._semantic.get(one.text)]

    def _edit(self, kind: str, key: str, after: Node | None) -> Edit:
        before = self._node(kind, key)
        edit = Edit(kind, key, before, after)
        self._apply(edit)
        return edit

    def _node(self, kind: str, key: str) -> Node | None:
        if kind == PROPOSITIONS:
            return self._semantic.get(key)
        return self._procedural.get(key) if kind == PRESCRIPTIONS else self._steps.get(key)

    def _apply(self, edit: Edit) -> None:
        if isinstance(edit.after, Proposition):
            self._semantic.put(edit.after)
        elif isinstance(edit.after, Prescription):
            self._procedural.put(edit.after)
        elif isinstance(edit.after, StandardStep):
            self._steps[edit.key] = edit.after
        elif edit.kind == PROPOSITIONS:
            self._semantic.remove(edit.key)
        elif edit.kind == PRESCRIPTIONS:
            self._procedural.remove(edit.key)
        else:
            self._steps.pop(edit.key, None)

    def _finish(self, edits: Sequence[Edit]) -> None:
        """Make edits that were applied durable, and able to be undone."""
        real = tuple(edit for edit in edits if edit.before != edit.after)
        self._history.note(real)
        self._write(real)

    def _write(self, edits: Sequence[Edit]) -> None:
        last = {(edit.kind, edit.key): edit for edit in edits}
        nodes = [edit.after for edit in last.values() if edit.after is not None]
        for kind in (PROPOSITIONS, PRESCRIPTIONS, STEPS):
            gone = [edit.logged_key for edit in last.values() if edit.kind == kind and edit.after is None]
            if gone:
                self._log.remove_documents(kind, gone)
        self._put(
            [node for node in nodes if isinstance(node, Proposition)],
            [node for node in nodes if isinstance(node, Prescription)],
            [node for node in nodes if isinstance(node, StandardStep)],
        )

    def _put(self, stated: Sequence[Proposition], ways: Sequence[Prescription], steps: Sequence[StandardStep]) -> None:
        self._log.put_documents(STEPS, [(step.source, step_to_dict(step), ()) for step in steps])
        self._log.put_documents(PROPOSITIONS, [(p.key, to_dict(p), self._origins(p.sources)) for p in stated])
        of_episodes = [(way, tuple(("episode", source) for source in way.sources)) for way in ways]
        self._log.put_documents(PRESCRIPTIONS, [(way.key, to_dict(way), origins) for way, origins in of_episodes])

    def _origins(self, sources: Sequence[str]) -> tuple[Source, ...]:
        """Return what a proposition was learned from, as the store names it."""
        found = [
            (STEPS, source) if source in self._steps else ("episode", source.rpartition(":")[0]) for source in sources
        ]
        return tuple(dict.fromkeys(found))
