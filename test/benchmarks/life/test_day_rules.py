"""The rules of docs/life.md: what happens in a day, and how steps are judged. Players make calls of their own here."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from played_days import CallingPlayer

from benchmarks.life.home import pieces_of
from benchmarks.life.robot_life import RobotLife
from memory_node.domain.answer import FindQuery


def calling(*steps: str, said: str = "", asked: bool = False, done: bool = True):
    """Return what makes a player; steps: the calls of each, separated by semicolons."""
    split = [[one.strip() for one in step.split(";") if one.strip()] for step in steps]
    return lambda life: CallingPlayer(life, split, said, asked, done)


def watching(found: list[RobotLife]):
    """Return what makes an idle player and keeps the robot's life for the test."""

    def make(life: RobotLife) -> CallingPlayer:
        found.append(life)
        return CallingPlayer(life, [])

    return make


def problems(report) -> list[dict[str, str]]:
    assert not report.crash, report.crash
    assert not report.broken, report.broken
    return [dict(step.verdict.problems) for step in report.judged]


def right(report) -> list[bool]:
    return [not found for found in problems(report)]


TAKE_BOWL = "GoToObject bowl; PickupObject bowl"


# --- names and places


def test_a_class_stands_for_any_thing_of_it(days) -> None:
    report = days.play(
        "- do: x\n  want: {at: {Bowl: DiningTable, Tomato: Fridge}, state: {Fridge: closed}}", player=calling()
    )
    assert right(report) == [True]


def test_a_cut_thing_means_its_pieces(days) -> None:
    events = """
        - state: {tomato: sliced}
        - move: {tomato: counter}
        - do: x
          want: {state: {tomato: sliced}, at: {tomato: counter}}
        - remove: [tomato]
        - do: x
          want: {state: {tomato: not sliced}}
        """
    lives: list[RobotLife] = []
    report = days.play(events, player=watching(lives))
    assert right(report) == [True, True]
    assert not pieces_of(lives[0].world, "tomato")


def test_a_thing_is_with_the_user_also_when_the_robot_holds_it_close_by(days) -> None:
    want = "- do: x\n  want: {at: {bowl: user}}"
    assert right(days.play(want, player=calling(TAKE_BOWL))) == [False]
    assert right(days.play(want, player=calling(f"{TAKE_BOWL}; GoToObject user"))) == [True]
    assert right(days.play(want, player=calling(f"{TAKE_BOWL}; GoToObject user; PutObject bowl user"))) == [True]


def test_hand_and_room_are_places(days) -> None:
    events = "- do: x\n  want: {at: {bowl: hand, apple: studio, user: studio}}"
    assert right(days.play(events, player=calling(TAKE_BOWL))) == [True]


def test_states_set_only_what_a_class_can_be_and_end_opposites(days) -> None:
    events = """
        - state: {mug: [filled, sliced]}
        - state: {mug: used_up, tomato: heated}
        - do: x
          want: {state: {mug: [used_up, not filled, not sliced], tomato: [heated, not cold]}}
        """
    assert right(days.play(events, player=calling())) == [True]


def test_a_person_stands_beside_a_place_and_takes_things(days) -> None:
    events = """
        - do: x
          want: {at: {bowl: Ana}, only: [bowl]}
        - move: {Ana: counter}
        - do: x
          want: {at: {bowl: Ana, Ana: studio}}
        """
    lives: list[RobotLife] = []

    def player(life: RobotLife) -> CallingPlayer:
        lives.append(life)
        return CallingPlayer(life, [[*TAKE_BOWL.split("; "), "GoToObject Ana", "PutObject bowl Ana"]])

    report = days.play(events, options="people: {Ana: bed}", player=player)
    assert right(report) == [True, True]
    names = [found.attributes.get("name") for found in lives[0].memory.scene().objects if found.class_name == "User"]
    assert "Ana" in names


# --- what happens


