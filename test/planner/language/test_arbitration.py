"""Arbitration's table row by row, with readers that say what they are told."""

import math
from typing import Any, cast

import pytest
from spoken_home import EMPTY

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind as K
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.calibration import Calibration
from memory_node.planner.language.sequence_reader import Effect, SequenceReading
from memory_node.planner.language.single_goal_reader import Prediction
from memory_node.planner.language.surroundings import HomeClasses
from memory_node.planner.language.trained_readers import TrainedReaders
from memory_node.planner.language.understanding import Understander, Understanding

KINDS = load_catalogue()
SURE = 0.35
# Words that the grammar does not explain, and that name a mug and a fork.
STRANGE = "the mug ought to get itself spotless near some fork, or so it seems"
CLEAN_MUG, CLEAN_FORK = (("clean", "Mug"),), (("clean", "Fork"),)


def mention(name: str) -> Mention:
    return Mention(name, (name,))


def fetch(name: str) -> Goal:
    return Goal(K.FETCH, mention(name))


class SpokenGoal:
    """The reader of one goal; `whole` is how sure it is that one goal is all."""

    def __init__(self, goal: Goal, whole: float) -> None:
        self.goal, self.whole = goal, whole
        self.longest = 400
        self.asked_among: tuple[str, ...] = ()
        self.preferred: dict[str, float] = {}

    def predict(
        self, sentence: str, home: HomeClasses, complete: bool = False, without=(), licensed=None
    ) -> Prediction:
        return Prediction(self.goal, self.whole)

    def preference(self, sentence: str, home: HomeClasses, slot: str, among) -> dict[str, float]:
        self.asked_among = tuple(among)
        return self.preferred

    def named(self, phrase: str, home: HomeClasses) -> tuple[str, ...]:
        return ()

    def fits(self, sentence: str) -> bool:
        return len(sentence) <= self.longest

    def hidden(self, sentence: str, home: HomeClasses) -> Any:
        return sentence


class SpokenRow:
    """The reader of sequences; `plain` is how likely (log) it finds the goals of others."""

    def __init__(self, effects: tuple[Effect, ...], probability: float, plain: float = -99.0) -> None:
        self.reading = SequenceReading(effects, math.log(probability))
        self.plain = plain
        self.licensed: frozenset[str] = frozenset()
        self.classes = frozenset(KINDS.names)
        self.strange = frozenset[str]()

    def read(self, hidden: Any, home: HomeClasses, licensed=None) -> SequenceReading:
        self.licensed = frozenset(licensed or ())
        return self.reading

    def score(self, hidden: Any, home: HomeClasses, effects: Any) -> float:
        return self.plain


def understood(
    text: str,
    row: SpokenRow | None = None,
    one: SpokenGoal | None = None,
    asks: bool = True,
    home: HomeClasses = EMPTY,
) -> Understanding:
    row, one = row or SpokenRow((), 1.0), one or SpokenGoal(fetch("Mug"), 0.0)
    readers = TrainedReaders(KINDS, cast("Any", one), cast("Any", row))
    return Understander(KINDS, readers, None, asks, SURE, Calibration()).understand(text, home)


def goals(understanding: Understanding) -> tuple[str, list[str]]:
    return understanding.source, [str(goal) for goal in understanding.goals]


def test_grammar_that_explains_every_word_stands_before_surer_readers() -> None:
    sure = SpokenRow(CLEAN_MUG, 1.0), SpokenGoal(fetch("Mug"), 1.0)
    assert goals(understood("put the mug in the sink", *sure)) == ("commands", ["place Mug to SinkBasin"])


def test_open_part_of_plain_commands_is_asked_about_whatever_readers_say() -> None:
    read = understood("slice it", SpokenRow((("slice", "Potato"),), 1.0), SpokenGoal(fetch("Potato"), 1.0))
    assert read.goals == ()
    assert read.question is not None


def test_description_leaves_an_open_part_to_the_readers() -> None:
    row = SpokenRow((("at", "Cup", "User"),), 0.9)
    assert goals(understood("bring me something to drink from", row)) == ("sequence", ["place Cup to User"])


def test_instruction_longer_than_the_readers_read_is_asked_about_unless_it_is_plain() -> None:
    one = SpokenGoal(fetch("Mug"), 1.0)
    one.longest = 10
    assert understood(STRANGE, SpokenRow(CLEAN_MUG, 1.0), one).question is not None
    assert goals(understood("put the mug in the sink", None, one)) == ("commands", ["place Mug to SinkBasin"])


def test_one_goal_stands_alone_only_from_its_threshold_on() -> None:
    assert goals(understood(STRANGE, SpokenRow((), 1.0), SpokenGoal(fetch("Mug"), 0.71))) == ("model", ["fetch Mug"])
    assert understood(STRANGE, SpokenRow((), 1.0), SpokenGoal(fetch("Mug"), 0.69)).question is not None


