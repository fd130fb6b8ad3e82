"""What the planner believes of the things that a goal is about."""

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief
from memory_node.world.state import Thing, WorldState


def belief_of(*things: Thing, setting: Thing | None = None) -> Belief:
    belief = Belief(WorldState(load_catalogue()))
    for thing in things:
        belief.add(thing)
    if setting is not None:
        belief.add(setting, is_setting=True)
    return belief


def test_setting_that_turns_out_to_be_the_destination_is_one_thing_with_it() -> None:
    cover = Thing("target cover", "Cabinet", "fridge_1", "fridge_1")
    belief = belief_of(
        Thing("target", "Apple", "Apple@1,2,0.8"), Thing("destination", "Fridge", "Fridge@1,2,0.9"), setting=cover
    )
    belief.state = belief.state.put("target", "target cover").with_state("target cover", ObjectState.OPENED)
    belief.identify("destination", "fridge_1")
    assert set(belief.things) == {"target", "destination"}
    assert belief.state.container_of("target") == "destination"
    assert belief.state.has("destination", ObjectState.OPENED)


def test_name_that_the_goal_gave_is_kept_when_the_setting_is_identified_second() -> None:
    support = Thing("target support", "Sofa", "Sofa@1,2,0.4", memory_id="m7")
    belief = belief_of(
        Thing("target", "Book", "Book@1,2,0.5"), Thing("destination", "Sofa", "s1", "s1"), setting=support
    )
    belief.identify("target support", "s1")
    assert belief.things["destination"].memory_id == "m7"
    assert "target support" not in belief.things


def test_two_things_that_the_goal_names_stay_two() -> None:
    belief = belief_of(Thing("fixture", "Fridge", "f1", "f1"), Thing("destination", "Fridge", "Fridge@1,2,0.9"))
    belief.identify("destination", "f1")
    assert set(belief.things) == {"fixture", "destination"}


def test_closed_toilet_hides_nothing_that_stands_on_it() -> None:
    kinds = load_catalogue()
    assert kinds["Fridge"].lidded
    assert not kinds["Toilet"].lidded


def test_thing_from_the_hand_goes_by_the_robots_id_once_it_is_put_down() -> None:
    """A class names the thing in the hand, but not one of several on a table."""
    held = Thing("held", "Apple", "Apple", memory_id="m1")
    belief = belief_of(held)
    belief.state = belief.state.holding("held")
    belief.observe([StateChange("Apple|1", "Apple", 1, held=False, support_id="counter")])
    assert belief.things["held"].call_name == "Apple|1"
    assert belief.state.held == ""
