"""bench world counts nothing against memory that nobody can know."""

from __future__ import annotations

from benchmarks.world.truth import ending_unseen
from memory_node.domain.states import ObjectState
from memory_node.sim.home_file import load_home
from memory_node.sim.placement import Spot


def test_how_warm_a_thing_is_on_a_running_burner_nobody_sees() -> None:
    world = load_home("apartment")
    pan, burner = world["pan"], next(one for one in world if one.class_name == "StoveBurner")
    world.relocate(pan, Spot(burner.box.center, 0.0), burner)
    pan.add_state(ObjectState.COLD)
    assert pan.id not in dict(ending_unseen(world))
    burner.add_state(ObjectState.ON)
    assert dict(ending_unseen(world))[pan.id] == {ObjectState.COLD}
