"""Understands an instruction: a list of goals, from the trained model and the grammar of commands together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.goal_labels import ALFRED_NAME, GoalKind
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill_library import KNIFE_CLASSES, Predicate
from memory_node.planner.command_grammar import Command, read_command, split_commands
from memory_node.planner.goal import Goal
from memory_node.planner.goal_model import GoalModel, HomeClasses, Prediction
from memory_node.planner.grounding import Grounding
from memory_node.planner.interpretation import USER, Describe, Interpreter, Recall, one_alfred_goal
from memory_node.planner.object_kinds import ObjectKinds, load_object_kinds
from memory_node.planner.treatments import TREATED_IN, speaks_of

# From this probability on the model's reading of a sentence is believed against the grammar's.
_SURE = 0.4
# From this probability on a clause that opens with no verb is taken for a remark.
_REMARK = 0.5
_SWITCHED_FOR = {GoalKind.CLEAN: ("Faucet",), GoalKind.HEAT: ("StoveBurner", "StoveKnob", "Toaster", "Microwave")}
_CARRYING = ("with", "containing", "holding", "and")
_PUTTING = ("put", "place", "set", "lay", "leave", "store")


class NotUnderstoodError(RobotMemoryError):
    """Nothing in the instruction could be read as something to do."""


@dataclass(frozen=True)
class Understanding:
    """The goals of an instruction in order; source: "model" (one goal as a whole) or "commands" (one by one)."""

    goals: tuple[Goal, ...]
    source: str
    probability: float = 1.0


def nothing_recalled(_text: str, _states: object) -> Sequence[str]:
    """Stand in for memory where there is none."""
    return ()


def _undescribed(_text: str) -> Sequence[str]:
    return ()


class Understander:
    """The offline reader of instructions. model: None reads commands only; embedder: None grounds names only."""

    def __init__(
        self, model: GoalModel | None, embedder: TextEmbedder | None, kinds: ObjectKinds | None = None
    ) -> None:
        self._model = model
        self._kinds = kinds or load_object_kinds()
        self._grounding = Grounding(self._kinds, embedder)

    def understand(
        self, instruction: str, home: HomeClasses | None = None, recall: Recall = nothing_recalled
    ) -> Understanding:
        """Return what the instruction asks for.

        Raises:
            NotUnderstoodError: neither the grammar nor the model finds anything to do.
        """
        home = home or HomeClasses()
        pieces = split_commands(instruction)
        commands = [read_command(piece) for piece in pieces]
        goals = self._read(pieces, commands, home, recall)
        prediction = self._whole(instruction, home, goals)
        complete = bool(goals) and all(_is_grounded(goal) for goal in goals)
        if prediction is not None and not (complete and _needs_commands(goals, prediction, self._kinds)):
            return Understanding((prediction.goal,), "model", prediction.probability)
        if not complete:
            raise NotUnderstoodError(f"nothing to do found in {instruction!r}; name the thing and what to do with it")
        return Understanding(tuple(_joined(goals)), "commands")

    def predict(self, sentence: str, home: HomeClasses) -> Prediction:
        """Return the one whole ALFRED goal that the sentence is likeliest to state.

        Raises:
            NotUnderstoodError: there is no model.
        """
        if self._model is None:
            raise NotUnderstoodError("this needs the trained instruction model")
        return self._model.predict(sentence, home, complete=True)

    def _whole(self, instruction: str, home: HomeClasses, commands: Sequence[Goal]) -> Prediction | None:
        """Return the model's one goal; of "put the mug in the fridge", one that is no more than that.

        ALFRED's people often leave washing, heating or cooling out, or what a thing is carried in; others mean none.
        """
        if self._model is None:
            return None
        place = commands[0].destination if [goal.kind for goal in commands] == [GoalKind.PLACE] else None
        if place is None or place.beside or commands[0].sliced or str(place) not in TREATED_IN.values():
            return self._model.predict(instruction, home)
        unsaid = [kind for kind in TREATED_IN if not speaks_of(kind, instruction, str(place))] + [GoalKind.PLACE_TWO]
        unsaid += [] if self._names_vessel(instruction, commands[0]) else [GoalKind.STACK]
        return self._model.predict(instruction, home, without=unsaid)

    def _names_vessel(self, instruction: str, placed: Goal) -> bool:
        """Return whether something is named that could carry what is placed, or that is placed with what it carries."""
        words = instruction.lower()
        return any(f" {word} " in words for word in _CARRYING) or any(
            kind.movable and Predicate.RECEPTACLE in kind.properties and any(name in words for name in kind.names)
            for kind in map(self._kinds.__getitem__, self._kinds.names)
            if kind.name != placed.target.object_class
        )

    def _read(
        self, pieces: Sequence[str], commands: Sequence[Command | None], home: HomeClasses, recall: Recall
    ) -> list[Goal]:
        model = self._model
        describe: Describe = (lambda text: model.named(text, home)) if model else _undescribed
        interpreter = Interpreter(self._kinds, self._grounding, home, recall, describe)
        goals: list[Goal] = []
        for piece, command in zip(pieces, commands):
            if command is not None:
                goals += interpreter.read(command)
            elif model is not None and len(pieces) > 1:
                prediction = model.predict(piece, home)
                goals += [prediction.goal] if prediction.remark < _REMARK else []
        return goals


def _is_grounded(goal: Goal) -> bool:
    wanted = [goal.target, goal.destination, goal.container, goal.light]
    needs_place = goal.kind in (GoalKind.PLACE, GoalKind.PLACE_TWO, GoalKind.STACK)
    if needs_place and goal.destination is None:
        return False
    return all(one is None or one.candidates or one.original_place for one in wanted)


def _needs_commands(goals: Sequence[Goal], prediction: Prediction, kinds: ObjectKinds) -> bool:
    """Return whether the commands say more than the model's one goal does."""
    joined = _joined(goals)
    first = joined[0]
    if any(goal.target.states or (goal.destination and goal.destination.object_class == USER) for goal in joined):
        return True  # what memory recalled, and deliveries, are beyond the model
    if prediction.goal.kind not in ALFRED_NAME:
        return True
    if any(_is_asked_for_itself(goal, prediction.goal, kinds) for goal in joined):
        return True
    if len(joined) == 1 and (first.kind not in ALFRED_NAME or (first.destination and first.destination.beside)):
        return prediction.probability < _SURE
    if _is_covered(joined, prediction.goal):
        return False
    placed = [goal for goal in joined if goal.destination is not None]
    return len(placed) > 1 or not one_alfred_goal(joined) or prediction.probability < _SURE


