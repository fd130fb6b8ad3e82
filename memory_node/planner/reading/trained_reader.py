"""The trained instruction model at run time (onnxruntime): a sentence and a home's classes -> a goal; what is guessed
with it where nobody can be asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import ResourceMissingError
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.resources import MISSING_READERS, readers_folder
from memory_node.domain.skill_library import GoalKind
from memory_node.perception.onnx_session import open_session
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.conversation import Slot
from memory_node.planner.reading.home_classes import HomeClasses, lacks

NO_CLASS = ""
# Labels for sentences without a goal, and for other or several goals.
NOTHING, SEVERAL = "nothing", "several"
ALFRED_KIND: dict[str, GoalKind] = {
    "pick_and_place_simple": GoalKind.PLACE,
    "pick_two_obj_and_place": GoalKind.PLACE_TWO,
    "look_at_obj_in_light": GoalKind.EXAMINE,
    "pick_clean_then_place_in_recep": GoalKind.CLEAN,
    "pick_heat_then_place_in_recep": GoalKind.HEAT,
    "pick_cool_then_place_in_recep": GoalKind.COOL,
    "pick_and_place_with_movable_recep": GoalKind.STACK,
}
ALFRED_NAME: dict[GoalKind, str] = {kind: name for name, kind in ALFRED_KIND.items()}

WEIGHTS_FOLDER = readers_folder()
_MAX_TOKENS = 128
_ABSENT = -9.0  # log-probability of a class that the home is not known to have: unlikely, not impossible
_CANDIDATES = 3
_UNLIKELY = -6.0
_UNHEARD_OF = -9.0  # log-probability of a class in a slot of a whole goal where no task of ALFRED's had it
_DESTINED = frozenset({GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK})
_TREATED = frozenset({GoalKind.CLEAN, GoalKind.HEAT, GoalKind.COOL})

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Prediction:
    """The goal that a sentence asks for, and how sure that is.

    remark, several: the probabilities that it asks for nothing, and for what is not one goal.
    """

    goal: Goal
    probability: float
    remark: float = 0.0
    several: float = 0.0

    @property
    def whole(self) -> float:
        """The probability that the goal is what the sentence asks for, and all of it."""
        return self.probability * (1.0 - self.remark - self.several)


class GoalModel:
    """Understands one sentence at a time; see docs/model_card_instructions.md.

    Raises:
        ResourceMissingError: the weights are not where they should be.
    """

    def __init__(self, folder: Path = WEIGHTS_FOLDER, threads: int = 1) -> None:
        if not (folder / "instructions.onnx").is_file():
            raise ResourceMissingError(f"{folder}: {MISSING_READERS}")
        labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
        self._nothing, self._several = (labels["kinds"].index(name) for name in (NOTHING, SEVERAL))
        self._kinds = tuple(GoalKind(name) for name in labels["kinds"] if name not in (NOTHING, SEVERAL))
        self._classes: tuple[str, ...] = tuple(labels["classes"])
        self._unheard = {
            (GoalKind(kind), slot): np.array([0.0 if name in names else _UNHEARD_OF for name in self._classes])
            for kind, slots in labels["seen"].items()
            for slot, names in slots.items()
        }
        self._session = open_session(folder / "instructions.onnx", threads)
        self._names = [output.name for output in self._session.get_outputs()]
        self._asked: tuple[tuple[str, HomeClasses] | None, dict[str, NDArray[np.float32]]] = (None, {})
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def predict(self, sentence: str, home: HomeClasses, complete: bool = False) -> Prediction:
        """Return the likeliest goal; complete: admit only whole ALFRED goals (a destination or a lamp)."""
        logits = self._logits(sentence, home)
        kind = log_softmax(logits["kind"])
        slots = self._slots(logits, home)
        choices = [self._best(index, kind, slots, complete) for index in range(len(self._kinds))]
        score, goal = max(choices, key=lambda choice: choice[0])
        sliced = log_softmax(logits["sliced"])
        goal = goal.changed(sliced=bool(sliced[1] > sliced[0]), text=sentence)
        remark, several = np.exp(kind[[self._nothing, self._several]])
        return Prediction(goal, float(np.exp(score + sliced.max())), float(remark), float(several))

    def _slots(self, logits: Mapping[str, Scores], home: HomeClasses) -> dict[str, Scores]:
        """Return the log-probabilities of classes by slot; those that the home lacks are made unlikely."""
        slots = {name: log_softmax(logits[name]) for name in ("target", "parent", "container", "light")}
        missing = np.array([_ABSENT * (name != NO_CLASS and name not in home.all) for name in self._classes])
        for slot in ("target", "container") if home.objects else ():
            slots[slot] = slots[slot] + missing
        for slot in ("parent", "light") if home.fixtures else ():
            slots[slot] = slots[slot] + missing
        return slots

    def preferred(self, sentence: str, home: HomeClasses, slot: str, among: Sequence[str]) -> str:
        """Return the likeliest of some classes in a slot ("target", "parent", "light"); "" where it knows none."""
        scores = self._logits(sentence, home)[slot]
        known = [name for name in among if name in self._classes]
        return max(known, key=lambda name: float(scores[self._classes.index(name)]), default="")

    def fits(self, sentence: str) -> bool:
        """Return whether the model reads the sentence to its end."""
        return len(self._tokenizer.encode(sentence).ids) < _MAX_TOKENS

    def _logits(self, sentence: str, home: HomeClasses) -> dict[str, Scores]:
        outputs = self._outputs(sentence, home).items()
        return {name: np.asarray(value[0], dtype=np.float64) for name, value in outputs}

    def _outputs(self, sentence: str, home: HomeClasses) -> dict[str, NDArray[np.float32]]:
        """Return everything that the graph computes; what was asked last is not computed again."""
        question, outputs = self._asked
        if question != (sentence, home):
            values = self._session.run(self._names, {**self._words(sentence), "home": self._home(home)})
            outputs = dict(zip(self._names, values))
            self._asked = (sentence, home), outputs
        return outputs

    def _words(self, sentence: str) -> dict[str, NDArray[np.int64]]:
        ids = np.array([self._tokenizer.encode(sentence).ids], dtype=np.int64)
        return {"input_ids": ids, "attention_mask": np.ones_like(ids)}

    def _home(self, home: HomeClasses) -> NDArray[np.float32]:
        known = [float(name in home.objects) for name in self._classes]
        return np.array([known + [float(name in home.fixtures) for name in self._classes]], dtype=np.float32)

    def _best(self, index: int, kinds: Scores, slots: dict[str, Scores], complete: bool) -> tuple[float, Goal]:
        """Return the best goal of one kind with its log-probability; a kind's slots are filled or empty as it needs."""
        kind = self._kinds[index]
        score = float(kinds[index]) + (-np.inf if complete and kind not in ALFRED_NAME else 0.0)
        mentions: dict[str, Mention | None] = {}
        required = {
            "target": True,
            "parent": kind in _DESTINED or (complete and kind in _TREATED),
            "container": kind is GoalKind.STACK,
            "light": kind is GoalKind.EXAMINE,
        }
        for slot, needed in required.items():
            free = slot == "parent" and kind in _TREATED and not needed
            scores = slots[slot] + (self._unheard[kind, slot] if complete and kind in ALFRED_NAME else 0.0)
            if slot == "container" and needed and mentions["target"]:
                scores[self._classes.index(mentions["target"].object_class)] = -np.inf  # nothing is put into itself
            gained, mention = self._fill(scores, needed, free)
            score += gained
            mentions[slot] = mention
        count = 2 if kind is GoalKind.PLACE_TWO else 1
        target = mentions["target"] or Mention("")
        goal = Goal(kind, target, mentions["parent"], mentions["container"], mentions["light"], count=count)
        return score, goal

    def _fill(self, scores: Scores, needed: bool, free: bool) -> tuple[float, Mention | None]:
        empty = self._classes.index(NO_CLASS)
        order = [index for index in np.argsort(-scores) if index != empty]
        if not needed and (not free or scores[empty] >= scores[order[0]]):
            return float(scores[empty]), None
        best = float(scores[order[0]])
        likely = [index for index in order[:_CANDIDATES] if scores[index] >= best + _UNLIKELY]
        names: Sequence[str] = [self._classes[index] for index in likely]
        return best, Mention(names[0], tuple(names))


