import functools
from collections.abc import Callable

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import StepRecord
from memory_node.episodes.working_memory import ConsistencyWarning, after_step, check_action, first_state

StepMaker = Callable[..., StepRecord]


def warnings_after(steps: list[StepRecord], skill: str, *arguments: str) -> list[ConsistencyWarning]:
    state = functools.reduce(after_step, steps, first_state("", load_catalogue()))
    return check_action(SkillCall(skill, arguments), state, steps)


def test_faucet_over_an_empty_sink_is_warned_of(step: StepMaker) -> None:
    (warning,) = warnings_after([], "ToggleOn", "Faucet")
    assert "SinkBasin" in warning.detail
    assert "PutObject" in warning.remedy
    assert warning.rule


def test_faucet_over_something_is_fine(step: StepMaker) -> None:
    for basin in ("SinkBasin", "Sink", "BathtubBasin"):
        steps = [step("PickupObject", "Apple", held="Apple"), step("PutObject", "Apple", basin)]
        assert warnings_after(steps, "ToggleOn", "Faucet") == []


def test_picking_with_a_full_hand_is_warned_of(step: StepMaker) -> None:
    (warning,) = warnings_after([step("PickupObject", "Apple", held="Apple")], "PickupObject", "Mug")
    assert "Apple" in warning.detail
    assert warning.remedy.startswith("PutObject")


def test_repeating_a_failed_action_at_once_is_warned_of(step: StepMaker) -> None:
    failed = step("PickupObject", "Pen", fails="closed")
    for steps in ([failed], [failed, step("SwitchOn", "DeskLamp", fails="too_far")]):
        rules = {warning.rule for warning in warnings_after(steps, "PickupObject", "Pen")}
        assert rules == {"no failed action twice"}
    assert warnings_after([failed, step("OpenObject", "Drawer")], "PickupObject", "Pen") == []


def test_what_was_out_of_reach_stays_so_until_the_robot_drives_to_it(step: StepMaker) -> None:
    steps = [step("GoToObject", "Table"), step("OpenObject", "Fridge", fails="too_far")]
    steps += [step("PickupObject", "Mug", held="Mug"), step("PutObject", "Mug", "Table")]
    (warning,) = warnings_after(steps, "OpenObject", "Fridge")
    assert warning.remedy.startswith("GoToObject")
    assert warnings_after(steps, "PickupObject", "Mug") == []
    assert warnings_after([*steps, step("GoToObject", "Table")], "OpenObject", "Fridge") == [warning]
    for drive in (step("GoToObject", "Fridge"), step("Explore", "Fridge")):
        assert warnings_after([*steps, drive], "OpenObject", "Fridge") == []


def test_putting_into_something_closed_is_warned_of(step: StepMaker) -> None:
    steps = [step("CloseObject", "Fridge"), step("PickupObject", "Apple", held="Apple")]
    (warning,) = warnings_after(steps, "PutObject", "Apple", "Fridge")
    assert "closed" in warning.detail
    assert "OpenObject" in warning.remedy


def test_picking_out_of_something_closed_is_warned_of(step: StepMaker) -> None:
    steps = [
        step("PickupObject", "Apple", held="Apple"),
        step("PutObject", "Apple", "Fridge"),
        step("CloseObject", "Fridge"),
    ]
    (warning,) = warnings_after(steps, "PickupObject", "Apple@1.0,2.0,0.5")
    assert "inside Fridge" in warning.detail


def test_cutting_without_a_knife_is_warned_of(step: StepMaker) -> None:
    (warning,) = warnings_after([], "SliceObject", "Bread")
    assert "Knife" in warning.detail
    assert warnings_after([step("PickupObject", "ButterKnife", held="ButterKnife")], "SliceObject", "Bread") == []


def test_loop_without_progress_is_warned_of(step: StepMaker) -> None:
    steps = [step("GoToObject", "Fridge"), step("GoToObject", "Sofa"), step("GoToObject", "Fridge")]
    (warning,) = warnings_after(steps, "GoToObject", "Sofa")
    assert warning.rule == "progress"


def test_unknown_skill_is_warned_of() -> None:
    (warning,) = warnings_after([], "Teleport", "Moon")
    assert "Teleport" in warning.detail


def test_hand_is_known_after_a_failed_step_too(step: StepMaker) -> None:
    failed = step("PutObject", "Apple", "Fridge", fails="too_far", held="Apple")
    assert warnings_after([failed], "PutObject", "Apple", "CounterTop") == []


def test_failure_tells_that_something_is_closed(step: StepMaker) -> None:
    steps = [
        step("PutObject", "Apple", "Fridge", fails="closed", held="Apple"),
        step("GoToObject", "Mug", held="Apple"),
    ]
    (warning,) = warnings_after(steps, "PutObject", "Apple", "Fridge")
    assert warning.detail == "Fridge is closed"
    opened = [*steps, step("OpenObject", "Fridge", held="Apple")]
    assert warnings_after(opened, "PutObject", "Apple", "Fridge") == []
    assert [
        w.detail for w in warnings_after([step("OpenObject", "Box", fails="already_open")], "OpenObject", "Box")
    ] == [
        "Box is opened already",
        "OpenObject(Box) has just failed (already_open)",
    ]


def test_one_action_over_and_over_is_warned_of(step: StepMaker) -> None:
    steps = [step("GoToObject", "Sofa"), step("GoToObject", "Sofa")]
    assert [warning.rule for warning in warnings_after(steps, "GoToObject", "Sofa")] == ["progress"]
    assert warnings_after(steps[:1], "GoToObject", "Sofa") == []
