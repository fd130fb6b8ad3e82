"""The simulated robot does what it is asked, or says honestly why not; whatever is asked, the home could exist."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.states import EXCLUSIVE, ObjectState
from memory_node.sim.execution import ExecutionFaults, Pacing
from memory_node.sim.home_file import load_home
from memory_node.sim.placement import Spot, fits, free_spot
from memory_node.sim.robot import NOTICED_WITHIN_M, PERFORM, HomeRobot
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World


@pytest.fixture
def robot() -> HomeRobot:
    return HomeRobot(load_home("apartment"))


def do(robot: HomeRobot, skill: str, *arguments: str) -> SkillResult:
    return robot.execute(SkillCall(skill, arguments))


def fetch(robot: HomeRobot, thing: str) -> None:
    assert do(robot, "GoToObject", thing).success
    assert do(robot, "PickupObject", thing).success


def test_every_declared_skill_is_performed() -> None:
    assert set(PERFORM) <= set(SKILLS)
    by_declaration = [SKILLS[name] for name in set(SKILLS) - set(PERFORM)]
    effects = [fact for skill in by_declaration for fact in skill.effects]
    assert all(fact.state is not None for fact in effects), "what moves things needs a body"


@pytest.mark.parametrize(
    ("skill", "thing", "reason"),
    [
        ("PickupObject", "fridge", FailureReason.WRONG_OBJECT),
        ("OpenObject", "apple", FailureReason.WRONG_OBJECT),
        ("OpenObject", "fridge", FailureReason.TOO_FAR),
        ("SliceObject", "apple", FailureReason.HAND_EMPTY),
        ("WipeObject", "coffee_table", FailureReason.HAND_EMPTY),
    ],
)
def test_what_a_skill_declares_keeps_it_from_being_done(
    robot: HomeRobot, skill: str, thing: str, reason: FailureReason
) -> None:
    result = do(robot, skill, thing)
    assert (result.success, result.reason) == (False, reason)


def test_apple_is_washed_and_put_into_the_bowl(robot: HomeRobot) -> None:
    explored = do(robot, "Explore", "Apple", "6.6,2.2", "1.2,1.5")
    assert (explored.success, explored.object_id, explored.explored_areas) == (True, "apple", 2)
    fetch(robot, "Apple")
    washed = do(robot, "CleanObject", "Apple", "sink_basin")
    assert washed.success
    assert any(ObjectState.CLEANED in change.added for change in washed.changes if change.object_id == "apple")
    assert robot.world.held is robot.world["apple"]
    assert do(robot, "GoToObject", "bowl").success
    placed = do(robot, "PutObject", "Apple", "bowl")
    assert placed.success
    (change,) = placed.changes
    assert (change.held, change.support_id.split("@")[0], change.inside) == (False, "Bowl", True)
    assert robot.world["apple"].inside
    assert np.linalg.norm(robot.world["apple"].box.center - robot.world["bowl"].box.center) < 0.1


def test_search_passes_over_what_does_not_count(robot: HomeRobot) -> None:
    first = do(robot, "Explore", "Bowl", "6.6,2.2", "1.2,1.5")
    assert first.success
    second = do(robot, "Explore", "Bowl", f"not:{first.object_id}", "not:unheard-of", "wall_cabinet")
    assert {first.object_id, second.object_id} == {"bowl", "spare_bowl"}
    assert second.explored_areas == 1


def test_every_thing_of_the_apartment_can_be_reached(robot: HomeRobot) -> None:
    failures = {}
    for thing in robot.world:
        result = do(robot, "GoToObject", thing.id)
        if result.reason not in (FailureReason.NONE, FailureReason.CLOSED):
            failures[thing.id] = result.message
    assert not failures


def test_pickup_fails_for_its_own_reasons(robot: HomeRobot) -> None:
    assert do(robot, "PickupObject", "Apple").reason is FailureReason.NOT_VISIBLE
    assert do(robot, "PickupObject", "apple").reason is FailureReason.TOO_FAR
    assert do(robot, "PickupObject", "Unicorn").reason is FailureReason.INVALID_CALL
    assert do(robot, "PickupObject", "fridge").reason is FailureReason.WRONG_OBJECT
    assert do(robot, "PickupObject", "Apple@8.0,4.0,0.5").reason is FailureReason.NOT_FOUND
    inside = do(robot, "GoToObject", "tomato")
    assert (inside.reason, inside.object_id) == (FailureReason.CLOSED, "fridge")
    assert do(robot, "PickupObject", "tomato").reason is FailureReason.CLOSED
    fetch(robot, "apple")
    assert do(robot, "OpenObject", "fridge").success
    assert do(robot, "PickupObject", "tomato").reason is FailureReason.HAND_FULL


def test_doors_and_switches_know_their_state(robot: HomeRobot) -> None:
    do(robot, "GoToObject", "microwave")
    assert do(robot, "CloseObject", "microwave").reason is FailureReason.ALREADY_CLOSED
    assert do(robot, "OpenObject", "microwave").success
    assert do(robot, "OpenObject", "microwave").reason is FailureReason.ALREADY_OPEN
    assert do(robot, "ToggleOn", "microwave").reason is FailureReason.PRECONDITION
    assert do(robot, "ToggleOn", "apple").reason is FailureReason.WRONG_OBJECT
    assert do(robot, "SwitchOff", "microwave").reason is FailureReason.PRECONDITION


def test_slicing_needs_a_knife_and_ends_the_whole(robot: HomeRobot) -> None:
    do(robot, "GoToObject", "apple")
    assert do(robot, "SliceObject", "apple").reason is FailureReason.HAND_EMPTY
    fetch(robot, "salt")
    do(robot, "GoToObject", "apple")
    assert do(robot, "SliceObject", "apple").reason is FailureReason.NOT_HOLDING
    do(robot, "GoToObject", "counter_right")
    assert do(robot, "PutObject", "salt", "counter_right").success
    fetch(robot, "knife")
    do(robot, "GoToObject", "apple")
    sliced = do(robot, "SliceObject", "apple")
    assert sliced.success
    assert "apple" not in robot.world
    slices = robot.world.of_class("AppleSliced")
    assert len(slices) == 4
    assert all(ObjectState.SLICED in piece.states and piece.parent_id == "counter_left" for piece in slices)
    assert {change.created_from for change in sliced.changes} == {"", "apple"}


def test_heat_and_cool_replace_each_other(robot: HomeRobot) -> None:
    fetch(robot, "apple")
    do(robot, "GoToObject", "microwave")
    assert do(robot, "HeatObject", "Apple", "microwave").success
    assert {ObjectState.HEATED, ObjectState.COOKED} <= robot.world["apple"].states
    assert not robot.world["microwave"].is_on
    assert do(robot, "CoolObject", "apple", "fridge").success
    assert ObjectState.COLD in robot.world["apple"].states
    assert ObjectState.HEATED not in robot.world["apple"].states


def test_coffee_machine_fills_the_mug_that_stands_on_it(robot: HomeRobot) -> None:
    do(robot, "GoToObject", "wall_cabinet")
    assert do(robot, "OpenObject", "wall_cabinet").success
    fetch(robot, "mug")
    assert do(robot, "GoToObject", "coffee_machine").success
    assert do(robot, "PutObject", "mug", "coffee_machine").success
    assert do(robot, "ToggleOn", "coffee_machine").success
    assert ObjectState.FILLED in robot.world["mug"].states
    assert do(robot, "EmptyObject", "mug").reason is FailureReason.HAND_EMPTY
    assert do(robot, "PickupObject", "mug").success
    assert do(robot, "EmptyObject", "mug").success
    assert ObjectState.USED_UP in robot.world["mug"].states


def test_pan_on_a_burner_cooks(robot: HomeRobot) -> None:
    fetch(robot, "apple")
    do(robot, "GoToObject", "pan")
    assert do(robot, "PutObject", "apple", "pan").success
    assert do(robot, "ToggleOn", "burner_front").success
    assert ObjectState.COOKED in robot.world["apple"].states


def test_contents_move_with_their_container(robot: HomeRobot) -> None:
    fetch(robot, "apple")
    do(robot, "GoToObject", "bowl")
    do(robot, "PutObject", "apple", "bowl")
    fetch(robot, "bowl")
    assert do(robot, "GoToObject", "user").success
    offset = robot.world["apple"].box.center - robot.world["bowl"].box.center
    assert np.linalg.norm(offset) < 0.1
    assert robot.world["bowl"].parent_id == HAND
    assert do(robot, "PutObject", "bowl", "User").success
    assert robot.world["bowl"].parent_id == "user"


def test_what_the_robot_puts_down_it_reports_however_far_it_comes_to_lie(robot: HomeRobot) -> None:
    can = robot.world["garbage_can"]
    fetch(robot, "apple")
    can.box = OrientedBox(can.box.center, np.array([6.0, 0.4, 0.6]), can.box.yaw_rad)
    robot.body.move(Pose.planar(can.box.center[0] - 2.9, can.box.center[1], 0.0))
    put = do(robot, "PutObject", "apple", can.id)
    assert horizontal_distance(robot.world["apple"].box, robot.body.pose.position) > NOTICED_WITHIN_M
    assert [change.object_id for change in put.changes if change.held is False] == ["apple"]


def test_open_drawer_brings_its_contents_forward(robot: HomeRobot) -> None:
    before = robot.world["spoon"].box.center.copy()
    do(robot, "GoToObject", "kitchen_drawer")
    do(robot, "OpenObject", "kitchen_drawer")
    assert robot.world["spoon"].box.center[1] - before[1] == pytest.approx(0.7 * 0.46)
    do(robot, "CloseObject", "kitchen_drawer")
    np.testing.assert_allclose(robot.world["spoon"].box.center, before, atol=1e-9)


def test_stale_memory_costs_the_way_there(robot: HomeRobot) -> None:
    stale = do(robot, "GoToObject", "Apple@8.0,4.0,0.5")
    assert stale.reason is FailureReason.NOT_FOUND
    assert stale.distance_m > 2.0


def test_thrown_glass_breaks_and_trash_lands_in_the_can(robot: HomeRobot) -> None:
    fetch(robot, "cup")
    assert do(robot, "ThrowObject", "cup").success
    assert ObjectState.BROKEN in robot.world["cup"].states
    fetch(robot, "salt")
    do(robot, "GoToObject", "garbage_can")
    assert do(robot, "ThrowObject", "salt", "GarbageCan").success
    assert robot.world["salt"].parent_id == "garbage_can"


def test_explore_opens_containers_and_closes_those_without_it(robot: HomeRobot) -> None:
    found = do(robot, "Explore", "Tomato", "low_cabinet", "fridge")
    assert (found.success, found.object_id, found.explored_areas) == (True, "tomato", 2)
    assert not robot.world["low_cabinet"].is_open
    assert robot.world["fridge"].is_open


def test_explore_resolves_area_ids(robot: HomeRobot) -> None:
    guided = HomeRobot(robot.world, area_position={"area-7": (1.2, 1.5)}.__getitem__)
    assert do(guided, "Explore", "Apple", "area-7").object_id == "apple"
    assert do(guided, "Explore", "Tomato", "area-8").reason is FailureReason.INVALID_CALL


def test_run_reports_progress_and_stops_when_cancelled(robot: HomeRobot) -> None:
    reports = []
    result = robot.run(
        SkillCall("GoToObject", ("bed",)), on_progress=reports.append, cancelled=lambda: len(reports) >= 3
    )
    assert result.reason is FailureReason.CANCELED
    assert len(reports) == 3
    assert reports[-1].elapsed_s == pytest.approx(result.duration_s)


def test_real_time_is_kept_in_small_steps() -> None:
    naps: list[float] = []
    robot = HomeRobot(load_home("studio"), pacing=Pacing(4.0, naps.append))
    places = []
    result = robot.run(
        SkillCall("GoToObject", ("table",)), on_progress=lambda progress: places.append(progress.pose.position[:2])
    )
    assert sum(naps) * 4.0 == pytest.approx(result.duration_s)
    assert max(naps) <= 0.1 / 4.0 + 1e-9
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() <= 0.1 * robot.config.speed_m_s + 1e-9


def test_injected_faults_fail_as_often_as_asked() -> None:
    world = load_home("studio")
    robot = HomeRobot(world, faults=ExecutionFaults({"OpenObject": 0.5}, seed=3))
    do(robot, "GoToObject", "fridge")
    failed = 0
    for _ in range(200):
        failed += do(robot, "OpenObject", "fridge").reason is FailureReason.EXECUTION
        do(robot, "CloseObject", "fridge")
    assert 70 <= failed <= 130


def test_oracle_sees_near_open_things_only(robot: HomeRobot) -> None:
    do(robot, "GoToObject", "fridge")
    assert "tomato" not in {thing.id for thing in robot.visible_objects()}
    do(robot, "OpenObject", "fridge")
    frame = robot.observe()
    classes = {observation.best_class for observation in frame.observations}
    assert {"Fridge", "Tomato", "Lettuce", "Egg"} <= classes
    assert "Bed" not in classes
    assert frame.depth_m is None


def test_drawer_takes_a_bottle_lying_down_and_no_box(robot: HomeRobot) -> None:
    world, drawer = robot.world, robot.world["kitchen_drawer"]
    bottle, box = (
        Thing(name, world.types[name], OrientedBox(np.array([5.0, 2.0, 1.0]), np.array(world.types[name].size_m)))
        for name in ("SprayBottle", "Box")
    )
    assert not fits(box, drawer)
    world.add(bottle)
    upright_m = bottle.box.size[2]
    spot = free_spot(bottle, drawer, world.contents(drawer.id))
    assert fits(bottle, drawer)
    assert spot is not None
    world.relocate(bottle, spot, drawer)
    assert drawer.box.bottom_m <= bottle.box.bottom_m < bottle.box.top_m <= drawer.box.top_m
    world.relocate(bottle, Spot(np.array([5.0, 2.0, 0.12]), 0.0), None)
    assert bottle.box.size[2] == upright_m


@pytest.fixture
def desk(robot: HomeRobot) -> Thing:
    """The desk without what stood on it, turned by 45 degrees."""
    desk = robot.world["desk"]
    for one in robot.world.contents(desk.id):
        robot.world.destroy(one)
    desk.box = OrientedBox(desk.box.center, desk.box.size, 0.25 * np.pi)
    return desk


def stack(world: World, support: Thing, *classes: str, aside_m: float = 0.0) -> list[Thing]:
    """Return new things on a support, each on the one before, so far beside the support's middle."""
    foot_m, stacked, yaw = surface_m(support), [], support.box.yaw_rad
    for name in classes:
        size = np.array(world.types[name].size_m)
        center = support.box.center[:2] + aside_m * np.array([-np.sin(yaw), np.cos(yaw)])
        box = OrientedBox(np.array([*center, foot_m + 0.5 * size[2]]), size, yaw)
        stacked.append(Thing(f"{name} {len(world.things)}", world.types[name], box, parent_id=support.id))
        world.add(stacked[-1])
        foot_m = box.top_m
    return stacked


