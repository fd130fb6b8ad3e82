from collections.abc import Callable

from memory_node.domain.step import StepRecord
from memory_node.episodes.working_memory import WorkingMemory

StepMaker = Callable[..., StepRecord]


def test_window_keeps_the_last_steps_and_counts_all(step: StepMaker) -> None:
    memory = WorkingMemory(window=3)
    for number in range(5):
        memory.record(step("GoToObject", "Fridge", room=f"room{number}"))
    view = memory.view()
    assert view.steps_so_far == 5
    assert [s.index for s in view.window] == [2, 3, 4]
    assert view.recent_places == ("room4", "room3", "room2")


def test_success_rate_is_that_of_the_window(step: StepMaker) -> None:
    memory = WorkingMemory(window=2)
    memory.record(step("GoToObject", "Fridge"))
    memory.record(step("OpenObject", "Fridge", fails="execution"))
    memory.record(step("GoToObject", "Mug"))
    assert memory.view().success_rate == 0.5


def test_text_says_hand_failure_and_warning(step: StepMaker) -> None:
    memory = WorkingMemory()
    memory.record(step("PickupObject", "Apple", held="Apple"))
    memory.record(step("PickupObject", "Mug", fails="hand_full", held="Apple"))
    text = memory.view().text()
    assert "Holding: Apple" in text
    assert "2. PickupObject(Mug): failed, hand_full" in text
    assert "Warning: the hand holds Apple already" in text


def test_before_the_first_step_nothing_is_claimed() -> None:
    view = WorkingMemory().view()
    assert view.success_rate is None
    assert "No step" in view.text()


def test_failure_that_nothing_foretold_states_its_rule_and_remedy(step: StepMaker) -> None:
    memory = WorkingMemory()
    memory.record(step("PickupObject", "Apple", held="Apple"))
    (warning,) = memory.record(step("PutObject", "Apple", "Fridge", fails="closed", held="Apple"))
    assert warning.rule == "open_or_unlidded(receptacle)"
    assert warning.remedy == "OpenObject(receptacle) first"
    assert memory.record(step("GoToObject", "Fridge", fails="execution", held="Apple")) == ()
