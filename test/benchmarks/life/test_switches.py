"""A memory that is off tells nothing; it is shuffled, or swept; chance and scripted players play as they should."""

from __future__ import annotations

import json
import signal

import pytest
from played_days import CallingPlayer

from benchmarks.life.life_rows import effect_of, success_of
from benchmarks.life.player import ListedMemory, RobotPlayer
from benchmarks.life.players import ChancePlayer
from benchmarks.life.scripted_player import IdlePlayer
from benchmarks.life.shuffle import Shuffling
from memory_node.cli import main
from memory_node.domain.answer import AnswerStatus, FindQuery

QUESTION = """
- id: a
  category: where
  home: studio
  events:
    - ask: where is the bowl?
      want: {most_calls: 9}
"""
STEP = "- do: x\n  want: {most_calls: 0}"


def life_after(days, events: str, without: str):
    """Return the robot's life after events, while its memory is open still."""
    found = []

    class Asking(CallingPlayer):
        def execute(self, *arguments):
            life = self.life
            life.look()
            memory = life.memory
            found.append(
                {
                    "objects": {one.class_name for one in memory.scene().objects},
                    "recalled": memory.recall(FindQuery(object_class="Bowl")).status,
                    "found": memory.find(FindQuery(object_class="Bowl")).status,
                    "told": memory.told_facts("the bowl"),
                    "held": memory.held_object(),
                }
            )
            return super().execute(*arguments)

    days.play(f"{events}\n{STEP}", player=lambda life: Asking(life, []), without=without)
    return found[0]


def test_everything_answers_without_a_switch(days) -> None:
    seen = life_after(days, "- tell: The bowl is Ana's.\n- see: studio", "")
    assert {"Tomato", "Bowl"} <= seen["objects"]
    assert (seen["recalled"], seen["found"]) == (AnswerStatus.OK, AnswerStatus.OK)
    assert seen["told"]


def test_without_the_scene_graph_only_the_cache_is_known(days) -> None:
    assert life_after(days, "- move: {apple: bed}\n  seen: true", "scene")["objects"].isdisjoint({"Tomato", "Mug"})
    assert "Book" in life_after(days, "- see: studio", "scene")["objects"]


def test_without_short_term_memory_the_graph_follows(days) -> None:
    seen = life_after(days, "- see: studio", "short-term")
    assert (seen["recalled"], seen["found"]) == (AnswerStatus.UNKNOWN, AnswerStatus.OK)


def test_without_facts_nothing_is_told(days) -> None:
    assert not life_after(days, "- tell: The bowl is Ana's.", "facts")["told"]


def test_karmas_ablation_forgets_what_can_be_moved(days) -> None:
    objects = life_after(days, "- see: studio", "karma-no-short-term")["objects"]
    assert {"Fridge", "Bed"} <= objects
    assert objects.isdisjoint({"Bowl", "Apple", "Book"})


@pytest.mark.parametrize(("without", "left"), [("", True), ("working", False)])
def test_without_working_memory_an_instruction_starts_from_its_own_words(days, without: str, left: bool) -> None:
    events = "- do: put the bowl on the bed\n- do: put it on the counter\n  want: {at: {bowl: counter}}"
    assert days.play(events, without=without).right == left


def test_without_lessons_and_episodes_nothing_of_them_is_told(days) -> None:
    told = {}

    def player(life):
        class Asking(RobotPlayer):
            def execute(self, words, *arguments):
                told[life.without] = life.memory.context("put the bowl on the bed").text
                return super().execute(words, *arguments)

        return Asking(life, days.planner)

    events = """
        - fault: {skill: OpenObject, thing: fridge, reason: unreachable}
        - do: put the tomato on the bed
        - do: put the bowl on the counter
          want: {most_calls: 99}
        """
    for without in ("", "episodes", "lessons"):
        days.play(events, player=player, without=without)
    assert '"put the tomato on the bed"' in told[""]
    assert '"put the tomato on the bed"' not in told["episodes"]
    for without, told_lessons in (("", True), ("episodes", True), ("lessons", False)):
        assert ("## Lessons" in told[without]) == told_lessons


def test_a_shuffled_memory_holds_what_the_next_scenario_held(days) -> None:
    head = "  category: facts\n  home: studio\n  events:\n"
    want = "    - do: x\n      want: {most_calls: 0}\n"
    one, two = days.read(
        f"- id: shuffled-one\n{head}    - tell: The bowl is Ana's.\n{want}"
        f"- id: shuffled-two\n{head}    - tell: The bowl is Ben's.\n{want}"
    )
    told = []

    def make_player(life, day):
        class Asking(RobotPlayer):
            def execute(self, words, *arguments):
                told.append(life.memory.told_facts("the bowl"))
                assert life.memory.find(FindQuery(object_class="Bowl")).best is not None
                return super().execute(words, *arguments)

        return Asking(life, days.planner)

    for memory in ("facts", "lessons"):
        Shuffling((one, two), days.lives, make_player, False).play(one, memory)
    assert told == [("The bowl is Ben's.",), ("The bowl is Ana's.",)]