def test_the_clock_is_local_and_passes_as_the_events_say(days) -> None:
    lives: list[RobotLife] = []
    times: list[datetime] = []

    def player(life: RobotLife) -> CallingPlayer:
        lives.append(life)
        told = CallingPlayer(life, [])
        execute = told.execute

        def noting(*arguments):
            times.append(datetime.fromtimestamp(life.now_ns() * 1e-9, ZoneInfo("Pacific/Auckland")))
            return execute(*arguments)

        told.execute = noting
        return told

    step = "\n- do: x\n  want: {most_calls: 0}"
    events = ["", "- wait: 90 min", '- time: "19:30"', '- time: "19:30"', "- next_day: true"]
    report = days.play("".join(f"\n{event}{step}" for event in events), player=player)
    assert right(report) == [True] * 5
    assert [f"{time:%a %H:%M}" for time in times] == ["Mon 08:00", "Mon 09:30", "Mon 19:30", "Tue 19:30", "Wed 08:00"]


def test_what_is_held_goes_back_for_the_night_and_memory_sees_it(days) -> None:
    events = """
        - do: take it
        - next_day: true
        - do: x
          want: {at: {bowl: table}}
        """
    lives: list[RobotLife] = []

    def player(life: RobotLife) -> CallingPlayer:
        lives.append(life)
        return CallingPlayer(life, [TAKE_BOWL.split("; ")])

    assert right(days.play(events, player=player)) == [True]
    assert lives[0].memory.held_object() is None
    assert lives[0].robot.body.pose is lives[0].world.layout.start


@pytest.mark.parametrize(("known", "count"), [("all", 6), ("nothing", 0), ("[studio]", 6)])
def test_the_patrol_has_shown_what_is_known(days, known: str, count: int) -> None:
    lives: list[RobotLife] = []
    days.play("- do: x\n  want: {most_calls: 0}", options=f"known: {known}", player=watching(lives))
    scene = lives[0].memory.scene()
    movable = {"Apple", "Bowl", "Knife", "Mug", "Tomato", "Book"} & {found.class_name for found in scene.objects}
    assert len(movable) == count
    assert [room.name for room in scene.rooms] == ["studio"]
    assert not len(lives[0].memory.cache)


def test_what_has_no_room_breaks_a_scenario(days) -> None:
    events = "\n".join(f"- add: {{bowl{number}: {{class: Bowl, at: garbage_can}}}}" for number in range(9))
    report = days.play(f"{events}\n- do: x\n  want: {{most_calls: 0}}", player=calling())
    assert "no room" in report.broken
    assert ".yaml, line " in report.broken
    assert not report.right


def test_contents_move_along_and_the_hand_is_emptied(days) -> None:
    events = """
        - move: {apple: bowl}
        - do: take it
        - move: {bowl: bed}
        - do: x
          want: {at: {bowl: bed, apple: bowl}, only: []}
        """
    assert right(days.play(events, player=calling(TAKE_BOWL))) == [True]


def test_memory_is_told_of_what_is_seen_and_of_nothing_else(days) -> None:
    events = """
        - move: {mug: fridge, bowl: bed}
          seen: true
        - move: {book: counter}
        - state: {mug: cleaned}
          seen: true
        - add: {cup: {class: Cup, at: cabinet}, fork: {class: Fork, at: counter}}
          seen: true
        - remove: [knife]
          seen: true
        - do: x
          want: {most_calls: 0}
        """
    lives: list[RobotLife] = []
    assert right(days.play(events, player=watching(lives))) == [True]
    scene = lives[0].memory.scene()
    known = {found.class_name: found for found in scene.objects}
    names = {found.id: found.class_name for found in scene.objects}
    assert names[known["Mug"].support_id] == "Fridge"
    assert known["Mug"].inside
    assert names[known["Bowl"].support_id] == "Bed"
    assert names[known["Book"].support_id] == "Bed"
    assert "cleaned" in [str(belief.state) for belief in known["Mug"].states]
    assert {"Cup", "Fork"} <= known.keys()
    assert "Knife" not in known
    assert not lives[0].memory.past.episodes(9)


