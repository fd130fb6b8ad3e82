"""More words for the goals: sentences of our own making, indirect words for things, and clauses that distract."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory_node.domain.names import plural
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.reading.trained_reader import NOTHING
from training.instructions.corpus import Example, Labels, Task
from training.instructions.descriptions import Descriptions
from training.instructions.inflection import capital
from training.instructions.phrase_book import Names, class_words, load_phrases
from training.instructions.phrases import (
    COLOURS,
    COMMANDS,
    CONNECTORS,
    DISTRACTIONS_AFTER,
    DISTRACTIONS_BEFORE,
    GOAL_TEMPLATES,
    HOLDING,
    PLAIN_TEMPLATES,
    POLITE,
    REMARK_AFTER,
    REMARK_BEFORE,
    REMARKS,
    SITES,
    SLICED_TEMPLATES,
    SOURCES,
    TREATING,
)

Patterns = Mapping[str, Sequence[str]]
INSIDE = {"Fridge", "Microwave", "Drawer", "Cabinet", "GarbageCan", "SinkBasin", "BathtubBasin", "Safe", "Box", "Bowl"}
INSIDE |= {"Pot", "Cup", "Mug"}
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
        templates = SLICED_TEMPLATES if task.labels.sliced else GOAL_TEMPLATES
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
        holding = sorted(task.fixtures & set(HOLDING)) or ["Shelf"]
        labels = Labels(GoalKind.PLACE.value, target, self._random.choice((*TREATING, self._random.choice(holding))))
        text = self._filled(self._random.choice(PLAIN_TEMPLATES), labels, task)
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
        clauses = ("before", DISTRACTIONS_BEFORE), ("after", DISTRACTIONS_AFTER)
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
            before = self._random.choice(REMARK_BEFORE).format(r=self.remark_text(example))
            text = before + (text if before.endswith(". ") else text[:1].lower() + text[1:])
        else:
            text += self._random.choice(REMARK_AFTER).format(r=self.remark_text(example))
        return replace(example, text=text)

    def names_what_is_lit(self, example: Example) -> bool:
        """Return whether a sentence of looking at something says at what: "turn on the lamp" alone is no such goal."""
        labels = example.labels
        return labels.kind != GoalKind.EXAMINE.value or bool(self._mention(labels.target, f" {example.text.lower()}"))

    def remark(self, task: Task) -> Example:
        """Return a sentence that asks for nothing."""
        example = Example("", task.labels, task.objects, task.fixtures)
        if self._random.random() < 0.2:
            text = self.aside(self._random.choice(DISTRACTIONS_BEFORE), example).removesuffix("and ").strip(" ,:")
        else:
            text = self.remark_text(example)
        return replace(example, text=text, labels=Labels(NOTHING))

    def command(self, task: Task) -> Example:
        """Return a short command about the things of the task's home: one skill's worth."""
        kind = self._random.choice(sorted(COMMANDS))
        templates, targets = COMMANDS[kind]
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
            text += self._random.choice(CONNECTORS) + step[:1].lower() + step[1:]
        return Example(text, task.labels, task.objects, task.fixtures)

    def _filled(self, template: str, labels: Labels, task: Task) -> str:
        example = Example("", labels, task.objects, task.fixtures)
        target = self.thing(labels.target)
        if self._random.random() < 0.2:
            target += self.aside(self._random.choice(SOURCES), example)
        return template.format(
            x=target,
            xs=plural(self.named(labels.target)),
            bare=self.named(labels.target),
            y=self.place(labels.parent, example) if labels.parent else "",
            m=self.thing(labels.container, 0.1) if labels.container else "",
            l=self.thing(labels.light, 0.0) if labels.light else "",
            p="in" if labels.parent in INSIDE else "on",
            q="in" if labels.container in INSIDE else "on",
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
        return words + (self.aside(self._random.choice(SITES), example) if self._random.random() < 0.25 else "")

    def named(self, name: str) -> str:
        """Return a name of the class without an article, sometimes with its looks."""
        words = self.name(name)
        return f"{self._random.choice(COLOURS)} {words}" if self._random.random() < 0.2 else words

    def name(self, name: str) -> str:
        """Return a name of the class, often the first, without an article."""
        names = self._names[name]["names"] if name in self._names else ["thing"]
        return names[0] if name in self._names and self._random.random() < 0.4 else self._random.choice(names)

    def _mention(self, name: str, text: str) -> str:
        names = self._names[name]["names"] if name else ()
        return max((word for word in names if f" {word}" in text), key=len, default="")

    def remark_text(self, example: Example) -> str:
        """Return a sentence about other things that asks for nothing."""
        return self.aside(self._random.choice(REMARKS), example)

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
        text = self._random.choice(POLITE).format(text) if self._random.random() < 0.25 else text
        return capital(text) + self._random.choice(("", "."))


def _into(name: str, words: str) -> str:
    """Return the words with a preposition before them that fits the class."""
    if words.startswith("where "):
        return words
    return f"{'in' if name in INSIDE else 'on'} {words}"
