"""Says single acts in words, each in the context of what an instruction has spoken of so far."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_node.domain.nouns import plural
from training.instructions.acts import BIN, TREATMENTS, UNKNOWN, Act
from training.instructions.augment import INSIDE, Wording
from training.instructions.corpus import Example, Labels, Task
from training.instructions.inflection import gerund, participle
from training.instructions.phrase_book import PhraseBook
from training.instructions.phrases import SOURCES

_INTO = ("in", "in", "in", "into", "inside", "inside of")
_ONTO = ("on", "on", "on", "onto", "on top of", "upon")
_EITHER = ("Toilet", "Fridge", "StoveBurner", "Shelf")  # people say "in" and "on"
_WHOLE_VERBS = ("make", "see", "let")  # "make {x} hot" has no passive
_DONE = {"clean": ("washed", "cleaned"), "heat": ("heated",), "cool": ("cooled",)}


@dataclass
class SentenceWriter:
    """The words of one instruction so far. terse: articles are left out; learner: a beginner's English.

    groups: group words and their classes. last, last_place: what "it" and "there" would mean now.
    """

    book: PhraseBook
    wording: Wording
    task: Task
    groups: Mapping[str, Sequence[str]]
    random: random.Random
    terse: bool = False
    learner: bool = False
    last: str = ""
    last_place: str = ""
    mentioned: dict[str, set[str]] = field(default_factory=dict)

    def pick(self, key: str) -> str:
        """Return one of the phrase book's phrases."""
        return self.random.choice(self.book[key])

    def name(self, name: str) -> str:
        """Return a name without an article."""
        return self.wording.name(name)

    def thing(self, name: str, pronoun: float = 0.7) -> str:
        """Return words for a thing: a pronoun or what was done to it when it was spoken of already."""
        known = self.mentioned.get(name)
        focus = name == self.last
        self.last = name
        if known is None:
            self.mentioned[name] = set()
            return self._first(name)
        if "slice" in known and self.random.random() < 0.75:
            return (
                self.pick("piece").format(x=self.name(name)) if self.random.random() < 0.4 else self.pick("piece_again")
            )
        if focus and self.random.random() < pronoun:
            return self.random.choice(
                ("it", "it", "it", "it", "it", "that", "this one", "him" if self.learner else "it")
            )
        return self._again(name, known)

    def things(self, name: str) -> str:
        """Return words for two things of a class."""
        self.last = name
        self.mentioned[name] = {"two"}
        # "the keys" are one KeyChain
        words = next((one for one in (self.name(name) for _ in range(12)) if not one.endswith("s")), "one")
        return self.pick("two_of").format(s=plural(words), w=words)

    def at(self, name: str) -> str:
        """Return "in the drawer", "there", "inside it"."""
        if name == self.last_place and self.random.random() < 0.5:
            return self.pick("same_place")
        if name == self.last and name in self.mentioned and self.random.random() < 0.6:
            inside = ("inside", "in it", "inside it", "into it", "in there")
            return self.random.choice(inside if name in INSIDE else ("on it", "on top of it", "onto it", "in it"))
        words = self._where(name)
        before = self.random.choice((*(_INTO if name in INSIDE else _ONTO), *(("to",) if self.learner else ())))
        if name in ("Plate", "Pan") or (name in _EITHER and self.random.random() < 0.3):
            before = self.random.choice((before, "in", "on"))
        return f"{before} {words}"

    def to(self, name: str) -> str:
        """Return "to the drawer"."""
        if name == self.last_place and self.random.random() < 0.5:
            return self.random.choice(("there", "there too", "to the same place"))
        return f"to {self._where(name)}" if self.random.random() < 0.75 else self.at(name)

    def near(self, name: str) -> str:
        """Return "next to the mug"."""
        words = "it" if name == self.last and self.random.random() < 0.6 else self._where(name)
        return f"{self.pick('beside')} {words}"

    def said(self, act: Act) -> str:
        """Return an act as an order, or as a statement of how things should be."""
        if act.kind in ("at", "two") and self.random.random() < (0.7 if self.terse else 0.15):
            return self.stative(act)
        return self.passive(act) if self.random.random() < 0.18 else self.base(act)

    def base(self, act: Act, target: str = "") -> str:
        """Return the act as an order: "put it in the drawer". target: other words for the thing."""
        return self._template(act).format(**self._words(act, target))

    def gerund(self, act: Act) -> str:
        """Return "putting it in the drawer"."""
        return gerund(self.base(act))

    def done(self, act: Act) -> str:
        """Return "put it in the drawer" as behind "you have"."""
        return participle(self.base(act))

    def passive(self, act: Act, auxiliary: str = "") -> str:
        """Return "it should be put in the drawer"; a place may go without a verb: "it belongs in the drawer"."""
        if act.kind in ("at", "two") and not auxiliary and self.random.random() < 0.5:
            return self.stative(act)
        templates = [one for one in self.book[f"verbs {_verbs(act)}"] if _has_passive(one)]
        words = self._words(act, "")
        if not templates:
            return self._template(act).format(**words)
        rest = participle(self.random.choice(templates)).replace("{x}", "").format(**words)
        subject = "they" if words["x"] == "them" else words["x"]
        return " ".join(f"{subject} {auxiliary or self.pick('auxiliaries')} {rest}".split())

    def stative(self, act: Act) -> str:
        """Return "it belongs in the drawer"."""
        words = self._words(act, "")
        return self.pick("terse" if self.terse else "stative").format(**words, y=self.name(act.place))

    def example(self, *names: str) -> Example:
        """Return the home with labels of up to three classes, for words that speak of others."""
        target, parent, container = (*names, "", "", "")[:3]
        return Example("", Labels("", target, parent, container), self.task.objects, self.task.fixtures)

    def _template(self, act: Act) -> str:
        return self.pick(f"verbs {_verbs(act)}")

    def _words(self, act: Act, target: str) -> dict[str, str]:
        if not target and act.kind == "other":
            target = self.pick("another") if self.random.random() < 0.75 else f"another {self.name(act.target)}"
        if not target:
            target = self.things(act.target) if act.kind == "two" else self.thing(act.target)
        words = {"x": target}
        place = BIN if act.kind == "trash" else act.place
        if act.kind == "near":
            words["near"] = self.near(place)
        elif act.kind == "examine":
            words["l"] = f"the {self.name(place)}" if self.random.random() < 0.8 else "the lamp"
        elif place:
            words["at"], words["to"] = self.at(place), self.to(place)
            self.last_place = place
        self.last = act.target
        if act.kind in (*TREATMENTS, "slice"):
            self.mentioned.setdefault(act.target, set()).add(act.kind)
        return words

    def _first(self, name: str) -> str:
        if name == UNKNOWN:
            if self.random.random() < 0.08:
                return self.random.choice(("it", "that", "this", "them", "it"))  # nothing was spoken of
            return f"{self.random.choice(('the', 'a', 'my', 'the'))} {self.pick('unknown_things')}"
        if self.terse and self.random.random() < 0.7:
            return self.name(name)
        words = self.wording.thing(name, 0.15)
        if words.startswith(("the ", "a ", "an ")) and self.random.random() < 0.12:
            article, _, rest = words.partition(" ")
            if self.random.random() < 0.3:
                words = f"{article} {self.pick('conditions')} {rest}"
            else:
                words = f"{self.random.choice(('my', 'that', 'this', 'your', 'our', 'one', 'some'))} {rest}"
        choice = self.random.random()
        if choice < 0.1:
            words += self.wording.aside(self.random.choice(SOURCES), self.example(name))
        elif choice < 0.16:
            words += self.wording.aside(self.pick("relatives"), self.example(name))
        elif choice < 0.19:
            words += f", which {self.wording.aside('is on the {f}', self.example(name))},"
        return words

    def _again(self, name: str, known: set[str]) -> str:
        """Return words for a thing that was spoken of before, but not just now."""
        rivals = [other for other in self.mentioned if other != name]
        choices = [f"the {self.name(name)}"] * 3 if name != UNKNOWN else ["that thing"]
        for state in [treatment for treatment in TREATMENTS if treatment in known]:
            word = self.pick(f"states {state}")
            choices.append(f"the {word} {self.name(name)}")
            if not any(state in self.mentioned[other] for other in rivals):
                done = self.random.choice(_DONE[state])
                choices += [f"the {word} one", f"the one you {done}", f"the one that you {done}", f"the {word} thing"]
        for group, members in self.groups.items():
            if name in members and not any(other in members for other in rivals):
                choices.append(f"the {group}")
        return self.random.choice(choices)

    def _where(self, name: str) -> str:
        """Return words for a place."""
        first = name not in self.mentioned
        self.mentioned.setdefault(name, set())
        if name == UNKNOWN:
            return f"the {self.pick('unknown_places' if self.random.random() < 0.8 else 'unknown_things')}"
        if self.terse and self.random.random() < 0.6:
            return self.name(name)
        if not first or self.random.random() < 0.8:
            article = self.random.choice(("the", "the", "the", "the", "a", "my", "that"))
            return f"{article} {self.name(name)}"
        return self.wording.place(name, self.example(name))


def _verbs(act: Act) -> str:
    return "at" if act.kind in ("two", "other") else act.kind


def _has_passive(template: str) -> bool:
    return template.count("{x}") == 1 and " and " not in template and not template.startswith(_WHOLE_VERBS)