def test_thing_brought_to_where_another_was_taken_from_is_not_the_one_in_the_hand(days) -> None:
    events = """
        - add: {cup: {class: Cup, at: table}}
          seen: true
        - do: take it
        - add: {other: {class: Cup, at: table}}
          seen: true
        - move: {cup: bed}
          seen: true
        - do: x
          want: {at: {other: table, cup: bed}}
        """
    lives: list[RobotLife] = []
    held = []

    def player(life: RobotLife) -> CallingPlayer:
        lives.append(life)
        made = CallingPlayer(life, [["GoToObject cup", "PickupObject cup", "GoToObject counter"]])
        execute = made.execute

        def noting(*arguments):
            result = execute(*arguments)
            held.append(life.memory.held_object())
            return result

        made.execute = noting
        return made

    assert right(days.play(events, player=player)) == [True]
    scene = lives[0].memory.scene()
    class_of = {found.id: found.class_name for found in scene.objects}
    cups = {found.id: class_of[found.support_id] for found in scene.objects if found.class_name == "Cup"}
    assert sorted(cups.values()) == ["Bed", "DiningTable"]
    assert cups[held[0].object_id] == "Bed"
    assert held[1] is None


def test_see_lets_the_robot_look_and_counts_as_no_call(days) -> None:
    lives: list[RobotLife] = []
    report = days.play(
        "- see: studio\n- do: x\n  want: {most_calls: 0}", options="known: nothing", player=watching(lives)
    )
    assert right(report) == [True]
    seen = {found.class_name for found in lives[0].memory.scene().objects}
    assert {"Apple", "Bowl", "Book"} <= seen
    assert "Tomato" not in seen  # it is in the closed fridge


def test_extra_things_lie_on_open_furniture(days) -> None:
    lives: list[RobotLife] = []
    days.play("- do: x\n  want: {at: {Cup#3: studio}}", options="extra: {Cup: 3}", player=watching(lives))
    world = lives[0].world
    tops = {world[world[f"Cup#{number}"].parent_id].class_name for number in (1, 2, 3)}
    assert tops <= {"CounterTop", "DiningTable", "Bed"}


OPEN_FRIDGE = "GoToObject fridge; OpenObject fridge"


@pytest.mark.parametrize(
    ("keys", "hinders"),
    [
        ("thing: fridge", True),
        ("thing: cabinet", False),
        ("class: Fridge", True),
        ("class: Cabinet", False),
        ("place: fridge", True),
        ("thing: fridge, class: Cabinet", False),
        ("thing: fridge, from: '07:00', to: '09:00'", True),
        ("thing: fridge, from: '18:00', to: '07:00'", False),
        ("thing: fridge, from: '22:00', to: '09:00'", True),
    ],
)
def test_a_fault_hinders_calls_that_fit_all_its_keys(days, keys: str, hinders: bool) -> None:
    state = "closed" if hinders else "opened"
    events = f"- fault: {{skill: OpenObject, {keys}}}\n- do: x\n  want: {{state: {{fridge: {state}}}}}"
    report = days.play(events, player=calling(OPEN_FRIDGE))
    assert right(report) == [True]
    assert any("execution" in call for call in report.steps[0].calls) == hinders


def test_a_fault_at_a_place_holds_for_a_composite_done_there(days) -> None:
    events = "- fault: {skill: CleanObject, place: faucet}\n- do: x\n  want: {state: {bowl: not cleaned}}"
    assert right(days.play(events, player=calling(f"{TAKE_BOWL}; GoToObject sink_basin; CleanObject bowl"))) == [True]


@pytest.mark.parametrize("place", ["faucet", "sink_basin"])
def test_a_fault_at_a_place_holds_where_the_call_does_not_name_it(days, place: str) -> None:
    events = f"- fault: {{skill: FillObject, place: {place}}}\n- do: x\n  want: {{state: {{mug: not filled}}}}"
    calls = "GoToObject cabinet; OpenObject cabinet; PickupObject mug; GoToObject faucet; FillObject mug"
    assert right(days.play(events, player=calling(calls))) == [True]


def test_a_fault_of_a_part_leaves_the_composite_alone(days) -> None:
    events = "- fault: {skill: ToggleOn, thing: faucet}\n- do: x\n  want: {state: {bowl: cleaned}}"
    assert right(days.play(events, player=calling(f"{TAKE_BOWL}; GoToObject sink_basin; CleanObject bowl"))) == [True]


def test_a_fault_of_some_tries_is_counted_in_each_instruction(days) -> None:
    events = """
        - fault: {skill: OpenObject, thing: fridge, tries: 1}
        - do: x
          want: {state: {fridge: closed}}
        - do: x
          want: {state: {fridge: opened}}
        """
    assert right(days.play(events, player=calling(OPEN_FRIDGE, f"{OPEN_FRIDGE}; OpenObject fridge"))) == [True, True]