@pytest.mark.parametrize(
    ("row", "one", "source"),
    [
        (SpokenRow(CLEAN_MUG, 0.5), SpokenGoal(fetch("Mug"), 0.6), "model"),
        (SpokenRow(CLEAN_MUG, 0.6), SpokenGoal(fetch("Mug"), 0.5), "sequence"),
        (SpokenRow(CLEAN_MUG, 0.9), SpokenGoal(Goal(K.CLEAN, mention("Mug")), 0.5), "model"),
    ],
    ids=["one goal is surer", "sequence is surer", "both agree"],
)
def test_surer_reader_stands_first_and_one_goal_where_both_agree(row: SpokenRow, one: SpokenGoal, source: str) -> None:
    assert understood(STRANGE, row, one).source == source


def test_next_reading_stands_where_the_audit_objects_to_the_first() -> None:
    swapped = SpokenGoal(fetch("Potato"), 0.9)
    assert goals(understood(STRANGE, SpokenRow(CLEAN_MUG, 0.5), swapped)) == ("sequence", ["clean Mug"])


@pytest.mark.parametrize("asks", [True, False], ids=["asks", "asks nobody"])
def test_reading_that_the_audit_objects_to_never_stands(asks: bool) -> None:
    read = understood(STRANGE, SpokenRow((("clean", "Potato"),), 1.0), SpokenGoal(fetch("Potato"), 1.0), asks)
    assert read.goals == ()
    assert read.question is not None


def test_unsure_reading_is_asked_about_where_somebody_can_be_asked() -> None:
    unsure = SpokenRow(CLEAN_MUG, 0.3), SpokenGoal(fetch("Mug"), 0.2)
    asked = understood(STRANGE, *unsure)
    assert asked.goals == ()
    assert asked.question is not None
    assert asked.question.choices == ("clean Mug", "fetch Mug")
    alone = understood(STRANGE, *unsure, asks=False)
    assert goals(alone) == ("sequence", ["clean Mug"])
    assert alone.confidence == pytest.approx(0.3)


def test_commands_that_leave_words_unexplained_stand_only_where_the_sequence_finds_them_likely() -> None:
    text, row = "wash the mug the beer", (("clean", "Mug"), ("fetch", "Mug"))
    likely = SpokenRow(row, 0.9, plain=math.log(0.9) - 1.0)
    assert goals(understood(text, likely)) == ("commands", ["clean Mug"])
    unlikely = SpokenRow(row, 0.9, plain=math.log(0.9) - 5.0)
    assert goals(understood(text, unlikely)) == ("sequence", ["clean Mug", "fetch Mug"])


def test_no_reading_of_unknown_words_stands() -> None:
    row = SpokenRow((("clean", "Mug"), ("fetch", "Mug")), 0.9, plain=math.log(0.9) - 1.0)
    assert understood("wash the mug the whatnot", row).question is not None


def test_reading_that_leaves_out_what_unexplained_words_name_never_stands() -> None:
    text, row = "wash the mug the fork", SpokenRow((("clean", "Mug"),), 0.9, plain=math.log(0.9) - 1.0)
    assert understood(text, row).question is not None
    both = SpokenRow((("clean", "Mug"), ("clean", "Fork")), 0.9, plain=math.log(0.9) - 1.0)
    assert goals(understood(text, both)) == ("sequence", ["clean Mug", "clean Fork"])


def test_readers_may_write_only_what_the_words_account_for() -> None:
    row = SpokenRow(CLEAN_MUG, 0.9)
    understood(STRANGE, row, home=HomeClasses(frozenset({"Potato", "Mug"})))
    assert row.licensed == {"Mug", "Fork"}


def test_one_of_several_tables_is_guessed_only_where_nobody_can_be_asked() -> None:
    tables = HomeClasses(frozenset({"Book"}), frozenset({"CoffeeTable", "DiningTable"}))
    one = SpokenGoal(fetch("Book"), 0.0)
    one.preferred = {"CoffeeTable": 0.99, "DiningTable": 0.01}
    assert understood("put the book on the table", None, one, home=tables).question is not None
    guessed = understood("put the book on the table", None, one, home=tables, asks=False)
    assert {"CoffeeTable", "DiningTable"} <= set(one.asked_among)
    assert goals(guessed)[1] == ["place Book to CoffeeTable"]


def test_trained_readers_are_not_heard_where_something_is_denied() -> None:
    opened = SpokenRow((("open", "Mug", ""),), 0.99)
    assert understood("the mug should not be standing about like that", opened).question is not None


def test_confidence_is_the_calibrated_one() -> None:
    readers = TrainedReaders(KINDS, cast("Any", SpokenGoal(fetch("Fork"), 0.1)), cast("Any", SpokenRow(CLEAN_MUG, 0.9)))
    doubted = Calibration({"sequence": [(0.0, 0.0), (1.0, 0.5)]})
    assert Understander(KINDS, readers, None, True, 0.4, doubted).understand(STRANGE).confidence == pytest.approx(0.45)
    assert Understander(KINDS, readers, None, True, 0.5, doubted).understand(STRANGE).question is not None


def test_trained_readers_are_heard_on_a_short_command_where_nobody_can_be_asked() -> None:
    row = SpokenRow((("two", "Mug", "Shelf"),), 0.9)
    assert understood("put the mug on the shelf", row).source == "commands"
    assert understood("put the mug on the shelf", row, asks=False).source == "sequence"
    forgetful = SpokenRow(CLEAN_MUG, 0.9)  # the shelf is left out
    assert goals(understood("put the mug on the shelf", forgetful, asks=False))[1] == ["place Mug to Shelf"]