def test_shuffling_one_memory_leaves_the_others(days) -> None:
    head = "  category: past\n  home: studio\n  events:\n    - do: put the bowl on the bed\n"
    want = "    - do: x\n      want: {most_calls: 0}\n"
    one, two = days.read(f"- id: left-one\n{head}{want}- id: left-two\n{head}    - next_day: true\n{want}")
    held = []

    def make_player(life, day):
        class Asking(RobotPlayer):
            def execute(self, words, *arguments):
                if words == "x":
                    memory = life.memory
                    bed = next(found for found in memory.scene().objects if found.class_name == "Bed")
                    things = {found.class_name for found in memory.scene().objects if found.support_id == bed.id}
                    held.append((things, {deed.skill for deed in memory.deeds.all()}, len(memory.past.episodes(9))))
                return super().execute(words, *arguments)

        return Asking(life, days.planner)

    Shuffling((one, two), days.lives, make_player, False).play(one, "facts")
    ((things, skills, episodes),) = held
    assert "Bowl" in things
    assert {"PickupObject", "PutObject"} <= skills
    assert episodes == 1


@pytest.mark.parametrize(("memory", "told", "taught"), [("lessons", "Bowl", "Apple"), ("episodes", "Apple", "Bowl")])
def test_lessons_are_shuffled_without_the_episodes_that_taught_them(days, memory, told, taught) -> None:
    head = "  category: lessons\n  home: studio\n  events:\n"
    want = "    - do: x\n      want: {most_calls: 0}\n"
    one, two = days.read(
        f"- id: tries-{memory}-one\n{head}    - do: put the bowl on the bed\n{want}"
        f"- id: tries-{memory}-two\n{head}    - do: put the apple on the bed\n{want}"
    )
    held = []

    def make_player(life, day):
        class Asking(RobotPlayer):
            def execute(self, words, *arguments):
                if words == "x":
                    tries = life.memory.deeds.all() if self.tries is None else self.tries
                    deeds = {deed.object_class for deed in life.memory.deeds.all()}
                    held.append((deeds, tries, self.guidance or life.memory.guidance, life.memory.guidance))
                return super().execute(words, *arguments)

        return Asking(life, days.planner)

    Shuffling((one, two), days.lives, make_player, False).play(one, memory)
    ((deeds, tries, guidance, own),) = held
    assert deeds == {told}
    assert (guidance.retrieve is own.retrieve) == (memory == "episodes")
    assert {deed.object_class for deed in tries} == {taught}
    beds = {deed.to_id for deed in tries if deed.to_class == "Bed"}
    assert len(beds) == 1


def test_a_list_of_things_hides_the_others(days) -> None:
    counts = {}

    class Asking(CallingPlayer):
        def execute(self, *arguments):
            scene = self.life.memory.scene()
            listed = ListedMemory(self.life.memory, "put the book on the counter").scene()
            counts["all"], counts["listed"] = len(scene.objects), len(listed.objects)
            return super().execute(*arguments)

    days.play(STEP, home="apartment", options="extra: {Book: 40, Pen: 60}", player=lambda life: Asking(life, []))
    assert 0 < counts["listed"] < counts["all"]


@pytest.mark.parametrize(("without", "is_right"), [("", True), ("short-term", False)])
def test_a_list_that_counts_things_does_not_tell_which_one_was_used(days, without, is_right) -> None:
    events = """
        - add: {red_pen: {class: Pen, at: cabinet}}
          seen: true
        - do: put the pen from the cabinet in the fridge
        - move: {red_pen: counter}
          seen: true
        - do: put the pen that you used on the bed
          want: {at: {red_pen: bed}, only: [red_pen]}
        """
    report = days.play(
        events,
        options="extra: {Pen: 40}",
        without=without,
        player=lambda life: RobotPlayer(life, days.planner, by_list=True),
    )
    assert not report.crash
    assert report.right == is_right


def test_chance_makes_possible_calls_until_the_goals_hold(days) -> None:
    events = """
        - do: put the bowl on the bed
          goals: [{kind: place, object: bowl, place: bed}]
          want: {at: {bowl: bed}}
        """
    (day,) = days.read(f"- id: by-chance\n  category: where\n  home: studio\n  events:{events}")
    report = days.play(events, player=lambda life: ChancePlayer(life, day, 1))
    assert 0 < len(report.steps[0].calls) <= 50
    assert not report.crash
    failed = [call for call in report.steps[0].calls if "too_far" in call or "hand" in call]
    assert not failed