def surface_m(thing: Thing) -> float:
    return thing.surface_heights_m[0]


def test_what_a_thing_is_taken_from_under_comes_to_rest_below(robot: HomeRobot, desk: Thing) -> None:
    lowest, middle, upper = stack(robot.world, desk, "Book", "Book", "Apple")
    stood_m = upper.box.bottom_m
    robot.world.grasp(lowest)
    assert (middle.parent_id, upper.parent_id) == (desk.id, desk.id)
    assert middle.box.bottom_m == pytest.approx(surface_m(desk))
    assert upper.box.bottom_m == pytest.approx(stood_m - lowest.box.size[2])
    np.testing.assert_allclose(upper.box.center[:2], desk.box.center[:2])


def test_what_stands_on_two_stays_where_one_of_them_is_taken(robot: HomeRobot, desk: Thing) -> None:
    (left,) = stack(robot.world, desk, "Candle", aside_m=-0.08)
    right, book = stack(robot.world, desk, "Candle", "Book", aside_m=0.08)
    robot.world.move(book, book.box.center - right.box.center + [*desk.box.center[:2], right.box.center[2]], 0.0)
    stood_m = book.box.bottom_m
    robot.world.grasp(left)
    assert book.box.bottom_m == stood_m
    robot.world.relocate(right, Spot(np.array([5.0, 2.0, 0.1]), 0.0), None)
    assert book.box.bottom_m == pytest.approx(surface_m(desk))


