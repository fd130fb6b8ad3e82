"""More words for the goals: sentences of our own, indirect words for things, distracting clauses, several goals."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.names import plural
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.reading.trained_reader import NOTHING, SEVERAL
from training.instructions.corpus import Example, Labels, Task


def gerund(phrase: str) -> str:
    """Return "slicing bread" for "slice bread"."""
    verb, _, rest = phrase.partition(" ")
    if verb.endswith("ie"):
        verb = verb[:-2] + "y"
    elif verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        verb = verb[:-1]
    elif verb in _templates("doubled"):
        verb += verb[-1]
    return f"{verb}ing {rest}".strip()


def capital(text: str) -> str:
    """Return the text with its first letter large."""
    return text[:1].upper() + text[1:]


# templates, goal_patterns, descriptions, spoken_descriptions: what the reader learns from
PHRASES = Path(__file__).parent / "phrases"
Names = dict[str, dict[str, list[str]]]


@cache
def load_phrases(name: str) -> Mapping[str, Any]:
    """Return a file of PHRASES, by its name without the ending; it is read once."""
    loaded: Mapping[str, Any] = yaml.safe_load((PHRASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def _templates(key: str) -> Any:
    """Return a part of phrases/templates.yaml."""
    return load_phrases("templates")[key]


def class_words() -> Names:
    """Return class -> {"names": the best first, "described": phrases}, of the classes that people often mean."""
    return {
        kind.name: {"names": list(kind.names), "described": list(kind.described)}
        for kind in load_catalogue()
        if kind.everyday
    }


Facts = Mapping[str, Mapping[str, Sequence[str]]]

_INSTRUMENT = " with"
_SPOKEN = 0.7  # share of whole phrases, where there are some


class Descriptions:
    """Describes classes; every choice comes from `generator`.

    facts: phrases/descriptions.yaml, to be put together. spoken: phrases/spoken_descriptions.yaml, whole phrases.
    """

    def __init__(self, facts: Facts, spoken: Mapping[str, Sequence[str]], generator: random.Random) -> None:
        self._facts = facts
        self._spoken = spoken
        self._random = generator

    def __contains__(self, name: str) -> bool:
        return name in self._facts or name in self._spoken

    def phrase(self, name: str) -> str:
        """Return a complete noun phrase that describes the class.

        Raises:
            KeyError: nothing is known of the class.
        """
        if name in self._spoken and (name not in self._facts or self._random.random() < _SPOKEN):
            return self._random.choice(self._spoken[name])
        facts = self._facts[name]
        noun = self._random.choice(facts["is"])
        frames = [kind for kind in ("uses", "uses", "does", "looks") if facts.get(kind)]
        kind = self._random.choice(frames)
        if kind == "does":
            return self._random.choice(_templates("frames")["does"]).format(
                noun=noun, does=self._random.choice(facts["does"])
            )
        if kind == "looks":
            return self._random.choice(_templates("frames")["looks"]).format(
                noun=noun, look=self._random.choice(facts["looks"])
            )
        use = self._random.choice(facts["uses"])
        if self._random.random() < 0.5:
            return self._random.choice(_templates("frames")["uses"]).format(noun=noun, use=use)
        bare = use.removesuffix(_INSTRUMENT)
        return self._random.choice(_templates("frames")["purposes"]).format(noun=noun, bare=bare, doing=gerund(bare))


Patterns = Mapping[str, Sequence[str]]
_TOLD = 0.55  # share of things that are described where a goal is told


class Wording:
    """Says goals in many ways; every choice comes from `generator`.

    names: class_words(). patterns: phrases/goal_patterns.yaml.
    """

    def __init__(
        self,
        names: Names,
        patterns: Patterns,
        descriptions: Descriptions,
        generator: random.Random,
    ) -> None:
        self._names = names
        self._patterns = patterns
        self._descriptions = descriptions
        self._random = generator

    @classmethod
    def shipped(cls, generator: random.Random) -> Wording:
        """Return the one of the shipped words and phrases."""
        patterns, facts, spoken = map(load_phrases, ("goal_patterns", "descriptions", "spoken_descriptions"))
        return cls(class_words(), patterns, Descriptions(facts, spoken, generator), generator)

    def goal(self, task: Task) -> Example:
        """Return the task's goal in a sentence of ours."""
        templates = _templates("sliced_goals") if task.labels.sliced else _templates("goals")
        text = self._filled(self._random.choice(templates[task.labels.kind]), task.labels, task)
        return Example(self._polite(text), task.labels, task.objects, task.fixtures)

    def told(self, task: Task) -> Example:
        """Return the task's goal as a person would tell it who names few things; plainer where no pattern is for it."""
        labels = task.labels
        patterns = self._patterns.get(f"sliced_{labels.kind}" if labels.sliced else labels.kind)
        if not patterns:
            return self.goal(task)
        example = Example("", labels, task.objects, task.fixtures)
        place, vessel = self._somewhere(labels.parent, example), self._somewhere(labels.container, example)
        text = self._random.choice(patterns).format(
            x=self._whereabouts(self.thing(labels.target, _TOLD), "whereabouts", example),
            xs=plural(self.named(labels.target)),
            y=place,
            py=_into(labels.parent, place),
            m=vessel,
            pm=_into(labels.container, vessel),
            l=self._somewhere(labels.light, example),
        )
        return replace(example, text=capital(text) + self._random.choice(("", ".")))

    def _somewhere(self, name: str, example: Example) -> str:
        return self._whereabouts(self.thing(name, _TOLD / 2), "place_whereabouts", example) if name else ""

    def _whereabouts(self, words: str, key: str, example: Example) -> str:
        """Return the words, now and then with where that is."""
        if words.startswith("where ") or self._random.random() > 0.15:
            return words
        return words + self.aside(self._random.choice(self._patterns[key]), example)

    def plain(self, task: Task) -> Example:
        """Return a command to put a thing somewhere, often where it could be treated, with no word of treating it."""
        target = self._random.choice(sorted(task.objects & set(self._names)) or ["Mug"])
        holding = sorted(task.fixtures & set(_templates("holding"))) or ["Shelf"]
        labels = Labels(
            GoalKind.PLACE.value, target, self._random.choice((*_templates("treating"), self._random.choice(holding)))
        )
        text = self._filled(self._random.choice(_templates("plain")), labels, task)
        return Example(self._polite(text), labels, task.objects | {target}, task.fixtures | {labels.parent})

    def reworded(self, example: Example) -> Example:
        """Return the sentence with the target, its container or its destination called something else."""
        text = example.text.lower()
        slots = (example.labels.target, example.labels.parent, example.labels.container)
        for name in self._random.sample(slots, k=2):
            found = self._mention(name, text)
            if found:
                indirect = 0.6 if name == example.labels.target else 0.1
                words = self.thing(name, indirect)
                text = re.sub(rf"(?:\b(?:a|an|the) )?{re.escape(found)}", words.replace("\\", ""), text, count=1)
        return replace(example, text=text)

    def distracted(self, example: Example) -> Example:
        """Return the sentence with words around it that name other things and ask nothing of them."""
        text = example.text.strip().rstrip(".")
        choice = self._random.random()
        clauses = ("before", _templates("distractions_before")), ("after", _templates("distractions_after"))
        before_it, behind_it = (
            self._random.choice(self._patterns[f"distraction_{where}"] if self._random.random() < 0.6 else own)
            for where, own in clauses
        )
        if choice < 0.35:
            before = self.aside(before_it, example)
            text = before + (text if before.endswith(". ") else text[:1].lower() + text[1:])
            text = capital(text)
        elif choice < 0.6:
            text += self.aside(behind_it, example)
        elif choice < 0.8:
            before = self._random.choice(_templates("remark_before")).format(r=self.remark_text(example))
            text = before + (text if before.endswith(". ") else text[:1].lower() + text[1:])
        else:
            text += self._random.choice(_templates("remark_after")).format(r=self.remark_text(example))
        return replace(example, text=text)

    def names_what_is_lit(self, example: Example) -> bool:
        """Return whether a sentence of looking at something says at what: "turn on the lamp" alone is no such goal."""
        labels = example.labels
        return labels.kind != GoalKind.EXAMINE.value or bool(self._mention(labels.target, f" {example.text.lower()}"))

    def remark(self, task: Task) -> Example:
        """Return a sentence that asks for nothing."""
        example = Example("", task.labels, task.objects, task.fixtures)
        if self._random.random() < 0.2:
            text = (
                self.aside(self._random.choice(_templates("distractions_before")), example)
                .removesuffix("and ")
                .strip(" ,:")
            )
        else:
            text = self.remark_text(example)
        return replace(example, text=text, labels=Labels(NOTHING))

    def command(self, task: Task) -> Example:
        """Return a short command about the things of the task's home: one skill's worth."""
        kind = self._random.choice(sorted(_templates("commands")))
        templates, targets = _templates("commands")[kind]["say"], _templates("commands")[kind]["of"]
        present = sorted((task.objects | task.fixtures) & set(targets) if targets else task.objects)
        target = self._random.choice([name for name in present if name in self._names] or sorted(targets or {"Apple"}))
        text = self._random.choice(templates).format(x=self.thing(target, 0.15), xs=self.name(target))
        return Example(self._polite(text), Labels(kind, target), task.objects | {target}, task.fixtures)

    def chain(self, task: Task, person: int) -> Example:
        """Return one person's steps as one long instruction; steps that only drive are mostly left out."""
        steps = task.steps[person]
        driving = [action == "GotoLocation" for action, _ in task.actions]
        kept = [
            step.strip().rstrip(".")
            for index, step in enumerate(steps)
            if index >= len(driving) or not driving[index] or self._random.random() < 0.15
        ]
        text = kept[0] if kept else task.sentences[0]
        for step in kept[1:]:
            text += self._random.choice(_templates("connectors")) + step[:1].lower() + step[1:]
        return Example(text, task.labels, task.objects, task.fixtures)

    def _filled(self, template: str, labels: Labels, task: Task) -> str:
        example = Example("", labels, task.objects, task.fixtures)
        target = self.thing(labels.target)
        if self._random.random() < 0.2:
            target += self.aside(self._random.choice(_templates("sources")), example)
        return template.format(
            x=target,
            xs=plural(self.named(labels.target)),
            bare=self.named(labels.target),
            y=self.place(labels.parent, example) if labels.parent else "",
            m=self.thing(labels.container, 0.1) if labels.container else "",
            l=self.thing(labels.light, 0.0) if labels.light else "",
            p="in" if labels.parent in _templates("inside") else "on",
            q="in" if labels.container in _templates("inside") else "on",
        )

    def thing(self, name: str, indirect: float = 0.3) -> str:
        """Return words for an object of the class: mostly a name, sometimes only a description, with its article."""
        if self._random.random() < indirect:
            described = self._names[name]["described"] if name in self._names else ()
            if name in self._descriptions and (not described or self._random.random() < 0.75):
                return self._descriptions.phrase(name)
            if described:
                words = self._random.choice(described)
                return words if words.startswith(("something", "what", "where")) else f"the {words}"
        words = self.named(name)
        vowel = "an" if words[0] in "aeiou" else "a"
        return self._random.choice((f"the {words}", f"the {words}", f"{vowel} {words}", words))

    def place(self, name: str, example: Example) -> str:
        """Return words for a receptacle, now and then with where it stands, or only described."""
        described = self._random.random() < 0.08 and name in self._descriptions
        phrase = self._descriptions.phrase(name) if described else "where"
        if not phrase.startswith("where"):  # the patterns have a preposition before it
            return phrase
        words = f"the {self.named(name)}"
        return words + (
            self.aside(self._random.choice(_templates("sites")), example) if self._random.random() < 0.25 else ""
        )

    def named(self, name: str) -> str:
        """Return a name of the class without an article, sometimes with its looks."""
        words = self.name(name)
        return f"{self._random.choice(_templates('colours'))} {words}" if self._random.random() < 0.2 else words

    def name(self, name: str) -> str:
        """Return a name of the class, often the first, without an article."""
        names = self._names[name]["names"] if name in self._names else ["thing"]
        return names[0] if name in self._names and self._random.random() < 0.4 else self._random.choice(names)

    def _mention(self, name: str, text: str) -> str:
        names = self._names[name]["names"] if name else ()
        return max((word for word in names if f" {word}" in text), key=len, default="")

    def remark_text(self, example: Example) -> str:
        """Return a sentence about other things that asks for nothing."""
        return self.aside(self._random.choice(_templates("remarks")), example)

    def aside(self, template: str, example: Example) -> str:
        """Fill a pattern with things and furniture of the home that the instruction is not about."""
        labels = example.labels
        slots = {labels.target, labels.parent, labels.container, labels.light}
        others = sorted((example.objects - slots) & set(self._names)) or ["Book"]
        places = sorted((example.fixtures - slots) & set(self._names)) or ["Shelf"]
        subject = self.name(labels.target) if labels.target else "key"
        return template.format(
            o=self.name(self._random.choice(others)),
            o2=self.name(self._random.choice(others)),
            f=self.name(self._random.choice(places)),
            f2=self.name(self._random.choice(places)),
            x=subject,
        )

    def _polite(self, text: str) -> str:
        text = self._random.choice(_templates("polite")).format(text) if self._random.random() < 0.25 else text
        return capital(text) + self._random.choice(("", "."))