def test_what_explore_opens_can_fail_and_counts_as_opened(days) -> None:
    want = "- do: x\n  want: {no_calls: [OpenObject fridge]}"
    assert right(days.play(want, player=calling("Explore Egg fridge"))) == [False]
    events = f"- fault: {{skill: OpenObject, thing: fridge}}\n{want.replace('no_calls', 'calls')}"
    report = days.play(events, player=calling("Explore Egg fridge"))
    assert problems(report) == [{"calls": "not called: OpenObject fridge"}]


def test_unless_puts_a_fault_right_until_the_next_event(days) -> None:
    events = """
        - fault: {skill: OpenObject, thing: fridge, unless: {skill: SwitchOn, thing: lamp}}
        - do: x
          want: {state: {fridge: opened}}
        - state: {fridge: closed, lamp: off}
        - do: x
          want: {state: {fridge: closed}}
        """
    first = f"GoToObject lamp; ToggleOn lamp; {OPEN_FRIDGE}"
    assert right(days.play(events, player=calling(first, OPEN_FRIDGE))) == [True, True]


def test_an_interruption_comes_after_some_calls_and_the_hand_keeps_its_thing(days) -> None:
    report = days.play(
        """
        - do: put the bowl on the bed
          interrupt_after: 2
          want: {at: {bowl: hand}, most_calls: 2, done: false}
        """
    )
    assert right(report) == [True]


def test_a_restart_keeps_what_is_stored(days) -> None:
    lives: list[RobotLife] = []
    players: list[CallingPlayer] = []

    def player(life: RobotLife) -> CallingPlayer:
        lives.append(life)
        players.append(CallingPlayer(life, []))
        return players[-1]

    events = "- tell: The bowl is Ana's.\n- restart: true\n- do: x\n  want: {most_calls: 0}"
    assert right(days.play(events, player=player)) == [True]
    assert players[0].restarts == 1
    assert lives[0].memory.told_facts("the bowl") == ("The bowl is Ana's.",)
    assert lives[0].memory.find(FindQuery(object_class="Bowl")).best is not None


def test_a_restarted_planner_goes_on_with_the_conversation(days) -> None:
    asked = "- do: put the apple\n  want: {asks: true}\n- restart: true\n"
    assert right(days.play(f"{asked}- answer: in the fridge\n  want: {{at: {{apple: Fridge}}}}")) == [True, True]


def test_an_answer_where_nothing_was_asked_fails(days) -> None:
    events = "- do: x\n- answer: the blue one\n- do: x\n  want: {most_calls: 0}"
    assert not days.play(events, player=calling()).right
    assert days.play(events, player=calling(said="which one?", asked=True)).right


# --- judging


def test_a_question_that_moves_something_fails(days) -> None:
    events = "- ask: where is the bowl?\n  want: {says: [[table]]}"
    assert right(days.play(events, player=calling("", said="On the table."))) == [True]
    assert right(days.play(events, player=calling(TAKE_BOWL, said="On the table."))) == [False]


def test_a_crash_is_a_failure_with_its_traceback(days) -> None:
    class Crashing(CallingPlayer):
        def execute(self, *arguments):
            raise RuntimeError("out of order")

    report = days.play("- do: x\n  want: {most_calls: 0}", player=lambda life: Crashing(life, []))
    assert not report.right
    assert "RuntimeError: out of order" in report.crash


@pytest.mark.parametrize(
    ("calls", "want", "is_right"),
    [
        (TAKE_BOWL, "calls: [PickupObject bowl]", True),
        (TAKE_BOWL, "calls: [PickupObject apple]", False),
        (TAKE_BOWL, "no_calls: [PickupObject]", False),
        ("PickupObject tomato", "calls: [PickupObject tomato]", False),
        ("PickupObject tomato", "no_calls: [PickupObject tomato]", False),
        ("GoToObject lamp; ToggleOn lamp", "calls: [SwitchOn lamp]", True),
        (f"{TAKE_BOWL}; CleanObject bowl", "calls: [CleanObject bowl sink_basin]", True),
        (TAKE_BOWL, "most_calls: 1", False),
        (TAKE_BOWL, "most_calls: 2", True),
        ("Explore Unicorn 1.0,1.5 2.0,1.5", "most_searches: 1", False),
        ("Explore Bowl", "most_searches: 0", False),
        ("GoToObject Egg@1.0,1.0,0.5", "most_searches: 0", False),
        ("GoToObject bed", "most_metres: 0.1", False),
        ("GoToObject bed", "most_metres: 9", True),
    ],
)
def test_calls_are_judged(days, calls: str, want: str, is_right: bool) -> None:
    assert right(days.play(f"- do: x\n  want: {{{want}}}", player=calling(calls))) == [is_right]