def test_what_lies_in_a_dish_comes_along_with_it(robot: HomeRobot, desk: Thing) -> None:
    plate, apple = stack(robot.world, desk, "Plate", "Apple")
    robot.world.grasp(plate)
    assert apple.parent_id == plate.id
    assert apple.box.bottom_m == pytest.approx(plate.box.top_m)


def test_a_heap_lies_on_what_is_below_it(robot: HomeRobot, desk: Thing) -> None:
    desk.heaps = True
    desk.box = OrientedBox(desk.box.center, np.array([0.3, 0.3, desk.box.size[2]]), desk.box.yaw_rad)
    (box,), (lamp,) = stack(robot.world, desk, "Box"), stack(robot.world, desk, "FloorLamp", aside_m=1.0)
    spot = free_spot(box, desk, [box, lamp])
    assert spot.center[2] - 0.5 * box.box.size[2] == pytest.approx(box.box.top_m)


WORDS = [
    "apple", "Apple", "knife", "bowl", "Bowl", "table", "counter", "fridge", "Fridge", "microwave", "Microwave",
    "sink_basin", "SinkBasin", "Faucet", "tomato", "Tomato", "mug", "cabinet", "Cabinet", "user", "GarbageCan",
    "AppleSliced", "Book", "bed", "lamp", "FloorLamp", "Apple@4.0,1.8,0.8", "Apple@1,1,1", "Unicorn", "1.5,1.5",
    "9,9", "Apple@here", " ",
]  # fmt: skip