def log_softmax(logits: Scores) -> Scores:
    """Return the log-probabilities of one row of logits."""
    shifted = logits - logits.max()
    result: Scores = shifted - np.log(np.exp(shifted).sum())
    return result


_FLOOR = 0.25
_MANY = 4


class Grounding:
    """Finds the classes that an unknown noun may mean. embedder: None finds none."""

    def __init__(self, kinds: ObjectCatalogue, embedder: TextEmbedder | None) -> None:
        self._kinds = kinds
        self._embedder = embedder
        self._described: dict[str, NDArray[np.float32]] = {}

    def by_meaning(self, text: str, classes: Iterable[str]) -> tuple[str, ...]:
        """Return the classes whose description is most like the text, best first; () without an embedder."""
        names = list(dict.fromkeys(classes))
        if self._embedder is None or not names:
            return ()
        query = self._embedder.embed([text])[0]
        scores = self._descriptions(names) @ query
        order = np.argsort(-scores)[:_MANY]
        return tuple(names[index] for index in order if scores[index] >= _FLOOR)

    def _descriptions(self, names: Sequence[str]) -> NDArray[np.float32]:
        missing = [name for name in names if name not in self._described]
        if missing:
            assert self._embedder is not None
            texts = [f"{self._kinds[name].best_name}: {self._kinds[name].gloss}" for name in missing]
            self._described.update(zip(missing, self._embedder.embed(texts)))
        return np.stack([self._described[name] for name in names])


