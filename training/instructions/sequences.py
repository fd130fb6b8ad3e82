"""Instructions of several goals for training: patterns of acts, each said in the context of those before it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from training.instructions import group_patterns, self_corrections, single_patterns
from training.instructions.acts import LAMPS, LIDDED, PLACES, TREATMENTS, UNKNOWN, Effect, Scene, effects_of
from training.instructions.augment import Wording
from training.instructions.class_words import group_words
from training.instructions.conversation import Conversation
from training.instructions.corpus import Example, Task
from training.instructions.draft import Draft, Told
from training.instructions.inflection import capital
from training.instructions.phrase_book import PhraseBook, load_phrase_book
from training.instructions.sentence_writer import SentenceWriter

_PATTERNS: tuple[tuple[float, Callable[[Draft], Told]], ...] = (
    (1.6, single_patterns.simple),
    (1.4, single_patterns.command),
    (2.2, single_patterns.treated),
    (1.0, single_patterns.sliced),
    (0.8, group_patterns.stacked),
    (0.8, group_patterns.two),
    (1.0, group_patterns.listed),
    (0.7, group_patterns.gapped),
    (0.5, group_patterns.neighbours),
    (0.8, single_patterns.examined),
    (1.0, self_corrections.corrected),
    (0.7, self_corrections.instead),
    (0.5, single_patterns.opened),
    (0.4, group_patterns.respectively),
    (0.4, group_patterns.another),
    (1.1, single_patterns.reordered),
    (0.7, single_patterns.walked),
)
_PEOPLES, _AGAIN = 0.9, 3.0  # weights of a sentence of people's, and of doing more with what was handled
_FIXTURES = frozenset({*PLACES, *LIDDED, *LAMPS})


@dataclass(frozen=True)
class SequenceExample:
    """An instruction, what it asks for in order, and the home's classes."""

    text: str
    effects: tuple[Effect, ...]
    objects: frozenset[str]
    fixtures: frozenset[str]


class Sequences:
    """Makes instructions; every choice comes from `generator`. groups: group_words()."""

    def __init__(
        self,
        book: PhraseBook,
        wording: Wording,
        tasks: Sequence[Task],
        groups: Mapping[str, Sequence[str]],
        generator: random.Random,
    ) -> None:
        self._book = book
        self._wording = wording
        self._tasks = tasks
        self._groups = {word: names for word, names in groups.items() if names}
        self._random = generator
        self._conversation = Conversation(book, wording, generator)
        self._things = sorted({name for task in tasks for name in task.objects if name in wording})
        self._homes: dict[frozenset[str], list[Task]] = {}
        for task in tasks:
            self._homes.setdefault(task.fixtures, []).append(task)

    @classmethod
    def shipped(cls, tasks: Sequence[Task], generator: random.Random) -> Sequences:
        """Return the one of the files in config."""
        book = load_phrase_book()
        return cls(book, Wording.shipped(generator, book["unknown_things"]), tasks, group_words(), generator)

    def instruction(self) -> SequenceExample:
        """Return an instruction of one to five parts, with or without chatter around them."""
        draft = self._draft()
        talk, random = self._conversation, self._random
        pieces: list[str] = []
        effects: list[Effect] = []
        for _ in range(random.choices((1, 2, 3, 4, 5), (0.4, 0.28, 0.18, 0.09, 0.05))[0]):
            told = self._pattern(draft, effects)
            pieces.append(talk.asked(told.text) if random.random() < 0.12 else told.text)
            effects += told.effects
        text = talk.joined(pieces, draft.home())
        text = talk.asked(text, 0.6) if random.random() < 0.3 else text
        text = talk.chatted(text, draft.home()) if random.random() < 0.35 else text
        return self._finished(draft, Told(text, tuple(effects)))

    def joined(self) -> SequenceExample:
        """Return sentences that people said in one home, or of ours, one after the other."""
        draft = self._draft()
        home = self._homes[draft.scene.task.fixtures]
        parts = self._random.choices((1, 2, 3, 4), (0.3, 0.45, 0.18, 0.07))[0]
        told = [self._peoples(self._random.choice(home)) for _ in range(parts)]
        text = self._conversation.joined([one.text for one in told], draft.home())
        return self._finished(draft, Told(text, tuple(effect for one in told for effect in one.effects)))

    def _draft(self) -> Draft:
        task = self._random.choice(self._tasks)
        style = self._random.random()
        writer = SentenceWriter(
            self._book, self._wording, task, self._groups, self._random, terse=style < 0.16, learner=style > 0.85
        )
        return Draft(Scene(task, self._things, self._random), writer, self._conversation, self._random)

    def _pattern(self, draft: Draft, before: Sequence[Effect]) -> Told:
        """Return the next part of an instruction whose parts before it ask for `before`."""
        patterns: list[tuple[float, Callable[[Draft], Told]]] = [*_PATTERNS, (_PEOPLES, self._said_by_people)]
        if any(effect[0] in (*TREATMENTS, "at", "slice") for effect in before):
            patterns.append((_AGAIN, partial(single_patterns.again, before=before)))
        return self._random.choices([one for _, one in patterns], [weight for weight, _ in patterns])[0](draft)

    def _said_by_people(self, draft: Draft) -> Told:
        draft.writer.last = ""
        return self._peoples(draft.scene.task)

    def _peoples(self, task: Task) -> Told:
        """Return a task in people's words, in people's words changed, or in ours."""
        told = [example for example in task.examples() if self._wording.names_what_is_lit(example)]
        people = self._random.choice(told) if told else self._wording.goal(task)
        choices: tuple[Callable[[], Example], ...] = (
            lambda: people,
            lambda: people,
            lambda: people,
            lambda: self._wording.reworded(people),
            lambda: self._wording.goal(task),
            lambda: self._wording.told(task),
            lambda: self._wording.told(task),
            lambda: self._wording.distracted(people),
            lambda: self._wording.distracted(self._wording.told(task)),
            lambda: self._wording.plain(task),
            lambda: self._wording.command(task),
            lambda: self._wording.chain(task, self._random.randrange(len(task.steps))),
        )
        example = self._random.choice(choices)()
        return Told(example.text.strip().rstrip("."), effects_of(example.labels))

    def _finished(self, draft: Draft, told: Told) -> SequenceExample:
        """Return the instruction as it is written down, in a home that has what is asked for."""
        text, random = told.text, self._random
        text = self._conversation.beginners(text) if draft.writer.learner else text
        text = text.lower() if draft.writer.terse and random.random() < 0.5 else text
        text = self._conversation.mistyped(text) if random.random() < 0.06 else text
        text = capital(text) if random.random() < 0.8 else text
        text += random.choice((".", ".", "", "!", "?" if text.lower().startswith(("could", "can", "would")) else "."))
        asked = {name for effect in told.effects for name in effect[1:] if name != UNKNOWN}
        task = draft.scene.task
        return SequenceExample(
            text, told.effects, task.objects | (asked - _FIXTURES), task.fixtures | (asked & _FIXTURES)
        )
