"""The graph and the steps behind it, and every change to them: applied, and made durable."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.extraction import told_and_asked
from memory_node.knowledge.facts import Proposition, key_of, to_dict
from memory_node.knowledge.semantic_graph import PackedTable, SemanticGraph
from memory_node.knowledge.standard_step import ASKED, TOLD, StandardStep, pack_step, step_to_dict, unpack_step
from memory_node.knowledge.told.fact import names_of_several, one_is_meant
from memory_node.knowledge.updating import LEAST_LIKENESS, TOPIC_LIKENESS, Update, judge_by_rules, updated
from memory_node.search.packing import Arrays, part, under

PROPOSITIONS = "proposition"
STEPS = "knowledge_step"
# What a document was learned from: (kind, id).
Source = tuple[str, str]


class KnowledgeLog(Protocol):
    """Where knowledge becomes durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[Source, ...]]]) -> None:
        """Keep (id, values, what it was learned from as (kind, id)) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


@dataclass(frozen=True)
class Criteria:
    """What is deleted: propositions for which all that is given is true.

    before_ns: not learned or confirmed since. concept: one of its tags, in capitals or not. subject: who said it or
    what its document is about. made_by: what read it. session: all its sources are of that episode, talk, document or
    file. replaced: only such as a later statement took the place of.

    Raises:
        InvalidValueError: nothing is given; that would delete everything.
    """

    before_ns: int = 0
    concept: str = ""
    subject: str = ""
    made_by: str = ""
    session: str = ""
    replaced: bool = False

    def __post_init__(self) -> None:
        if not any(vars(self).values()):
            raise InvalidValueError("Criteria: expected one at least, got none; that would delete everything")

    def match(self, one: Proposition) -> bool:
        """Return whether a proposition is to be deleted."""
        return (
            (not self.before_ns or one.stamp_ns < self.before_ns)
            and (not self.concept or self.concept.lower() in {tag.lower() for tag in one.concepts})
            and (not self.subject or self.subject == one.subject)
            and (not self.made_by or self.made_by == one.made_by)
            and (not self.session or all(_is_of(source, self.session) for source in one.sources))
            and (not self.replaced or not one.active)
        )


def _is_of(source: str, session: str) -> bool:
    """Return whether a step is of a session, or of a file: its sessions add a digest to its name, and their number."""
    name = source.rpartition(":")[0]
    return name == session or re.fullmatch(r"-[0-9a-f]{12}(-\d+)*", name.removeprefix(session)) is not None


@dataclass(frozen=True)
class Deleted:
    """What a deletion took out: propositions and steps as the log has them."""

    propositions: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[Mapping[str, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.propositions)


def least_useful(
    propositions: Iterable[Proposition], is_told: Callable[[Proposition], bool], kept: int
) -> list[Proposition]:
    """Return the propositions beyond the `kept` most useful ones; what people told is never among them.

    Useful is, in this order: what counts still, what more steps bear out, what is newer.
    """
    others = [one for one in propositions if not is_told(one)]
    others.sort(key=lambda one: (one.active, one.support, one.stamp_ns, one.text), reverse=True)
    return others[max(0, kept) :]


Node = Proposition | StandardStep


@dataclass(frozen=True)
class Edit:
    """One node before and after; None: it was not there. kind: as in the log. key: names it within its kind."""

    kind: str
    key: str
    before: Node | None
    after: Node | None

    @property
    def logged_key(self) -> str:
        """What names the node in the log."""
        node = self.before or self.after
        return node.key if isinstance(node, Proposition) else self.key


@dataclass(frozen=True)
class Withdrawal:
    """What an episode's withdrawal changed, and the keys of what went."""

    stated: list[Proposition]
    keys: list[str]