def _is_asked_for_itself(goal: Goal, whole: Goal, kinds: ObjectKinds) -> bool:
    """Return whether a command is no step of what the model reads: switching or placing besides it."""
    if goal.destination is not None and not goal.destination.beside and whole.container is None:
        vessel = kinds[goal.destination.object_class]
        if vessel.movable and vessel.name not in (str(whole.target), str(whole.destination)):
            return True
    if whole.kind is GoalKind.EXAMINE:
        return goal.destination is not None and goal.text.startswith(_PUTTING)  # not "carry it to the lamp"
    if goal.kind is GoalKind.SWITCH_ON:
        return goal.target.object_class not in _SWITCHED_FOR.get(whole.kind, ())
    return False


def _is_covered(goals: Sequence[Goal], whole: Goal) -> bool:
    """Return whether a list of commands speaks of nothing but what one ALFRED goal is about."""
    named = {one.object_class for one in (whole.target, whole.container, whole.light) if one is not None}
    places = {one.object_class for one in (whole.destination, whole.container) if one is not None}
    places |= {TREATED_IN[whole.kind]} if whole.kind in TREATED_IN else set()

    def is_part(goal: Goal) -> bool:
        if goal.target.object_class in KNIFE_CLASSES - named:
            return goal.kind not in TREATED_IN  # laying the knife aside is part of cutting, washing it is not
        there = goal.destination is None or bool(places & set(goal.destination.candidates))
        return goal.target.object_class in named and there

    return all(is_part(goal) for goal in goals)


def _joined(goals: Sequence[Goal]) -> list[Goal]:
    """Drop fetching and finding that the next goal implies, and read "take X, turn on the lamp" as one goal."""
    joined: list[Goal] = []
    for goal in goals:
        previous = joined[-1] if joined else None
        if previous is not None and previous.kind in (GoalKind.FETCH, GoalKind.FIND):
            same = previous.target.object_class == goal.target.object_class
            lamp = goal.kind is GoalKind.SWITCH_ON and goal.target.object_class.endswith("Lamp")
            if previous.kind is GoalKind.FETCH and lamp and not same:
                joined[-1] = Goal(GoalKind.EXAMINE, previous.target, light=goal.target, text=goal.text)
                continue
            if same:
                joined.pop()
        joined.append(goal)
    return joined