_SLOTS = {Slot.TARGET: "target", Slot.DESTINATION: "parent", Slot.LIGHT: "light", Slot.COMMAND: "target"}
LIKELY = 0.5


class Guessing:
    """reader: None guesses no goals. grounding: which furniture is meant like another."""

    def __init__(self, kinds: ObjectCatalogue, reader: GoalModel | None, grounding: Grounding) -> None:
        self._kinds, self._reader, self._grounding = kinds, reader, grounding

    def goal_of(self, text: str, home: HomeClasses) -> Prediction | None:
        """Return the likeliest one goal of a text; None without a reader, and for what is too long for it."""
        if self._reader is None or not self._reader.fits(text):
            return None
        return self._reader.predict(text, home)

    def of_clause(self, clause: str, focus: str, text: str, home: HomeClasses) -> Prediction | None:
        """Return the likeliest goal of a clause; None where the whole text is likelier to ask for one goal.

        focus: the class that was spoken of last; its name stands for "it".
        """
        whole = self.goal_of(text, home)
        if whole is None or whole.several <= LIKELY:
            return None
        name = f"the {self._kinds[focus].best_name}" if focus else "it"
        return self.goal_of(" ".join(name if word in ("it", "them") else word for word in clause.split()), home)

    def preferred(self, clause: str, home: HomeClasses, slot: Slot, among: Sequence[str]) -> str:
        """Return which of several classes a clause means; "" where nothing tells."""
        if self._reader is None or not self._reader.fits(clause):
            return ""
        return self._reader.preferred(clause, home, _SLOTS[slot], among)

    def with_stand_ins(self, goal: Goal, home: HomeClasses) -> Goal:
        """Return a goal with what is alike in place of furniture that memory, which knows furniture of this home, has
        none of; the named thing is still looked for before."""
        changed = {}
        for slot in ("target", "destination", "light"):
            mention = getattr(goal, slot)
            if mention is None or any(self._kinds[name].pickupable for name in mention.candidates):
                continue
            if lacks(home, mention, self._kinds):
                alike = sorted(self._kinds.alike(mention.candidates) & home.fixtures)
                close = self._grounding.by_meaning(mention.text, alike)
                names = dict.fromkeys((*mention.stand_ins, *close, *alike))
                changed[slot] = replace(mention, stand_ins=tuple(names))
        return goal.changed(**changed)