DAYS = """
- id: washed
  category: state
  home: studio
  people: {Ana: bed}
  events:
    - fault: {skill: OpenObject, thing: fridge, unless: {skill: SwitchOn, thing: lamp}}
    - fault: {skill: CleanObject, thing: bowl, tries: 2}
    - do: bring Ana the tomato and wash the bowl
      want: {at: {tomato: Ana}, state: {bowl: cleaned}, only: [tomato, bowl], says: [[done, ready]]}
    - do: cut the apple
      want: {state: {apple: sliced}, only: [apple, knife], calls: [SliceObject apple]}
    - add: {butter_knife: {class: ButterKnife, at: table}}
    - fault: {skill: PickupObject, thing: knife}
    - fault: {skill: SliceObject, thing: tomato, unless: {skill: PutObject, thing: tomato}}
    - do: cut the tomato
      want: {state: {tomato: sliced}, no_calls: [PickupObject knife]}
    - fault: {skill: HeatObject, class: Mug}
    - fault: {skill: CoolObject, class: Mug}
    - fault: {skill: CleanObject, class: Mug, unless: {skill: PickupObject, thing: book}}
    - do: wash the mug
      want: {state: {mug: cleaned}}
    - do: heat the mug
      want: {state: {mug: heated}}
    - do: cool the mug
      want: {state: {mug: cold}}
    - do: which one?
      want: {asks: true}
"""


def test_who_remembers_everything_passes_and_who_does_nothing_does_not(tmp_path, rows_of) -> None:
    path = tmp_path / "days.yaml"
    path.write_text(DAYS)
    for planner, rate in (("scripted", 1.0), ("idle", 0.0)):
        rows = rows_of("life", "--days", str(path), "--planner", planner)
        assert [(row["category"], row["success_rate"]) for row in rows] == [("state", rate), ("all", rate)]


def test_the_command_prints_rows_for_each_setting_and_draws_them(tmp_path, capsys) -> None:
    path, plot = tmp_path / "days.yaml", tmp_path / "matrix.png"
    path.write_text(
        "- id: a\n  category: where\n  home: studio\n  events:\n    - ask: x\n      want: {most_calls: 9}\n"
    )
    arguments = ["bench", "life", "--days", str(path), "--without", "each", "--plot", str(plot)]
    assert main([*arguments, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    withouts = [row["without"] for row in rows if row["category"] == "all"]
    memories = ["scene", "short-term", "episodes", "lessons", "facts", "working", "compiler", "karma-no-short-term"]
    assert withouts == [None, *memories]
    assert plot.stat().st_size > 10_000
    assert main(arguments[:-2]) == 0
    assert "without effect" in capsys.readouterr().out


def test_a_sweep_tells_policy_and_capacity(tmp_path, capsys) -> None:
    path, plot = tmp_path / "days.yaml", tmp_path / "sweep.png"
    path.write_text(QUESTION)
    arguments = ["--policy", "fifo", "lfu", "adaptive", "--capacity", "5", "--plot", str(plot), "--json"]
    assert main(["bench", "life", "--days", str(path), *arguments]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["policy"], row["capacity"]) for row in rows if row["category"] == "all"][1:] == [
        ("fifo", 5),
        ("lfu", 5),
        ("adaptive", 5),
    ]
    assert plot.stat().st_size > 10_000


def test_an_interrupted_run_prints_what_it_has(tmp_path, capsys, monkeypatch) -> None:
    path = tmp_path / "days.yaml"
    day = "- id: {0}\n  category: where\n  home: studio\n  events:\n    - ask: x\n      want: {{most_calls: 9}}\n"
    path.write_text(day.format("a") + day.format("b"))
    played = []

    def execute(self, words, *arguments):
        if played:
            signal.raise_signal(signal.SIGINT)
        played.append(words)
        return IdlePlayer().execute(words, *arguments)

    monkeypatch.setattr(RobotPlayer, "execute", execute)
    assert main(["bench", "life", "--days", str(path), "--json"]) == 130
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["scenarios"] for row in rows] == [1, 1]


def test_a_cheap_removal_is_said_to_be_without_effect() -> None:
    def row(without, category, rate):
        return {"planner": "offline", "without": without, "shuffled": None, "category": category, "success_rate": rate}

    success = success_of(
        [row(None, "where", 0.8), row("scene", "where", 0.5), row(None, "facts", 0.8), row("facts", "facts", 0.6)]
    )
    assert "without effect" not in effect_of(("offline", "scene", ""), success)
    assert "without effect" in effect_of(("offline", "facts", ""), success)
    assert effect_of(("offline", "", ""), success) == ""
