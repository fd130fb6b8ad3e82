"""More words for the goals: sentences of our own making, indirect words for things, and clauses that distract."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from memory_node.domain.goal_labels import GoalKind
from memory_node.learning.instructions.corpus import Example, Labels, Task
from memory_node.learning.instructions.phrases import (
    COLOURS,
    COMMANDS,
    CONNECTORS,
    DISTRACTIONS_AFTER,
    DISTRACTIONS_BEFORE,
    GOAL_TEMPLATES,
    POLITE,
    SITES,
    SLICED_TEMPLATES,
)

Names = Mapping[str, Mapping[str, Sequence[str]]]
_INSIDE = {"Fridge", "Microwave", "Drawer", "Cabinet", "GarbageCan", "SinkBasin", "BathtubBasin", "Safe", "Box", "Bowl"}
_INSIDE |= {"Pot", "Cup", "Mug"}


class Wording:
    """Says goals in many ways; every choice comes from `generator`. names: config/vocabulary.yaml."""

    def __init__(self, names: Names, generator: random.Random) -> None:
        self._names = names
        self._random = generator

    def thing(self, name: str, indirect: float = 0.25, article: bool = True) -> str:
        """Return words for an object of the class: mostly a name, sometimes a colour or only a description."""
        entry = self._names[name]
        if entry["described"] and self._random.random() < indirect:
            words = self._random.choice(entry["described"])
            complete = words.startswith(("something", "what", "where"))
            return words if complete or not article else f"the {words}"
        words = self._name(name)
        if self._random.random() < 0.2:
            words = f"{self._random.choice(COLOURS)} {words}"
        if not article:
            return words
        vowel = "an" if words[0] in "aeiou" else "a"
        return self._random.choice((f"the {words}", f"the {words}", f"{vowel} {words}", words))

    def place(self, name: str) -> str:
        """Return words for a receptacle, now and then with where it stands."""
        words = f"the {self._name(name)}"
        if self._random.random() < 0.2:
            words = f"the {self._random.choice(COLOURS)} {self._name(name)}"
        return words + (self._random.choice(SITES) if self._random.random() < 0.2 else "")

    def _name(self, name: str) -> str:
        names = self._names[name]["names"]
        return names[0] if self._random.random() < 0.4 else self._random.choice(names)

    def goal(self, task: Task) -> Example:
        """Return the task's goal in a sentence of ours."""
        labels = task.labels
        templates = SLICED_TEMPLATES if labels.sliced else GOAL_TEMPLATES
        text = self._random.choice(templates[labels.kind])
        target = self.thing(labels.target, article=labels.kind != GoalKind.PLACE_TWO)
        text = text.format(
            x=target,
            xs=_plural(self.thing(labels.target, 0.0, article=False)),
            bare=self.thing(labels.target, 0.0, article=False),
            y=self.place(labels.parent) if labels.parent else "",
            m=self.thing(labels.container, 0.1) if labels.container else "",
            l=self.thing(labels.light, 0.0) if labels.light else "",
            p="in" if labels.parent in _INSIDE else "on",
            q="in" if labels.container in _INSIDE else "on",
        )
        return Example(self._polite(text), labels, task.objects, task.fixtures)

    def reworded(self, example: Example) -> Example:
        """Return the sentence with the target, its container or its destination called something else."""
        text = example.text.lower()
        slots = (example.labels.target, example.labels.parent, example.labels.container)
        for name in self._random.sample(slots, k=2):
            found = self._mention(name, text)
            if found:
                indirect = 0.5 if name == example.labels.target else 0.0
                text = text.replace(found, self.thing(name, indirect, article=False), 1)
        return Example(text, example.labels, example.objects, example.fixtures)

    def _mention(self, name: str, text: str) -> str:
        names = self._names[name]["names"] if name else ()
        return max((word for word in names if f" {word}" in text), key=len, default="")

    def distracted(self, example: Example) -> Example:
        """Return the sentence with a clause that names other things and asks nothing of them."""
        slots = {example.labels.target, example.labels.parent, example.labels.container, example.labels.light}
        others = sorted((example.objects - slots) & set(self._names)) or ["Book"]
        places = sorted((example.fixtures - slots) & set(self._names)) or ["Shelf"]
        other, place = self._random.choice(others), self._random.choice(places)
        words = {"o": self._name(other), "f": self._name(place)}
        text = example.text.strip().rstrip(".")
        if self._random.random() < 0.6:
            text = self._random.choice(DISTRACTIONS_BEFORE).format(**words) + text[:1].lower() + text[1:]
        else:
            text = text + self._random.choice(DISTRACTIONS_AFTER).format(**words)
        return Example(text, example.labels, example.objects, example.fixtures)

    def command(self, task: Task) -> Example:
        """Return a short command about the things of the task's home: one skill's worth."""
        kind = self._random.choice(sorted(COMMANDS))
        templates, targets = COMMANDS[kind]
        present = sorted((task.objects | task.fixtures) & set(targets) if targets else task.objects)
        target = self._random.choice([name for name in present if name in self._names] or sorted(targets or {"Apple"}))
        text = self._random.choice(templates).format(x=self.thing(target, 0.15), xs=self._name(target))
        labels = Labels(kind, target)
        return Example(self._polite(text), labels, task.objects | {target}, task.fixtures)

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

    def _polite(self, text: str) -> str:
        text = self._random.choice(POLITE).format(text) if self._random.random() < 0.25 else text
        return text[:1].upper() + text[1:] + self._random.choice(("", "."))


def _plural(words: str) -> str:
    return words if words.endswith("s") else words + ("es" if words.endswith(("x", "ch", "sh")) else "s")
