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
from memory_node.knowledge.semantic_graph import SemanticGraph
from memory_node.knowledge.standard_step import ASKED, TOLD, StandardStep, step_to_dict
from memory_node.knowledge.told.fact import Relation, names_of_several, one_is_meant
from memory_node.knowledge.updating import LEAST_LIKENESS, TOPIC_LIKENESS, Update, judge_by_rules, updated

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
        self.steps: dict[str, StandardStep] = {}
        self._log = log
        self._on_removal = on_removal
        self._before: dict[tuple[str, str], Node | None] = {}  # of what changed since finish()

    def _states(self, proposition: Proposition) -> list[str]:
        return [step.state for source in proposition.sources if (step := self.steps.get(source)) is not None]

    def is_told(self, proposition: Proposition) -> bool:
        """Return whether a proposition counts and was told by a person."""
        return proposition.active and TOLD in self._states(proposition)

    def was_read(self, proposition: Proposition) -> bool:
        """Return whether a proposition stands in a document or talk."""
        return any(state not in (TOLD, ASKED) for state in self._states(proposition))

    def was_said_with_a_task(self, proposition: Proposition) -> bool:
        """Return whether a person said it beside what was to be done."""
        return ASKED in self._states(proposition)

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

    # --- changes, which finish() makes durable -----------------------------------------------------

    def state(self, proposition: Proposition) -> None:
        """Take a statement over, or its sources where it is known, which then counts again."""
        known = self.semantic.get(proposition.text)
        # A step that is read again says nothing new, also where its statement was joined with another; it may be the
        # first time that it is read into facts.
        if known is None:
            self.put(proposition)
        elif not set(proposition.sources) <= set(known.sources):
            self.put(replace(known.merged(proposition), active=True, replaced_by=""))
        elif proposition.structure and not known.structure:
            self.put(replace(known, structure=proposition.structure))

    def update(self, text: str, only_the_same: bool = False) -> None:
        """Do what becomes of a proposition beside the one that is most like it.

        only_the_same: leave both where they say different things.
        """
        pair = self._pair(text)
        if pair is None:
            return
        earlier, later = pair
        update = judge_by_rules(earlier, later)
        # What was read is decided by what it says when it is told: see update_told.
        if update.relationship != "same" and (only_the_same or earlier.structure or later.structure):
            return
        if update.relationship == "topic" and self.semantic.cosine(earlier.text, later.text) < TOPIC_LIKENESS:
            return
        self.combine(earlier, later, update)

    def _pair(self, text: str) -> tuple[Proposition, Proposition] | None:
        """Return a proposition and the one that is most like it, the earlier first; None without one."""
        one = self.semantic.get(text)
        other = self.semantic.most_like(one, LEAST_LIKENESS) if one is not None and one.active else None
        if one is None or other is None:
            return None
        return (other, one) if self.semantic.order(other) <= self.semantic.order(one) else (one, other)

    def left_apart(self, text: str) -> tuple[Proposition, Proposition] | None:
        """Return a proposition and the one most like it, the earlier first, where a model may combine them: they are of
        one subject, and not both are read; what is read of habits are words."""
        pair = self._pair(text)
        if pair is None or pair[0].subject != pair[1].subject:
            return None
        if all(any(fact.relation is not Relation.DOES for fact in one.facts) for one in pair):
            return None
        return pair

    def combine(self, earlier: Proposition, later: Proposition, update: Update) -> None:
        """Do what was decided of two propositions."""
        for one in updated(earlier, later, update):
            if one != self.semantic.get(one.text):
                self.put(one)

    def update_told(self, text: str, corrected: str = "") -> None:
        """Do what becomes of earlier statements because this one was told. corrected: the step of what it corrects.

        Where both are read, subject, relation and time decide; else two that say the same are one, and others stay.
        """
        later = self.semantic.get(text)
        self.update(text, only_the_same=True)
        if later is None or not later.active or not later.structure:
            return
        held = self.semantic.structured()
        several = names_of_several(fact for one in held for fact in one.facts)
        # Of which of two people of one name it was told, nobody knows; what begins later ends nothing before.
        certain = [one for one in later.facts if one_is_meant(one, several)]
        begun = [one for one in certain if one.from_ns <= later.stamp_ns]
        for earlier in held:
            corrects = corrected in earlier.sources
            ended = all(
                any(one.replaces(fact) for one in begun) or (corrects and any(one.corrects(fact) for one in certain))
                for fact in earlier.facts
            )
            if earlier.text != text and ended and self.semantic.order(earlier) <= self.semantic.order(later):
                self.put(earlier.ended(later.text, later.stamp_ns))

    def put(self, *nodes: Node) -> None:
        """Take nodes over, each in the place of the one of its text or source."""
        for node in nodes:
            if isinstance(node, Proposition):
                self._before.setdefault((PROPOSITIONS, node.text), self.semantic.get(node.text))
                self.semantic.put(node)
            else:
                self._before.setdefault((STEPS, node.source), self.steps.get(node.source))
                self.steps[node.source] = node

    def remove(self, *nodes: Node) -> None:
        """Drop nodes that are held."""
        for node in nodes:
            if isinstance(node, Proposition):
                self._before.setdefault((PROPOSITIONS, node.text), node)
                self.semantic.remove(node.text)
            else:
                self._before.setdefault((STEPS, node.source), node)
                del self.steps[node.source]

    def finish(self) -> list[Node]:
        """Make durable what changed since the last time; return the nodes that did, as they are now."""
        before, self._before = self._before, {}
        changed: list[Node] = []
        gone: dict[str, list[str]] = {PROPOSITIONS: [], STEPS: []}
        for (kind, key), was in before.items():
            now = self.semantic.get(key) if kind == PROPOSITIONS else self.steps.get(key)
            if now is not None:
                changed += [now] if now != was else []
            elif was is not None:
                gone[kind].append(was.key if isinstance(was, Proposition) else key)
        for kind, keys in gone.items():
            if keys:
                self._on_removal()
                self._log.remove_documents(kind, keys)
        steps = [one for one in changed if isinstance(one, StandardStep)]
        stated = [one for one in changed if isinstance(one, Proposition)]
        self._log.put_documents(STEPS, [(step.source, step_to_dict(step), ()) for step in steps])
        self._log.put_documents(PROPOSITIONS, [(p.key, to_dict(p), self._origins(p.sources)) for p in stated])
        return changed

    # --- forgetting ------------------------------------------------------------------------------

    def forget(self, session: str) -> int:
        """Withdraw a session for good; return how many facts that only it supported are gone."""
        gone = self._withdrawn(session)
        told = [source for source in self.steps if source.rpartition(":")[0] == session]
        self.remove(*map(self.steps.__getitem__, told))
        self.finish()
        return gone

    def drop(self, session: str) -> None:
        """Withdraw a session that has gone from the store already."""
        self._withdrawn(session)
        self._before.clear()

    def _withdrawn(self, session: str) -> int:
        self._on_removal()
        shown = {one: one.without(session) for one in self.semantic.of_session(session)}
        self.put(*filter(None, shown.values()))
        gone = [one for one, left in shown.items() if left is None]
        self.remove(*gone)
        return len(gone)

    def take_out(self, is_gone: Callable[[str, str], bool]) -> None:
        """Give up what has gone from the store already; is_gone: by a document's kind and id."""
        self._on_removal()
        for text in [text for text in self.semantic.texts() if is_gone(PROPOSITIONS, key_of(text))]:
            self.semantic.remove(text)
        for source in [source for source in self.steps if is_gone(STEPS, source)]:
            del self.steps[source]

    def _origins(self, sources: Sequence[str]) -> tuple[Source, ...]:
        """Return what facts come from, as the store names it: steps that are held, else their episodes."""
        found = [
            (STEPS, source) if source in self.steps else ("episode", source.rpartition(":")[0]) for source in sources
        ]
        return tuple(dict.fromkeys(found))