class KnowledgeNodes:
    """Not thread-safe; its owner locks.

    on_removal: is called before anything goes.
    """

    def __init__(
        self,
        embedder: TextEmbedder,
        config: KnowledgeConfig,
        log: KnowledgeLog,
        on_removal: Callable[[], None],
    ) -> None:
        self.semantic = SemanticGraph(embedder, config)
        self.steps: PackedTable[StandardStep] = PackedTable(pack_step, unpack_step)
        self._log = log
        self._on_removal = on_removal

    def packed(self) -> Arrays:
        """Return statements, their steps and all indexes over them as arrays."""
        return {**under("semantic", self.semantic.packed()), **under("steps", self.steps.packed())}

    def restore(self, arrays: Arrays) -> None:
        """Hold the statements and steps of packed(), and no others."""
        self.semantic.restore(part("semantic", arrays))
        self.steps.restore(part("steps", arrays))

    def is_told(self, proposition: Proposition) -> bool:
        """Return whether a proposition counts and was told by a person."""
        steps = (self.steps.get(source) for source in proposition.sources)
        return proposition.active and any(step is not None and step.state == TOLD for step in steps)

    def was_read(self, proposition: Proposition) -> bool:
        """Return whether a proposition stands in a document or talk."""
        steps = (self.steps.get(source) for source in proposition.sources)
        return any(step is not None and step.state not in (TOLD, ASKED) for step in steps)

    def was_said_with_a_task(self, proposition: Proposition) -> bool:
        """Return whether a person said it beside what was to be done."""
        steps = (self.steps.get(source) for source in proposition.sources)
        return any(step is not None and step.state == ASKED for step in steps)

    def said_in(self, source: str, proposition: Proposition) -> Proposition:
        """Return a proposition of a step; of an instruction all that it tells, with what it asks for in quotes, which
        says of what it was told."""
        step = self.steps.get(source)
        if step is None or step.state != ASKED:
            return proposition
        telling, asking = map(" ".join, told_and_asked(step.action))
        said_with = f" (said with {json.dumps(asking, ensure_ascii=False)})" if asking else ""
        return replace(proposition, text=f"{telling}{said_with}", sources=(source,), support=1, structure=())

    def hash(self) -> str:
        """Return a hash of everything that is known: equal for equal knowledge."""
        facts = sorted(json.dumps(to_dict(one), sort_keys=True) for one in self.semantic.all())
        facts += sorted(json.dumps(step_to_dict(one), sort_keys=True) for one in self.steps.values())
        return hashlib.blake2b("\n".join(facts).encode(), digest_size=16).hexdigest()

    # --- edits -----------------------------------------------------------------------------------

    def stated(self, proposition: Proposition) -> Edit:
        """Put a statement, or its sources where it is known, which then counts again; return this for finish()."""
        known = self.semantic.get(proposition.text)
        # A step that is read again says nothing new, also where its statement was joined with another.
        if known is not None and set(proposition.sources) <= set(known.sources):
            return Edit(PROPOSITIONS, proposition.text, known, known)
        kept = replace(known.merged(proposition), active=True, replaced_by="") if known else proposition
        return self.edit(PROPOSITIONS, proposition.text, kept)

    def updates(self, text: str, only_the_same: bool = False) -> list[Edit]:
        """Do what becomes of a proposition beside the one that is most like it; return this for finish().

        only_the_same: leave both where they say different things.
        """
        pair = self._pair(text)
        if pair is None:
            return []
        earlier, later = pair
        update = judge_by_rules(earlier, later)
        # What was read is decided by what it says when it is told: see told_updates.
        if update.relationship != "same" and (only_the_same or earlier.structure or later.structure):
            return []
        if not (update.deactivate_earlier or update.deactivate_later):
            return []
        if update.relationship == "topic" and self.semantic.cosine(earlier.text, later.text) < TOPIC_LIKENESS:
            return []
        return self.combined(earlier, later, update)

    def _pair(self, text: str) -> tuple[Proposition, Proposition] | None:
        """Return a proposition and the one that is most like it, the earlier first; None without one."""
        one = self.semantic.get(text)
        other = self.semantic.most_like(one, LEAST_LIKENESS) if one is not None and one.active else None
        if one is None or other is None:
            return None
        return (other, one) if self.semantic.order(other) <= self.semantic.order(one) else (one, other)

    def left_apart(self, text: str) -> tuple[Proposition, Proposition] | None:
        """Return a proposition and the one most like it, the earlier first, where a model may combine them: they are of
        one subject, and not both are read."""
        pair = self._pair(text)
        if pair is None or pair[0].subject != pair[1].subject or (pair[0].structure and pair[1].structure):
            return None
        return pair

    def combined(self, earlier: Proposition, later: Proposition, update: Update) -> list[Edit]:
        """Do what was decided of two propositions; return this for finish()."""
        results = updated(earlier, later, update)
        return [self.edit(PROPOSITIONS, one.text, one) for one in results if one != self.semantic.get(one.text)]

    def told_updates(self, text: str) -> list[Edit]:
        """Do what becomes of earlier statements because this one was told; return this for finish().

        Where both are read, subject, relation and time decide; else two that say the same are one, and others stay.
        """
        later = self.semantic.get(text)
        edits = self.updates(text, only_the_same=True)
        if later is None or not later.active or not later.structure:
            return edits
        held = self.semantic.structured()
        several = names_of_several(fact for one in held for fact in one.facts)
        # Of which of two people of one name it was told, nobody knows.
        certain = [one for one in later.facts if one_is_meant(one, several)]
        for earlier in held:
            ended = all(any(one.replaces(fact) for one in certain) for fact in earlier.facts)
            if earlier.text != text and ended and self.semantic.order(earlier) <= self.semantic.order(later):
                edits.append(self.edit(PROPOSITIONS, earlier.text, earlier.ended(later.text, later.stamp_ns)))
        return edits

    def edit(self, kind: str, key: str, after: Node | None) -> Edit:
        """Put a node in the place of the one of this key, None to drop that; return this for finish()."""
        before = self.semantic.get(key) if kind == PROPOSITIONS else self.steps.get(key)
        if isinstance(after, Proposition):
            self.semantic.put(after)
        elif isinstance(after, StandardStep):
            self.steps[key] = after
        elif kind == PROPOSITIONS:
            self.semantic.remove(key)
        else:
            self.steps.pop(key, None)
        return Edit(kind, key, before, after)

    def finish(self, edits: Sequence[Edit]) -> None:
        """Make edits durable."""
        last = {(edit.kind, edit.key): edit for edit in edits if edit.before != edit.after}
        nodes = [edit.after for edit in last.values() if edit.after is not None]
        for kind in (PROPOSITIONS, STEPS):
            gone = [edit.logged_key for edit in last.values() if edit.kind == kind and edit.after is None]
            if gone:
                self._on_removal()
                self._log.remove_documents(kind, gone)
        self._put(
            [node for node in nodes if isinstance(node, Proposition)],
            [node for node in nodes if isinstance(node, StandardStep)],
        )

    # --- forgetting ------------------------------------------------------------------------------

    def forget(self, session: str) -> int:
        """Withdraw a session for good; return how many facts that only it supported are gone."""
        withdrawn = self.drop(session)
        steps = [source for source in self.steps if source.rpartition(":")[0] == session]
        for source in steps:
            del self.steps[source]
        self._log.remove_documents(PROPOSITIONS, withdrawn.keys)
        self._log.remove_documents(STEPS, steps)
        self._put(withdrawn.stated, [])
        return len(withdrawn.keys)

    def drop(self, session: str) -> Withdrawal:
        """Withdraw a session that has gone from the store already; return what that took and changed."""
        self._on_removal()
        shown = self.semantic.of_session(session)
        for proposition in shown:
            self.semantic.remove(proposition.text)
        stated = [left for one in shown if (left := one.without(session)) is not None]
        for left in stated:
            self.semantic.put(left)
        return Withdrawal(stated, [one.key for one in shown if self.semantic.get(one.text) is None])

    def take_out(self, is_gone: Callable[[str, str], bool]) -> None:
        """Give up what has gone from the store already; is_gone: by a document's kind and id."""
        self._on_removal()
        for text in [text for text in self.semantic.texts() if is_gone(PROPOSITIONS, key_of(text))]:
            self.semantic.remove(text)
        for source in [source for source in self.steps if is_gone(STEPS, source)]:
            del self.steps[source]

    # --- the log ---------------------------------------------------------------------------------

    def _put(self, stated: Sequence[Proposition], steps: Sequence[StandardStep]) -> None:
        self._log.put_documents(STEPS, [(step.source, step_to_dict(step), ()) for step in steps])
        self._log.put_documents(PROPOSITIONS, [(p.key, to_dict(p), self._origins(p.sources)) for p in stated])

    def _origins(self, sources: Sequence[str]) -> tuple[Source, ...]:
        """Return what facts come from, as the store names it: steps that are held, else their episodes."""
        found = [
            (STEPS, source) if source in self.steps else ("episode", source.rpartition(":")[0]) for source in sources
        ]
        return tuple(dict.fromkeys(found))