@pytest.mark.parametrize(
    ("said", "want", "is_right"),
    [
        ("It has lactose in it.", "says: [[lactose, allerg*]]", True),
        ("She is Allergic!", "says: [[lactose, allerg*]]", True),
        ("In the night stand.", "says: [[night stand]]", True),
        ("In the stand at night.", "says: [[night stand]]", False),
        ("lactosefree", "says: [[lactose]]", False),
        ("It has lactose.", "says: [[lactose], [milk]]", False),
        ("In the bedroom.", "silent_on: [bed]", True),
        ("On the bed.", "silent_on: [bed]", False),
    ],
)
def test_words_are_judged(days, said: str, want: str, is_right: bool) -> None:
    assert right(days.play(f"- ask: x\n  want: {{{want}}}", player=calling("", said=said))) == [is_right]


def test_asking_and_being_done_are_judged(days) -> None:
    asks, done = "- do: x\n  want: {asks: true}", "- do: x\n  want: {done: true}"
    assert right(days.play(asks, player=calling("", said="which?", asked=True))) == [True]
    assert right(days.play(asks, player=calling(""))) == [False]
    assert right(days.play(done, player=calling(""))) == [True]
    report = days.play(done, player=calling("", said="no way", done=False))
    assert problems(report) == [{"done": "done: false"}]


def test_a_question_is_needless_that_neither_the_day_nor_a_told_fact_explains(days) -> None:
    def needless(events: str, said: str) -> list[bool]:
        report = days.play(events, player=calling("", "", said=said, asked=True))
        return [step.needless_question for step in report.judged]

    refusal = "Bo is allergic to eggs. What shall I do instead?"
    step = "- {do: bring Bo an egg, want: {at: {bowl: table}}}"
    assert needless(step, refusal) == [True]
    assert needless(f"- tell: Lunch is at noon. Bo is allergic to eggs.\n{step}", refusal) == [False]
    assert needless(f"- document: |\n    Bo is allergic to eggs\n{step}", refusal) == [False]
    assert needless("- {do: bring Bo an egg, want: {asks: true}}", "which?") == [False]
    assert needless(f"{step}\n- answer: the brown one", "which?") == [False]


@pytest.mark.parametrize(
    ("calls", "only", "is_right"),
    [
        (f"{TAKE_BOWL}; GoToObject bed; PutObject bowl bed", "[bowl]", True),
        (f"{TAKE_BOWL}; GoToObject bed; PutObject bowl bed", "[]", False),
        (f"{TAKE_BOWL}; GoToObject table; PutObject bowl table", "[]", False),  # it was held
        (OPEN_FRIDGE, "[]", True),
        ("GoToObject lamp; ToggleOn lamp", "[]", True),
        ("GoToObject knife; PickupObject knife; GoToObject apple; SliceObject apple", "[apple, knife]", True),
        ("GoToObject knife; PickupObject knife; GoToObject apple; SliceObject apple", "[apple]", False),
    ],
)
def test_what_else_was_touched_is_judged(days, calls: str, only: str, is_right: bool) -> None:
    report = days.play(f"- do: x\n  want: {{only: {only}}}", player=calling(calls))
    assert right(report) == [is_right]
    assert report.judged[0].wrong_things != is_right


def test_what_the_hand_held_before_may_be_put_down(days) -> None:
    events = "- do: take it\n- do: x\n  want: {only: [apple]}"
    second = "GoToObject bed; PutObject bowl bed; GoToObject apple; PickupObject apple"
    assert right(days.play(events, player=calling(TAKE_BOWL, second))) == [True]