def _into(name: str, words: str) -> str:
    """Return the words with a preposition before them that fits the class."""
    if words.startswith("where "):
        return words
    return f"{'in' if name in _templates('inside') else 'on'} {words}"


_PARTS, _WEIGHTS = (1, 2, 3, 4), (0.3, 0.42, 0.2, 0.08)
_REMARK = 0.12  # share of instructions with a remark before or behind them


class SeveralGoals:
    """Joins sentences about one home; every choice comes from `generator`."""

    def __init__(self, wording: Wording, tasks: Sequence[Task], generator: random.Random) -> None:
        self._wording = wording
        self._tasks = tasks
        self._random = generator
        self._homes: dict[frozenset[str], list[Task]] = {}
        for task in tasks:
            self._homes.setdefault(task.fixtures, []).append(task)

    def example(self) -> Example:
        """Return one to four sentences as one instruction: one goal, or several."""
        count = self._random.choices(_PARTS, _WEIGHTS)[0]
        home = self._homes[self._random.choice(self._tasks).fixtures]
        parts = [self._part(self._random.choice(home)) for _ in range(count)]
        text = parts[0].text.strip().rstrip(".")
        for part in parts[1:]:
            joint = self._random.choice(_templates("joints"))
            said = part.text.strip().rstrip(".")
            text += joint + (capital(said) if joint == ". " else said[:1].lower() + said[1:])
        goals = [part.labels for part in parts if part.labels.kind != NOTHING]
        labels = goals[0] if len(set(goals)) == 1 else Labels(SEVERAL if goals else NOTHING)
        objects = frozenset().union(*(part.objects for part in parts))
        whole = Example(text, labels, objects, parts[0].fixtures.union(*(part.fixtures for part in parts)))
        return self._wording.distracted(whole) if self._random.random() < _REMARK else whole

    def _part(self, task: Task) -> Example:
        """Return a task in people's words, in people's words changed, or in ours; or a short command."""
        people = [one for one in task.examples() if self._wording.names_what_is_lit(one)] or [self._wording.goal(task)]
        said = self._random.choice(people)
        choices: tuple[Callable[[], Example], ...] = (
            lambda: said,
            lambda: self._wording.reworded(said),
            lambda: self._wording.goal(task),
            lambda: self._wording.told(task),
            lambda: self._wording.plain(task),
            lambda: self._wording.command(task),
            lambda: self._wording.command(task),
        )
        return self._random.choice(choices)()