def check(world: World) -> None:
    assert (world.held is None) == (not world.held_id)
    held = [thing for thing in world if thing.parent_id == HAND]
    assert held == ([world.held] if world.held else [])
    listed = [child.id for parent in ["", HAND, *(thing.id for thing in world)] for child in world.contents(parent)]
    assert sorted(listed) == sorted(thing.id for thing in world)
    for thing in world:
        assert thing.parent_id in ("", HAND) or thing.parent_id in world
        assert thing not in list(world.supports(thing))
        assert np.isfinite(thing.box.center).all()
        assert thing.box.bottom_m > -0.05
        assert all(len(thing.states & group) <= 1 for group in EXCLUSIVE)
        for support in world.supports(thing):
            reach = 0.5 * float(np.linalg.norm(support.box.size)) + 0.5 * float(np.linalg.norm(thing.box.size))
            assert np.linalg.norm(thing.box.center - support.box.center) < reach + 0.35


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(SKILLS)), st.lists(st.sampled_from(WORDS), max_size=3)),
        min_size=5,
        max_size=40,
    )
)
def test_no_sequence_of_calls_breaks_the_world(calls: list[tuple[str, list[str]]]) -> None:
    robot = HomeRobot(load_home("studio"))
    clock = robot.world.now_ns
    for skill, arguments in calls:
        if skill == "PickupObject" and arguments:  # so that something is in the hand more often than by luck
            robot.execute(SkillCall("GoToObject", (arguments[0],)))
        result = robot.execute(SkillCall(skill, tuple(arguments)))
        assert result.duration_s >= 0.0
        assert robot.world.now_ns >= clock
        clock = robot.world.now_ns
        check(robot.world)


@pytest.mark.parametrize("name", ["apartment", "studio"])
def test_shipped_homes_are_consistent(name: str) -> None:
    world = load_home(name)
    check(world)
    for thing in world:
        support = next(world.supports(thing), None)
        if support is not None and not thing.fixed:
            assert thing.box.bottom_m >= support.box.bottom_m
            assert support.box.contains(thing.box.center[None], margin_m=0.3).all()


def test_apartment_is_large_enough() -> None:
    world = load_home("apartment")
    assert len(world.layout.rooms) >= 3
    assert sum(thing.fixed for thing in world) >= 15
    assert sum(not thing.fixed for thing in world) >= 30
    robot = HomeRobot(world)
    assert "Apple" not in {thing.class_name for thing in robot.visible_objects(all_around=True)}
