"""Knowledge as a whole: the semantic graph under a lock, made durable; learns, answers, forgets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import Any

from memory_node.domain.clock import NS
from memory_node.domain.context import Memory
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.extraction import (
    Named,
    ReadFacts,
    ReadStep,
    named_in,
    passing_propositions,
    propositions_of,
    read_by_rules,
    resolved,
    said_in_passing,
    told_propositions,
)
from memory_node.knowledge.facts import TOLD_SESSION, Proposition, proposition_from_dict, to_dict
from memory_node.knowledge.knowledge_nodes import (
    Criteria,
    Deleted,
    KnowledgeLog,
    KnowledgeNodes,
    Node,
    least_useful,
)
from memory_node.knowledge.knowledge_questions import KnowledgeQuestions, WaysTo
from memory_node.knowledge.standard_step import COMPRESSED, TOLD, StandardStep, step_from_dict, step_to_dict
from memory_node.knowledge.text import sentences
from memory_node.knowledge.told.fact import Relation, ToldFact, with_ends
from memory_node.knowledge.told.forms import ASKS
from memory_node.knowledge.told.telling import (
    is_correction,
    is_of,
    is_over,
    is_said_by,
    subject_taken_back,
    words_taken_back,
)
from memory_node.knowledge.updating import UpdateJudge
from memory_node.search.vector_rows import Vectors

# In what a person tells within so long "it" may mean what he named before.
_ONE_TALK_NS = 120 * NS
# Documents that can be brought back.
_DOCUMENTS_KEPT = 16
# Statements of which one update asks a model, the newest.
_MOST_JUDGED = 200


def _in_one_talk(before_ns: int, stamp_ns: int) -> bool:
    """Return whether two things were told in one talk; what has no stamp was not."""
    return before_ns > 0 and 0 <= stamp_ns - before_ns <= _ONE_TALK_NS


def _over(changed: Iterable[Node]) -> list[Proposition]:
    """Return the propositions of nodes that count no longer."""
    return [one for one in changed if isinstance(one, Proposition) and not one.active]


class KnowledgeGraph(KnowledgeQuestions):
    """Thread-safe.

    embedder: compares texts. log: makes changes durable. read_step: reads propositions out of talks and documents, by
    default the rules. on_removal: is called before anything goes. judge_left: decides of two like statements that no
    rule combines, such as a language model; None: both stay.
    read_facts: reads told sentences, and those of documents that bind.
    unread: of facts and lessons those that tell nothing.
    zone: the time zone in which people mean days; None: the machine's. ways_to: see KnowledgeQuestions.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        log: KnowledgeLog,
        config: KnowledgeConfig | None = None,
        read_step: ReadStep | None = None,
        make_id: IdSource = new_id,
        on_removal: Callable[[], None] | None = None,
        read_facts: ReadFacts = lambda *_: (),
        unread: Collection[Memory] = (),
        zone: tzinfo | None = None,
        ways_to: WaysTo = lambda _: (),
        judge_left: UpdateJudge | None = None,
    ) -> None:
        config = config or KnowledgeConfig()
        nodes = KnowledgeNodes(embedder, config, log, on_removal or (lambda: None))
        super().__init__(embedder, nodes, config, unread, zone, ways_to)
        self._read_step = read_step or partial(read_by_rules, zone=zone)
        self._read_facts, self._judge_left = read_facts, judge_left
        self._make_id = make_id
        self._documents: OrderedDict[str, Deleted] = OrderedDict()
        self._last_told: StandardStep | None = None

    def load(self, propositions: Iterable[dict[str, Any]], steps: Iterable[dict[str, Any]] = ()) -> None:
        """Take over what the store holds, at start-up, or what another robot has learnt."""
        with self._lock:
            for values in propositions:
                self._nodes.semantic.put(proposition_from_dict(values))
            for values in steps:
                step = step_from_dict(values)
                self._nodes.steps[step.source] = step

    def take_vectors(self, known: Callable[[Sequence[str]], tuple[list[str], Vectors]]) -> None:
        """Take over the vectors that are known of texts that have none; see SemanticGraph.take_vectors."""
        with self._lock:
            self._nodes.semantic.take_vectors(known)

    def vectors(self) -> tuple[list[str], Vectors]:
        """Return the texts that have a vector, and these (n, dimension)."""
        with self._lock:
            return self._nodes.semantic.vectors()

    @property
    def new_vectors(self) -> int:
        """How many vectors came since take_vectors()."""
        return self._nodes.semantic.new_vectors

    def learn(self, episode: EpisodeSummary, steps: Sequence[StepRecord]) -> None:
        """Take over what a finished episode showed."""
        with self._lock:
            told = propositions_of(steps)
            said = said_in_passing(episode)
            if said is not None:
                self._nodes.put(said)
                told += passing_propositions(said, self.zone)
            for proposition in told:
                self._nodes.state(proposition)
            self._nodes.finish()

    def take_over(self, stated: Iterable[Proposition]) -> None:
        """Take over what a language model read out of an episode; what it read into facts ends earlier ones."""
        with self._lock:
            for one in stated:
                self._nodes.state(one)
                if one.structure:
                    self._nodes.update_told(one.text)
            self._nodes.finish()

    def add(self, steps: Iterable[StandardStep]) -> int:
        """Take over steps of talks and documents; return how many propositions were new."""
        # Nothing is locked meanwhile: a language model may read them.
        read = [(step, self._bound(self._read_step(step), step)) for step in steps]
        with self._lock:
            before = len(self._nodes.semantic)
            for step, stated in read:
                self._nodes.put(step)
                for one in stated:
                    self._nodes.state(one)
            self._nodes.finish()
            return len(self._nodes.semantic) - before

    def _bound(self, stated: Iterable[Proposition], step: StandardStep) -> list[Proposition]:
        """Return the propositions of a step with what binds in them read: a house rule holds like a told one, and "it"
        in a document is the thing of the sentence before. Whose "my" is in a talk nobody knows, so only a document's
        writer tells who is called what."""
        read = {one for one in Relation if one.of_things} | (set() if step.action else {Relation.CALLED})
        named, bound = Named(), []
        for one in stated:
            whole = one.statement if step.action else resolved(one.statement, "", named)
            named = named.after(whole)
            facts = [fact for fact in self._read_facts(whole, step) if fact.relation in read]
            bound.append(replace(one, structure=tuple(fact.to_json() for fact in facts)) if facts else one)
        return bound

    def facts(self) -> list[ToldFact]:
        """Return every fact that was read and counts, in the order in which they were told."""
        return with_ends([fact for one in self.structured() for fact in one.facts])

    def facts_ever(self) -> list[ToldFact]:
        """Return facts() behind those that counted before, which have the time in which they did."""
        return [*(fact for one in self.structured(ended=True) for fact in one.facts_before), *self.facts()]

    def structured(self, ended: bool = False) -> list[Proposition]:
        """Return every statement that was read into facts and counts, in the order in which they were told; ended:
        those that counted before, too."""
        if Memory.FACTS in self._unread:
            return []
        with self._lock:
            held = {one.text: one for one in self._nodes.semantic.structured()}
            told = self._nodes.semantic.told() if ended else ()
            return list((held | {one.text: one for one in told if one.facts_before}).values())

    def tell(
        self, text: str, teller: str = "", stamp_ns: int = 0, ground: Callable[[ToldFact], ToldFact] = lambda fact: fact
    ) -> tuple[Proposition, ...]:
        """Take over a fact that somebody told; return its statements, and behind them, no longer active, those whose
        place they took.

        "Forget that ..." takes a statement back, and gives those their place again that it had taken it from: what was
        taken back comes first then. () where nobody told it.

        ground: puts memory's ids of the things that are meant into a fact.

        Raises:
            InvalidValueError: nothing was said, or only asked.
        """
        if not text.strip():
            raise InvalidValueError("a fact: expected words, got none")
        if all(map(ASKS.match, sentences(text))):
            raise InvalidValueError("a fact: expected a statement, got a question")
        if what := subject_taken_back(text):
            with self._lock:
                about = [one for one in self._nodes.semantic.told() if is_of(one, what)]
                if not any(one.active for one in about):
                    return ()
                # What these took the place of does not count again: it was told of it, too.
                ended_by = {one.text for one in about}
                return self._retracted([one for one in about if one.active or one.replaced_by in ended_by])
        if words := words_taken_back(text):
            return self._take_back(words, text, stamp_ns)
        step = StandardStep(
            f"{TOLD_SESSION}{self._make_id()}:0",
            state=TOLD,
            action=text.strip(),
            subject=teller,
            stamp_ns=stamp_ns,
        )
        before, self._last_told = self._last_told, step
        is_talk = before is not None and before.subject == teller and _in_one_talk(before.stamp_ns, stamp_ns)
        told = told_propositions(
            step,
            lambda said, of: [ground(fact) for fact in self._read_facts(said, of)],
            self.zone,
            named_in(before) if is_talk and before is not None else None,
        )
        corrected = before.source if is_talk and before is not None and is_correction(text) else ""
        # Compared with it are statements that share a concept. To embed all that waits could take an hour.
        with self._lock:
            beside = self._nodes.semantic.waiting_about({concept for one in told for concept in one.concepts})
        self._embed(beside)
        vectors = self._embedder.embed([one.text for one in told])
        with self._lock:
            self._nodes.put(step)
            for proposition, vector in zip(told, vectors):
                self._nodes.state(proposition)
                self._nodes.semantic.put_vectors([proposition.text], vector[None, :])
                self._nodes.update_told(proposition.text, corrected)
            changed = self._nodes.finish()
        texts = dict.fromkeys(one.text for one in told)
        replaced = _over([*changed, *self._combine_left(texts)])
        with self._lock:
            held = (self._nodes.semantic.get(text) for text in texts)
            return (*filter(None, held), *(one for one in replaced if one.text not in texts))

    def _combine_left(self, texts: Iterable[str]) -> list[Node]:
        """Combine statements that no rule does, each with the one most like it, as a model decides; return what was
        changed. A reply takes seconds: nothing is locked meanwhile."""
        done: list[Node] = []
        asked: set[tuple[str, str]] = set()
        for text in texts if self._judge_left is not None else ():
            with self._lock:
                pair = self._nodes.left_apart(text)
            # Each of two may be most like the other.
            if pair is None or self._judge_left is None or (pair[0].text, pair[1].text) in asked:
                continue
            asked.add((pair[0].text, pair[1].text))
            update = self._judge_left(*pair)
            with self._lock:
                if pair == self._nodes.left_apart(text):
                    self._nodes.combine(*pair, update)
                    done += self._nodes.finish()
        return done

    def _take_back(self, words: str, text: str, stamp_ns: int) -> tuple[Proposition, ...]:
        step = StandardStep(f"{TOLD_SESSION}back:0", state=TOLD, action=words, stamp_ns=stamp_ns)
        facts = list(self._read_facts(words, step))
        with self._lock:
            said = [one for one in self._nodes.semantic.told() if is_said_by(one, words, facts)]
            # Of what was merged into one statement the other part counts again by itself.
            wholes = {one.replaced_by for one in said if len(self._merged_into(one.replaced_by)) > 1}
            self._retracted([one for one in map(self._nodes.semantic.get, wholes) if one is not None])
            held = (self._nodes.semantic.get(one.text) for one in said)
            gone = [one for one in held if one is not None and one.active]
            if not is_over(text):
                return self._retracted(gone)
            over = tuple(one.ended(text, stamp_ns) for one in gone)
            self._nodes.put(*over)
            self._nodes.finish()
            return over

    def _merged_into(self, text: str) -> list[Proposition]:
        """Return the statements that were merged into one that counts. The lock is held."""
        whole = self._nodes.semantic.get(text)
        if whole is None or not whole.active:
            return []
        parts = [one for one in self._nodes.semantic.told() if one.replaced_by == text]
        return [one for one in parts if set(one.sources) <= set(whole.sources)]

    def _retracted(self, gone: Sequence[Proposition]) -> tuple[Proposition, ...]:
        """Let statements count no longer, and those again whose place they took; return both. The lock is held."""
        texts = {one.text for one in gone}
        others = (one for one in self._nodes.semantic.told() if one.text not in texts)
        back = [one for one in others if not one.active and one.replaced_by in texts]
        after = (
            *(replace(one, active=False, replaced_by="") for one in gone),
            *(one.restored() for one in back),
        )
        self._nodes.put(*after)
        self._nodes.finish()
        return after

    def retract(self, text: str, back: bool = False) -> Proposition:
        """Let the statement of a text count no longer, or again where `back` says so; return it. Its sources stay.

        What it took the place of counts again, and no longer where it comes back.

        Raises:
            NotFoundError: no statement of this text is known, or it counts no longer already.
        """
        with self._lock:
            known = self._nodes.semantic.get(text)
            if known is None or not (known.active or back):
                what = "is known" if known is None else "counts any more"
                raise NotFoundError(f"no statement {text[:200]!r} {what}; expected one as memory tells it")
            if not back:
                return self._retracted([known])[0]
            again = [replace(known, active=True)]
            told = self._nodes.semantic.told()
            again += [replace(one, active=False) for one in told if one.active and one.replaced_by == text]
            self._nodes.put(*again)
            self._nodes.finish()
            return again[0]

    def update(self) -> int:
        """Merge each proposition with the one most like it where both say the same; return how many went."""
        self.embed_statements()
        with self._lock:
            for proposition in self._nodes.semantic.all():
                self._nodes.update(proposition.text)
            changed = self._nodes.finish()
            left = [one.text for one in self._nodes.semantic.all() if one.active][-_MOST_JUDGED:]
        changed += self._combine_left(left)
        self.embed_statements()
        return len(_over(changed))

    def delete(self, criteria: Criteria) -> Deleted:
        """Delete the propositions that criteria match, and the steps that no other one comes from; return what went.
        bring_back() takes it."""
        with self._lock:
            return self._deleted([one for one in self._nodes.semantic.all() if criteria.match(one)], with_steps=True)

    def prune(self, kept: int) -> Deleted:
        """Delete all but the `kept` most useful propositions; return what went.

        What people told stays, whatever its number.
        """
        with self._lock:
            return self._deleted(least_useful(self._nodes.semantic.all(), self._nodes.is_told, kept))

    def _deleted(self, gone: Sequence[Proposition], with_steps: bool = False) -> Deleted:
        self._nodes.remove(*gone)
        steps: list[StandardStep] = []
        if gone and with_steps:
            kept = {source for one in self._nodes.semantic.all() for source in one.sources}
            sources = dict.fromkeys(source for one in gone for source in one.sources if source not in kept)
            steps = [self._nodes.steps[source] for source in sources if source in self._nodes.steps]
            self._nodes.remove(*steps)
        self._nodes.finish()
        return Deleted(tuple(map(to_dict, gone)), tuple(map(step_to_dict, steps)))

    def bring_back(self, deleted: Deleted) -> int:
        """Take over again what was deleted, but for what is known anew; return how many propositions came."""
        steps = [step_from_dict(dict(one)) for one in deleted.steps]
        propositions = [proposition_from_dict(dict(one)) for one in deleted.propositions]
        with self._lock:
            back = [one for one in propositions if self._nodes.semantic.get(one.text) is None]
            self._nodes.put(*(one for one in steps if one.source not in self._nodes.steps), *back)
            self._nodes.finish()
            return len(back)

    def delete_document(self, document: str, back: bool = False) -> None:
        """Delete what is only known from a document, talk or episode, or bring it back; see `Criteria.session`.

        Raises:
            NotFoundError: nothing is known from it alone, or it was not deleted since the start.
        """
        with self._lock:
            deleted = self._documents.pop(document, Deleted()) if back else self.delete(Criteria(session=document))
            if not deleted:
                raise NotFoundError(f"nothing is known from {document[:200]!r} alone; sources of statements name it")
            if back:
                self.bring_back(deleted)
                return
            self._documents[document] = deleted
            while len(self._documents) > _DOCUMENTS_KEPT:
                self._documents.popitem(last=False)

    def compress(self, before_ns: int) -> int:
        """Keep of steps that are older only the beginning of what was said or read; return of how many.

        Their sources stay, and so does what was learned from them. Facts that people told stay whole.
        """
        with self._lock:
            stamped = [step for step in self._nodes.steps.values() if 0 < step.stamp_ns < before_ns]
            old = [step for step in stamped if step.state not in (TOLD, COMPRESSED)]
            self._nodes.put(*(step.compressed() for step in old))
            self._nodes.finish()
            return len(old)

    # --- forgetting ------------------------------------------------------------------------------

    def forget(self, session: str) -> int:
        """Withdraw an episode, document or talk for good; return how many facts that only it supported are gone."""
        with self._lock:
            self._documents.clear()
            return self._nodes.forget(session)

    def drop_forgotten(self, is_forgotten: Callable[[str, str], bool], episode_ids: Iterable[str]) -> None:
        """Give up what has gone from the store already; is_forgotten: by a document's kind and id."""
        with self._lock:
            self._documents.clear()
            for episode_id in episode_ids:
                self._nodes.drop(episode_id)
            self._nodes.take_out(is_forgotten)

    def give_up(self, gone: Mapping[str, Collection[str]]) -> None:
        """Drop what another robot gave up, ids by kind; the store knows already."""
        if any(gone.values()):
            with self._lock:
                self._nodes.take_out(lambda kind, key: key in gone.get(kind, ()))
