"""What stands on or in what: by the boxes, and by what kinds of things can carry and hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import RelationKind, SceneEvent, SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.scene_graph.graph import SceneGraph

SECOND_NS = 1_000_000_000
Box = tuple[float, float, float, float, float, float, float]
COUNTER: Box = (0.0, 0.0, 0.0, 1.4, 0.6, 0.9, 0.0)
CABINET: Box = (0.0, 0.0, 1.3, 0.8, 0.4, 0.7, 0.0)


def look(
    graph: SceneGraph,
    stamp_s: int,
    things: dict[str, Box],
    yaw_rad: float = 0.0,
    cut: tuple[str, ...] = (),
    tracked: bool = False,
    doors: dict[str, ObjectState] = {},  # noqa: B006 - never changed
) -> list[SceneEvent]:
    """Show boxes to a graph, from the side and above, so that no face hides; the whole scene turned by an angle; return
    what changed. things: by class; digits behind it tell like ones apart. cut: what the image shows only a part of.
    tracked: each box is that of a track. doors: which is open or closed."""
    turn, seen = Pose.planar(0.0, 0.0, yaw_rad), []
    for name, (x, y, foot, *size, yaw) in things.items():
        center = turn.apply(np.array([x, y, foot + 0.5 * size[2]]))
        box = OrientedBox(center, np.array(size), yaw + yaw_rad)
        one = ObjectObservation({name.rstrip("12"): 0.9}, box, np.eye(3) * 1e-6, 4000, name in cut)
        states = (StateBelief(doors[name], 1.0, stamp_s * SECOND_NS),) if name in doors else ()
        seen.append(replace(one, states=states, track=f"run/{name}" if tracked else ""))
    return graph.observe(Frame(stamp_s * SECOND_NS, Pose.planar(3.0, 3.0, -2.0, 2.5), None, tuple(seen)))


def looked_at(things: dict[str, Box], looks: int = 2, yaw_rad: float = 0.0, cut: tuple[str, ...] = ()) -> SceneGraph:
    """Return a graph that was shown boxes some times."""
    graph = SceneGraph()
    for stamp_s in range(1, looks + 1):
        look(graph, stamp_s, things, yaw_rad, cut)
    return graph


def of_class(graph: SceneGraph, name: str) -> SceneObject:
    """Return the only thing of a class."""
    (found,) = (found for found in graph.objects() if found.class_name == name)
    return found


def told(things: dict[str, Box], looks: int = 2, yaw_rad: float = 0.0) -> dict[str, tuple[str, str]]:
    """Return what the graph says that each class is on or in, after some looks at boxes (x, y, z of the foot, three
    sides, yaw), the whole scene turned by an angle."""
    snapshot = looked_at(things, looks, yaw_rad).snapshot()
    class_of = {found.id: found.class_name for found in snapshot.objects}
    edges = [r for r in snapshot.relations if r.kind in (RelationKind.ON, RelationKind.IN)]
    return {class_of[r.source_id]: (str(r.kind), class_of[r.target_id]) for r in edges}


@pytest.mark.parametrize("yaw_rad", [0.0, np.pi / 4])
def test_things_on_a_counter_below_a_wall_cabinet_are_on_the_counter(yaw_rad: float) -> None:
    things = {
        "CounterTop": COUNTER,
        "Cabinet": CABINET,
        "Bread": (0.1, 0.1, 0.9, 0.24, 0.12, 0.11, 0.3),
        "CoffeeMachine": (-0.3, 0.0, 0.91, 0.3, 0.22, 0.35, 0.0),
    }
    assert told(things, yaw_rad=yaw_rad) == {"Bread": ("on", "CounterTop"), "CoffeeMachine": ("on", "CounterTop")}


BOWL: Box = (0.2, 0.1, 0.9, 0.18, 0.18, 0.08, 0.4)
SCENES: dict[str, tuple[dict[str, Box], dict[str, tuple[str, str]]]] = {
    "in a cabinet": ({"Mug": (0.1, 0.0, 1.33, 0.1, 0.08, 0.1, 0.0), "Cabinet": CABINET}, {"Mug": ("in", "Cabinet")}),
    "neck above the cabinet's box": (
        {"Cabinet": CABINET, "Bottle": (0.1, 0.0, 1.83, 0.07, 0.07, 0.24, 0.0)},
        {"Bottle": ("in", "Cabinet")},
    ),
    "pan hides its burner": (
        {
            "CounterTop": COUNTER,
            "StoveBurner": (0.05, 0.02, 0.9, 0.15, 0.1, 0.02, 0.0),
            "Pan": (0.0, 0.0, 0.92, 0.42, 0.25, 0.06, 0.2),
        },
        {"Pan": ("on", "StoveBurner"), "StoveBurner": ("on", "CounterTop")},
    ),
    "under a table": (
        {"DiningTable": (0, 0, 0, 1.4, 0.9, 0.75, 0.0), "BasketBall": (0.1, 0, 0, 0.24, 0.24, 0.24, 0.0)},
        {},
    ),
    "between the arms of a sofa": (
        {"Sofa": (0.0, 0.0, 0.0, 1.9, 0.9, 0.8, 0.0), "Pillow": (0.4, 0.1, 0.42, 0.48, 0.38, 0.14, 0.1)},
        {"Pillow": ("on", "Sofa")},
    ),
    "in the upper drawer, not on the lower one": (
        {
            "Cabinet": (0.0, 0.0, 0.4, 0.6, 0.5, 0.24, 0.0),
            "Drawer": (0.0, 0.0, 0.66, 0.6, 0.5, 0.18, 0.0),
            "ButterKnife": (0.1, 0.0, 0.68, 0.21, 0.03, 0.01, 0.0),
        },
        {"ButterKnife": ("in", "Drawer")},
    ),
    "a pillow that fills a drawer": (
        {
            "Desk": (0.0, 0.0, 0.0, 1.3, 0.65, 0.74, 0.0),
            "Drawer": (0.0, 0.3, 0.1, 0.45, 0.36, 0.18, 0.0),
            "Pillow": (0.0, 0.3, 0.12, 0.48, 0.38, 0.14, 0.0),
        },
        {"Pillow": ("in", "Drawer")},
    ),
    "on a counter, whose top is a little higher than that of the drawer below": (
        {
            "CounterTop": (0.0, 0.0, 0.0, 2.1, 0.64, 0.955, 0.0),
            "Drawer": (0.1, 0.15, 0.765, 0.45, 0.45, 0.15, 0.0),
            "Pot": (0.1, 0.05, 0.915, 0.24, 0.3, 0.15, 0.0),
        },
        {"Pot": ("on", "CounterTop")},
    ),
    "on the plate of a coffee machine, level with the rim of a drawer": (
        {
            "CoffeeMachine": (0.0, 0.0, 0.9, 0.3, 0.22, 0.34, 0.0),
            "Drawer": (0.0, 0.15, 0.75, 0.45, 0.45, 0.18, 0.0),
            "Mug": (0.0, 0.0, 0.94, 0.1, 0.08, 0.1, 0.0),
        },
        {"Mug": ("on", "CoffeeMachine")},
    ),
    "through the top of a table, whose height is not right": (
        {"DiningTable": (0, 0, 0, 1.4, 1.5, 0.75, 0.0), "Box": (0.1, 0, 0.57, 0.28, 0.36, 0.22, 0.0)},
        {"Box": ("on", "DiningTable")},
    ),
    "on a drawer, where nothing else is": (
        {"Drawer": (0.0, 0.0, 0.0, 0.6, 0.5, 0.7, 0.0), "Book": (0.0, 0.0, 0.7, 0.28, 0.2, 0.05, 0.0)},
        {"Book": ("on", "Drawer")},
    ),
    "in a bowl": (
        {"CounterTop": COUNTER, "Bowl": BOWL, "Apple": (0.2, 0.1, 0.91, 0.07, 0.07, 0.07, 0.0)},
        {"Bowl": ("on", "CounterTop"), "Apple": ("in", "Bowl")},
    ),
    "in a microwave whose table seems to reach into it": (
        {
            "SideTable": (0.0, 0.0, 0.0, 0.66, 0.6, 1.25, 0.0),
            "Microwave": (0.0, 0.0, 1.19, 0.6, 0.4, 0.3, 0.0),
            "Bowl": (0.0, 0.0, 1.3, 0.18, 0.18, 0.07, 0.0),
        },
        {"Bowl": ("in", "Microwave")},
    ),
    "taller than the basin that it stands in": (
        {"SinkBasin": (0.0, 0.0, 0.7, 0.4, 0.5, 0.2, 0.0), "Towel": (0.0, 0.05, 0.71, 0.05, 0.4, 0.5, 0.0)},
        {"Towel": ("in", "SinkBasin")},
    ),
    "larger than the bowl": (
        {"CounterTop": COUNTER, "Bowl": BOWL, "Book": (0.2, 0.1, 0.91, 0.28, 0.2, 0.05, 0.0)},
        {"Bowl": ("on", "CounterTop"), "Book": ("on", "CounterTop")},
    ),
    "two surfaces at one level": (
        {
            "Desk": (0.0, 0.0, 0.0, 1.2, 0.6, 0.79, 0.0),
            "Shelf": (0.0, 0.45, 0.77, 1.2, 0.28, 0.025, 0.0),
            "Mug": (0.2, 0.27, 0.79, 0.08, 0.08, 0.1, 0.0),
        },
        {"Mug": ("on", "Desk")},
    ),
}


@pytest.mark.parametrize("scene", SCENES)
def test_things_are_on_or_in_what_their_boxes_and_kinds_say(scene: str) -> None:
    things, expected = SCENES[scene]
    found = told(things)
    assert {name: found.get(name) for name in expected} == expected
    assert expected or not found


@pytest.mark.parametrize(
    ("built_in", "below"),
    [("Cabinet", "Fridge"), ("Drawer", "CoffeeTable"), ("Faucet", "Cabinet"), ("DeskLamp", "Drawer")],
)
def test_what_is_built_in_is_on_no_cupboard_and_no_furniture_on_a_drawer(built_in: str, below: str) -> None:
    things = {below: (0.0, 0.0, 0.0, 0.7, 0.7, 0.9, 0.0), built_in: (0.0, 0.0, 0.9, 0.3, 0.3, 0.4, 0.0)}
    assert told(things) == {}


@pytest.mark.parametrize("tracked", [False, True])
def test_events_tell_what_a_thing_is_in_from_the_first_look_on(tracked: bool) -> None:
    graph = SceneGraph()
    events = look(graph, 1, {"Mug": (0.1, 0.0, 1.33, 0.1, 0.08, 0.1, 0.0), "Cabinet": CABINET}, tracked=tracked)
    told_of = {event.object.id: event.object for event in events}
    for found in graph.snapshot().objects:
        told_now = told_of[found.id]
        assert (told_now.support_id, told_now.inside) == (found.support_id, found.inside)
        assert told_now.existence == found.existence
    assert sum(one.inside for one in told_of.values()) == 1


@pytest.mark.parametrize("built_in", ["SinkBasin", "Drawer", "Microwave"])
def test_furniture_within_the_box_of_a_cupboard_is_not_behind_its_door(built_in: str) -> None:
    things = {
        "Cabinet": (0.0, 0.0, 0.0, 0.9, 0.6, 0.9, 0.0),
        built_in: (0.0, 0.0, 0.65, 0.45, 0.4, 0.2, 0.0),
        "Spoon": (0.05, 0.0, 0.67, 0.15, 0.03, 0.02, 0.0),
    }
    assert told(things) == {"Spoon": ("in", built_in)}


def test_edge_is_told_from_the_second_look_on() -> None:
    things = {"CounterTop": COUNTER, "Bread": (0.1, 0.1, 0.9, 0.24, 0.12, 0.11, 0.3)}
    assert told(things, looks=1) == {}
    assert told(things, looks=2) == {"Bread": ("on", "CounterTop")}


def test_lamp_stands_on_a_desk_that_turns_out_to_be_larger_later() -> None:
    """What stood beside the known part of a thing is looked at again when the thing grows."""
    graph = looked_at({"Desk": (0.0, 0.0, 0.0, 0.6, 0.5, 0.75, 0.0), "DeskLamp": (0.0, 0.5, 0.75, 0.2, 0.2, 0.4, 0.0)})
    for stamp_s in (3, 4):
        look(graph, stamp_s, {"Desk": (0.0, 0.0, 0.0, 0.6, 1.3, 0.75, 0.0)})
    assert of_class(graph, "DeskLamp").support_id == of_class(graph, "Desk").id


@pytest.mark.parametrize(("above_m", "stays"), [(0.1, True), (0.3, False)])
def test_what_a_skill_put_on_a_desk_stays_there_while_boxes_differ_by_centimetres(above_m: float, stays: bool) -> None:
    things: dict[str, Box] = {"Desk": (0.0, 0.0, 0.0, 1.2, 0.7, 0.75, 0.0)}
    graph = looked_at(things)
    (desk,) = graph.objects()
    put = StateChange("", "Book", 3 * SECOND_NS, held=False, support_id=desk.id, position=(0.2, 0.1, 0.77 + above_m))
    graph.apply_change(put)
    for stamp_s in range(4, 8):
        look(graph, stamp_s, {**things, "Book": (0.2, 0.1, 0.75 + above_m, 0.2, 0.15, 0.04, 0.0)})
    assert (of_class(graph, "Book").support_id == desk.id) == stays


def test_towel_that_hangs_out_of_the_sink_stays_in_it_where_a_skill_put_it() -> None:
    things: dict[str, Box] = {"SinkBasin": (0.0, 0.0, 0.7, 0.4, 0.5, 0.2, 0.0)}
    towel: Box = (0.0, 0.3, 0.72, 0.5, 0.4, 0.5, 0.0)
    graph = looked_at(things)
    (sink,) = graph.objects()
    put = StateChange("", "Towel", 3 * SECOND_NS, held=False, support_id=sink.id, inside=True)
    graph.apply_change(replace(put, position=(0.0, 0.3, 0.97)))
    for stamp_s in range(4, 8):
        look(graph, stamp_s, {**things, "Towel": towel})
    found = of_class(graph, "Towel")
    assert (found.support_id, found.inside) == (sink.id, True)
    for stamp_s in range(8, 12):  # somebody takes it to the side
        look(graph, stamp_s, {**things, "Towel": (0.0, 1.2, 0.72, 0.5, 0.4, 0.5, 0.0)})
    aside = [one for one in graph.objects() if one.class_name == "Towel" and one.box.center[1] > 1.0]
    assert [one.support_id for one in aside] == [""]


@pytest.mark.parametrize(
    ("support", "thing"),
    [
        ({"Sofa": (0.0, 0.0, 0.0, 0.9, 1.9, 0.8, 0.0)}, {"Pillow": (0.0, 0.6, 0.62, 0.3, 0.4, 0.14, 0.0)}),
        ({"TowelHolder": (0.0, 0.0, 1.5, 0.1, 0.6, 0.06, 0.0)}, {"Towel": (0.0, 0.0, 1.2, 0.05, 0.4, 0.5, 0.0)}),
    ],
    ids=["on the arm of a sofa", "over its rail"],
)
def test_thing_lies_on_what_its_box_reaches_into(support: dict[str, Box], thing: dict[str, Box]) -> None:
    (name,), (other,) = thing, support
    assert told({**support, **thing}) == {name: ("on", other)}


def test_cup_is_not_on_the_knife_that_somebody_put_into_it() -> None:
    things = {"CounterTop": COUNTER, "Cup": (0.0, 0.0, 0.9, 0.08, 0.08, 0.1, 0.0)}
    graph = looked_at(things)
    cup = of_class(graph, "Cup").id
    put = StateChange("", "ButterKnife", 3 * SECOND_NS, held=False, support_id=cup, inside=True)
    graph.apply_change(replace(put, position=(0.0, 0.0, 0.905)))
    look(graph, 4, {**things, "ButterKnife": (0.0, 0.0, 0.89, 0.21, 0.06, 0.03, 0.0)})
    assert graph.object(cup).support_id == of_class(graph, "CounterTop").id


# Masks of the table hold what stands on it, too: its box reaches 4 cm above its top at 0.75 m.
LAID_TABLE = {
    "DiningTable": (0.0, 0.0, 0.0, 1.6, 0.9, 0.79, 0.0),
    "Mug": (0.2, 0.1, 0.75, 0.1, 0.08, 0.1, 0.0),
    "Bowl": (-0.3, 0.1, 0.75, 0.16, 0.16, 0.07, 0.0),
}


@pytest.mark.parametrize(
    ("cut", "yaw_rad", "top_m"),
    [(("DiningTable",), 0.0, 0.75), (("DiningTable",), np.pi / 4, 0.75), ((), 0.0, 0.79)],
    ids=["in part", "in part, turned", "whole"],
)
def test_top_of_a_table_seen_in_part_ends_below_what_stands_on_it(
    cut: tuple[str, ...], yaw_rad: float, top_m: float
) -> None:
    table = of_class(looked_at(LAID_TABLE, 5, yaw_rad, cut), "DiningTable")
    assert (table.box.bottom_m, table.box.top_m) == pytest.approx((0.0, top_m), abs=0.005)


@pytest.mark.parametrize("yaw_rad", [0.0, np.pi / 4])
def test_counter_seen_in_part_ends_before_the_sink_whose_tap_stands_beside_it(yaw_rad: float) -> None:
    tap: Box = (1.0, 0.0, 0.9, 0.07, 0.07, 0.2, 0.0)
    sink: Box = (1.0, 0.0, 0.0, 0.6, 0.6, 0.9, 0.0)

    def length_m(things: dict[str, Box]) -> float:
        return float(of_class(looked_at(things, 3, yaw_rad, ("CounterTop",)), "CounterTop").box.size.max())

    assert length_m({"CounterTop": COUNTER, "Faucet": tap, "Sink": sink}) == pytest.approx(1.4, abs=0.01)
    assert length_m({"CounterTop": COUNTER, "Faucet": tap}) > 1.6


@pytest.mark.parametrize("beneath", [True, False])
def test_what_lies_on_other_things_is_where_a_skill_put_it(beneath: bool) -> None:
    """A plate on a kettle on a burner is too wide to be on the kettle, and is on the burner all the same."""
    things: dict[str, Box] = {"StoveBurner": (0.0, 0.0, 0.85, 0.24, 0.24, 0.05, 0.0)}
    if beneath:
        things["Kettle"] = (0.0, 0.0, 0.9, 0.12, 0.12, 0.2, 0.0)
    graph = looked_at(things, 3)
    burner = of_class(graph, "StoveBurner")
    put = StateChange("", "Plate", 5 * SECOND_NS, held=False, support_id=burner.id, position=(0.0, 0.0, 1.11))
    graph.apply_change(put)
    for stamp_s in range(6, 10):
        look(graph, stamp_s, {**things, "Plate": (0.0, 0.0, 1.1, 0.25, 0.25, 0.02, 0.0)})
    assert (of_class(graph, "Plate").support_id == burner.id) == beneath


def test_cup_is_not_on_the_pan_that_a_skill_put_beside_it_nor_taken_with_that() -> None:
    basin: Box = (0.0, 0.0, 0.7, 0.6, 0.5, 0.2, 0.0)
    cup: Box = (0.15, 0.1, 0.77, 0.08, 0.08, 0.1, 0.0)
    counter: Box = (3.0, 0.0, 0.0, 1.4, 0.6, 0.9, 0.0)
    pan: Box = (0.05, 0.0, 0.72, 0.42, 0.25, 0.06, 0.0)
    graph = looked_at({"SinkBasin": basin, "Cup": cup, "CounterTop": counter, "Pan": (3.0, 0, 0.9, *pan[3:])}, 3)
    named = {found.class_name: found for found in graph.objects()}
    graph.apply_change(StateChange(named["Pan"].id, "Pan", 4 * SECOND_NS, held=True))
    for stamp_s in (10, 11):  # the camera is before the report
        look(graph, stamp_s, {"SinkBasin": basin, "Cup": cup, "Pan": pan})
    put = StateChange(named["Pan"].id, "Pan", 9 * SECOND_NS, held=False, support_id=named["SinkBasin"].id, inside=True)
    graph.apply_change(replace(put, position=(0.05, 0.0, 0.75)))
    look(graph, 12, {"SinkBasin": basin, "Cup": cup, "Pan": pan})
    assert graph.object(named["Cup"].id).support_id == named["SinkBasin"].id
    graph.apply_change(StateChange(named["Pan"].id, "Pan", 13 * SECOND_NS, held=True))
    assert graph.object(named["Cup"].id).support_id == named["SinkBasin"].id


@pytest.mark.parametrize("door", [ObjectState.CLOSED, ObjectState.OPENED])
def test_what_is_seen_while_a_cabinet_is_closed_is_not_in_it(door: ObjectState) -> None:
    graph = SceneGraph()
    for stamp_s in (1, 2):
        things: dict[str, Box] = {"Cabinet": CABINET, "Mug": (0.1, 0.0, 1.33, 0.1, 0.08, 0.1, 0.0)}
        look(graph, stamp_s, things, doors={"Cabinet": door})
    assert of_class(graph, "Mug").inside is (door is ObjectState.OPENED)


def test_boards_one_above_the_other_are_two() -> None:
    boards: dict[str, Box] = {
        "Shelf1": (0.0, 0.0, 1.165, 0.28, 0.9, 0.03, 0.0),
        "Shelf2": (0.0, 0.09, 1.365, 0.28, 0.9, 0.03, 0.0),
    }
    assert len(looked_at(boards).objects()) == 2


@pytest.mark.parametrize("second", [(0.0, 0.04, 0.73), (0.0, 0.0, 0.77)], ids=["beside it", "on it"])
def test_a_like_thing_that_comes_to_touch_a_known_one_is_another(second: tuple[float, float, float]) -> None:
    size = (0.24, 0.04, 0.04, 0.0)
    book: dict[str, Box] = {"Book1": (0.0, 0.0, 0.73, *size)}
    graph = looked_at(book, 4)
    for stamp_s in range(5, 9):
        look(graph, stamp_s, {**book, "Book2": (*second, *size)})
    assert [found.name for found in graph.objects()] == ["Book 1", "Book 2"]


@pytest.mark.parametrize("size_m", [(0.5, 1.2, 0.57), (1.2, 0.5, 0.57)])
def test_what_is_in_a_drawer_stays_in_it_when_that_is_pushed_in_at_the_top_of_a_dresser(
    size_m: tuple[float, float, float],
) -> None:
    graph = SceneGraph()
    for stamp_s, out_m in ((1, 0.0), (2, 0.315), (3, 0.0)):
        things: dict[str, Box] = {"Dresser": (0.0, 0.0, 0.0, *size_m, 0.0)}
        things["Drawer"] = (out_m, 0.0, 0.48, 0.45, 0.45, 0.18, 0.0)
        if out_m:
            things["CD"] = (out_m, 0.0, 0.535, 0.12, 0.12, 0.01, 0.0)
        look(graph, stamp_s, things, doors={"Drawer": ObjectState.OPENED if out_m else ObjectState.CLOSED})
    assert of_class(graph, "CD").support_id == of_class(graph, "Drawer").id


BASIN: Box = (0.0, 0.0, 0.64, 0.42, 0.55, 0.2, 0.0)
DRAWER: Box = (0.1, 0.1, 0.52, 0.45, 0.45, 0.18, 0.0)


def test_what_is_known_to_be_in_a_basin_is_not_taken_to_be_in_the_drawer_below_it() -> None:
    cloth: Box = (0.0, 0.0, 0.65, 0.16, 0.2, 0.03, 0.0)
    graph, shut = SceneGraph(), {"Drawer": ObjectState.CLOSED}
    look(graph, 1, {"SinkBasin": BASIN, "Cloth": cloth})
    look(graph, 2, {"SinkBasin": BASIN, "Cloth": cloth, "Drawer": DRAWER}, doors=shut)
    look(graph, 3, {"Drawer": DRAWER}, doors=shut)
    basin, drawer = of_class(graph, "SinkBasin"), of_class(graph, "Drawer")
    assert of_class(graph, "Cloth").support_id == basin.id
    graph.apply_change(
        StateChange(drawer.id, "Drawer", 4 * SECOND_NS, (ObjectState.OPENED,), position=(0.4, 0.1, 0.61))
    )
    assert of_class(graph, "Cloth").box.center[0] == pytest.approx(0.0, abs=0.02)


def test_soap_that_only_a_skill_tells_of_is_in_the_basin_not_in_the_closed_drawer_below_it() -> None:
    graph = SceneGraph()
    for stamp_s in (1, 2):
        look(graph, stamp_s, {"SinkBasin": BASIN, "Drawer": DRAWER}, doors={"Drawer": ObjectState.CLOSED})
    washed = StateChange("soap", "SoapBar", 3 * SECOND_NS, (ObjectState.CLEANED,), position=(0.0, 0.0, 0.665))
    graph.apply_change(washed)
    look(graph, 4, {"SinkBasin": BASIN, "Drawer": DRAWER}, doors={"Drawer": ObjectState.CLOSED})
    assert graph.object("soap").support_id == of_class(graph, "SinkBasin").id


def test_apple_in_a_drawer_is_in_the_bowl_that_is_seen_around_it_there() -> None:
    drawer: Box = (0.0, 0.0, 0.5, 0.45, 0.45, 0.18, 0.0)
    bowl: Box = (0.1, 0.0, 0.51, 0.18, 0.18, 0.08, 0.0)
    apple: Box = (0.1, 0.0, 0.52, 0.07, 0.07, 0.07, 0.0)
    graph = looked_at({"Drawer": drawer, "Apple": apple})
    assert of_class(graph, "Apple").support_id == of_class(graph, "Drawer").id
    for stamp_s in (3, 4, 5):
        look(graph, stamp_s, {"Drawer": drawer, "Bowl": bowl, "Apple": apple})
    assert of_class(graph, "Apple").support_id == of_class(graph, "Bowl").id
