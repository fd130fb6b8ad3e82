"""What the running memory node answers and publishes, service by service and topic by topic."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from rclpy.qos import qos_profile_sensor_data
from recorded_drive import empty_map
from robot_memory import msg, srv
from ros_peer import RosPeer, SimulatedCamera, show_until, wait_until
from running_memory import counted, running_memory
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesis, ObjectHypothesisWithPose
from visualization_msgs.msg import Marker, MarkerArray

from memory_node.cli import main
from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.context import ContextSource
from memory_node.domain.errors import InvalidValueError
from memory_node.nodes import conversions
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.memory_services import _check_ids
from memory_node.nodes.qos import LATCHED

SECOND_NS = 1_000_000_000
# Class, place (m), when it was put there (s), state
THINGS = {
    "mug1": ("Mug", (1.5, 1.0, 0.8), 10, "dirty"),
    "mug2": ("Mug", (1.5, -1.0, 0.8), 20, "cleaned"),
    "apple": ("Apple", (-1.5, -1.5, 0.8), 30, ""),
    "plate": ("Plate", (-1.5, 1.5, 0.8), 40, ""),
}


class Asked:
    """A memory with a map and THINGS in it, and what it publishes."""

    def __init__(self, peer: RosPeer, node: Any) -> None:
        self.peer, self.node, self.srv, self.msg = peer, node, srv, msg
        self.deltas: list[Any] = []
        peer.node.create_subscription(msg.SceneGraphDelta, "memory/scene_graph_delta", self.deltas.append, 100)
        wait_until(lambda: node.count_subscribers("memory/scene_graph_delta"))
        peer.publish("map", empty_map(SECOND_NS), LATCHED)
        wait_until(lambda: node.memory.scene().areas)
        self.ids = {name: self.put(*thing) for name, thing in THINGS.items()}

    def call(self, service: str, **fields: Any) -> Any:
        words = "".join(word.capitalize() for word in service.split("_"))
        return self.peer.call(getattr(self.srv, words), f"memory/{service}", **fields)

    def put(self, name: str, place: tuple[float, ...], stamp_s: int, state: str = "", object_id: str = "") -> str:
        change = self.msg.StateChange(
            object_id=object_id, object_class=name, stamp=at(stamp_s), source="skill", probability=1.0
        )
        change.position, change.position_known = conversions.point_to_msg(place), True
        change.held = self.msg.StateChange.HELD_PLACED
        change.added = [state] if state else []
        response = self.call("remember", changes=[change])
        assert response.success, response.message
        return str(response.object_ids[0])

    def found(self, **fields: Any) -> list[str]:
        """Return the names of what find_objects answers, best first."""
        names = {object_id: name for name, object_id in self.ids.items()}
        return [names.get(answer.object_id, answer.object_id) for answer in self.call("find_objects", **fields).answers]


@pytest.fixture
def asked(peer: RosPeer, tmp_path: Path) -> Iterator[Asked]:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), publish_period_s=0.2) as node:
        yield Asked(peer, node)


def at(stamp_s: int) -> Any:
    return conversions.stamp_to_msg(stamp_s * SECOND_NS)


def point(x: float, y: float) -> Any:
    return conversions.point_to_msg((x, y, 0.8))


def test_find_objects_ranks_by_words_class_place_area_and_state(asked: Asked) -> None:
    assert asked.found(object_class="Mug", near_position=True, position=point(1.5, -1.0)) == ["mug2", "mug1"]
    assert asked.found(object_class="Mug", near_position=True, position=point(1.5, 1.0)) == ["mug1", "mug2"]
    assert asked.found(object_class="Mug", states=["cleaned"]) == ["mug2"]
    assert asked.found(text="an apple", k=1) == ["apple"]
    (answer,) = asked.call("find_objects", object_class="Plate").answers
    assert answer.area_id
    assert asked.found(area_id=answer.area_id) == ["plate"]
    assert asked.found(object_class="Plate", area_id="elsewhere") == []
    scores = [answer.score for answer in asked.call("find_objects", text="a mug").answers]
    assert scores == sorted(scores, reverse=True)


def test_invalid_requests_name_the_field_and_what_it_may_hold(asked: Asked) -> None:
    invalid = asked.msg.AnswerStatus.INVALID
    for fields, said in (
        ({"states": ["shiny"]}, "states: expected one of heated, cooked, sliced"),
        ({"area_id": "cellar"}, "area_id: expected an area's, room's or floor's id, or one of floor 0, "),
        ({"near_position": True, "position": point(float("nan"), 0.0)}, "position: expected finite metres"),
        ({"text": "mug " * 2000}, "text: expected at most"),
        ({"as_of": at(-5)}, "as_of: expected sec from 0"),
    ):
        status = asked.call("find_objects", **fields).status
        assert (status.value, status.explanation[: len(said)]) == (invalid, said)
    assert asked.call("recall_objects", states=["shiny"]).status.value == invalid
    graph = asked.call("get_scene_graph", min_existence=1.5)
    assert (graph.success, graph.message[:13]) == (False, "min_existence")
    change = asked.msg.StateChange(object_class="Mug", added=["shiny"], probability=1.0)
    refused = asked.call("remember", changes=[change])
    assert not refused.success
    assert refused.message.startswith("changes[0].added: expected one of heated")


def test_planner_node_is_told_what_memory_knows(asked: Asked) -> None:
    client, memory = MemoryClient(asked.peer.node, "memory", timeout_s=30.0), asked.node.memory
    mug = client.locate(FindQuery(object_class="Mug", k=1, exclude_ids=frozenset({asked.ids["mug2"]})))
    assert (mug.memory, mug.status, mug.areas) == ("short_term", AnswerStatus.OK, ())
    assert mug.best.object_id == asked.ids["mug1"]
    fork, here = (
        client.locate(FindQuery(object_class="Fork"), max_areas=3),
        memory.locate(FindQuery(object_class="Fork")),
    )
    assert (fork.memory, fork.status, fork.answers) == ("", AnswerStatus.UNKNOWN, ())
    assert [area.area_id for area in fork.areas] == [area.area_id for area in here.areas[:3]]
    with pytest.raises(InvalidValueError, match="area_id: expected"):
        client.locate(FindQuery(object_class="Mug", area_id="cellar"))
    assert client.held_object() is None
    asked.call("remember", changes=[asked.msg.StateChange(object_id=asked.ids["apple"], held=1, probability=1.0)])
    held = client.held_object()
    assert (held.object_id, held.object_class) == (asked.ids["apple"], "Apple")
    assert client.context("bring me the mug", 2000, sources=()).text == ""
    objects = client.context("bring me the mug", 2000, sources={ContextSource.OBJECTS})
    assert "Mug (id " in objects.text
    assert "Working memory and robot state" not in objects.section_tokens
    assert objects.id != client.context("bring me the mug").id != ""
    refused = asked.call("get_context", instruction="bring me the mug", sources=["rumours"])
    assert (refused.success, refused.message[:39]) == (False, "sources: expected one of objects, exper")


def test_search_areas_are_ranked_by_last_places_and_company(asked: Asked) -> None:
    (apple,) = asked.call("find_objects", object_class="Apple").answers
    ranked = asked.call("rank_search_areas", object_class="Apple").areas
    assert sum(area.probability for area in ranked) == pytest.approx(1.0, abs=1e-3)
    assert ranked[0].area_id == apple.area_id
    assert ranked[0].reason == "apple was seen there"
    # Nobody has seen a fork; where a plate is, one is likelier than elsewhere.
    best = asked.call("rank_search_areas", object_class="Fork", k=1).areas
    assert [area.reason for area in best] == ["plate is there"]


def test_graph_and_answers_as_of_then_tell_what_was_where(asked: Asked) -> None:
    asked.put("Apple", (1.5, 0.0, 0.8), 100, object_id=asked.ids["apple"])
    then, now = (asked.call("find_objects", object_class="Apple", as_of=stamp).answers for stamp in (at(50), at(0)))
    assert [round(answer.pose.pose.position.x, 1) for answer in (*then, *now)] == [-1.5, 1.5]
    graph = asked.call("get_scene_graph", as_of=at(25))
    assert {found.id for found in graph.graph.objects} == {asked.ids["mug1"], asked.ids["mug2"]}
    refused = asked.call("get_scene_graph", as_of=at(25), token_budget=500)
    assert (refused.success, refused.message[:12]) == (False, "token_budget")
    assert 0 < asked.call("get_scene_graph", token_budget=500).text_tokens <= 500


def test_deltas_are_typed_and_without_gaps_and_the_whole_graph_is_latched(asked: Asked) -> None:
    asked.put("Apple", (1.5, 0.0, 0.8), 100, object_id=asked.ids["apple"])
    asked.call("edit_object", operation="relabel", object_id=asked.ids["plate"], new_class="Bowl")
    asked.call("edit_object", operation="merge", object_id=asked.ids["mug1"], other_id=asked.ids["mug2"])
    asked.call("edit_object", operation="delete", object_id=asked.ids["apple"])
    asked.call("forget", object_id=asked.ids["plate"])
    wait_until(lambda: any(delta.forgotten_ids for delta in asked.deltas))
    told = {
        name: [getattr(entry, "id", entry) for delta in asked.deltas for entry in getattr(delta, name)]
        for name in ("appeared", "moved", "updated", "merged_ids", "merged_into_ids", "removed_ids", "forgotten_ids")
    }
    ids = asked.ids
    assert told["appeared"] == list(ids.values())
    assert told["moved"] == [ids["apple"]]
    assert set(told["updated"]) == {ids["plate"], ids["mug1"]}
    assert (told["merged_ids"], told["merged_into_ids"]) == ([ids["mug2"]], [ids["mug1"]])
    assert (told["removed_ids"], told["forgotten_ids"]) == ([ids["apple"]], [ids["plate"]])
    assert all(one.to_version == other.from_version for one, other in zip(asked.deltas, asked.deltas[1:]))
    version = asked.deltas[-1].to_version
    late: list[Any] = []
    asked.peer.node.create_subscription(asked.msg.SceneGraph, "memory/scene_graph", late.append, LATCHED)
    wait_until(lambda: late and late[-1].version >= version)
    assert [found.id for found in late[-1].objects] == [ids["mug1"]]
    assert late[-1].header.frame_id == "map"


def test_one_object_is_told_alone_gone_or_not(asked: Asked) -> None:
    asked.call("edit_object", operation="delete", object_id=asked.ids["apple"])
    graph = asked.call("get_scene_graph", object_id=asked.ids["apple"]).graph
    assert [(found.id, found.removed) for found in graph.objects] == [(asked.ids["apple"], True)]
    assert len(graph.areas) == len(graph.rooms) == len(graph.relations) == 0
    answer = asked.call("get_scene_graph", object_id="nobody")
    assert (answer.success, list(answer.graph.objects)) == (True, [])


def test_edits_are_on_record_as_the_users(asked: Asked) -> None:
    def provenance() -> dict[str, str]:
        graph = asked.call("get_scene_graph", include_removed=True).graph
        return {found.id: found.provenance for found in graph.objects}

    ids = asked.ids
    assert set(provenance().values()) == {"skill"}
    asked.call("edit_object", operation="relabel", object_id=ids["mug1"], new_class="Cup")
    assert asked.found(object_class="Cup") == ["mug1"]
    split = asked.call("edit_object", operation="split", object_id=ids["mug2"], position=point(1.2, -1.0))
    assert split.object_id not in (*ids.values(), "")
    asked.call("edit_object", operation="delete", object_id=ids["apple"])
    assert asked.call("find_objects", object_class="Apple").status.value == asked.msg.AnswerStatus.PROBABLY_GONE
    users = {object_id for object_id, by in provenance().items() if by == "user"}
    assert users == {ids["mug1"], ids["mug2"], split.object_id, ids["apple"]}
    merged = asked.call("edit_object", operation="merge", object_id=ids["mug2"], other_id=split.object_id)
    assert (merged.success, merged.object_id) == (True, ids["mug2"])
    assert split.object_id not in provenance()
    room = asked.call("get_scene_graph").graph.rooms[0]
    asked.call("edit_object", operation="name_room", object_id=room.id, new_class="the studio")
    assert [r.name for r in asked.call("get_scene_graph").graph.rooms if r.id == room.id] == ["the studio"]
    refused = asked.call("edit_object", operation="merge", object_id=ids["mug2"], other_id="ghost")
    assert not refused.success
    assert "ghost" in refused.message


def test_forget_erases_an_object_an_area_a_class_or_a_time_span(asked: Asked) -> None:
    def left() -> set[str]:
        graph = asked.call("get_scene_graph", include_removed=True).graph
        return {name for name, object_id in asked.ids.items() if object_id in {found.id for found in graph.objects}}

    (plate,) = asked.call("find_objects", object_class="Plate").answers
    assert asked.call("forget", area_id=plate.area_id).forgotten == 1
    assert left() == {"mug1", "mug2", "apple"}
    assert asked.call("forget", begin=at(15), end=at(25)).forgotten == 1
    assert left() == {"mug1", "apple"}
    assert asked.call("forget", object_class="Mug").forgotten == 1
    assert asked.call("forget", object_id=asked.ids["apple"]).forgotten == 1
    assert left() == set()
    assert asked.call("find_objects", object_class="Apple", as_of=at(35)).answers == []
    assert not asked.call("forget").success


def test_markers_are_layered_labelled_and_deleted_with_their_objects(asked: Asked) -> None:
    heard: list[Marker] = []
    asked.peer.node.create_subscription(MarkerArray, "memory/markers", lambda array: heard.extend(array.markers), 100)
    wait_until(lambda: {"objects", "areas", "rooms", "floors"} <= {marker.ns for marker in heard})
    height = {marker.ns: marker.pose.position.z for marker in heard}
    assert height["objects"] < height["areas"] < height["rooms"] < height["floors"]
    assert {marker.text for marker in heard if marker.ns == "object_names"} == {
        "dirty mug",
        "cleaned mug",
        "apple",
        "plate",
    }
    assert {"area_objects", "room_areas", "paths", "uncertainty"} <= {marker.ns for marker in heard}
    assert all(marker.type != Marker.CUBE_LIST for marker in heard)
    shown = {(marker.ns, marker.id) for marker in heard if marker.pose.position.y == 1.5}
    heard.clear()
    asked.call("forget", object_id=asked.ids["plate"])
    wait_until(lambda: any(marker.action == Marker.DELETE for marker in heard))
    deleted = {(marker.ns, marker.id) for marker in heard if marker.action == Marker.DELETE}
    assert deleted >= shown
    assert {marker.ns for marker in heard if marker.action == Marker.ADD} <= {"area_objects"}


def test_running_memory_is_drawn_without_rviz(asked: Asked, tmp_path: Path) -> None:
    path = tmp_path / "graph.png"
    assert main(["picture", str(path), "--domain-id", str(asked.peer.domain_id)]) == 0
    picture = cv2.imread(str(path))
    # Objects have the colours of their classes on an even ground.
    assert np.ptp(picture.astype(int), axis=2).astype(bool).sum() > 2000


@pytest.mark.parametrize("mode", ["none", "labels", "rectangles"])
def test_detections_come_in_every_form(mode: str, peer: RosPeer, tmp_path: Path) -> None:
    topics = {"none": (), "labels": ("detections/masks",), "rectangles": ("detections",)}[mode]
    settings = {"detections": mode, "camera_reliability": "reliable"}
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), **settings) as node:

        def rectangle(message: Any) -> None:
            box = message.detections[0].bbox
            box.center.position.x, box.center.position.y, box.size_x, box.size_y = 319.5, 239.5, 72.0, 72.0

        camera = SimulatedCamera(peer, detections=topics)
        if mode == "none":
            result = ObjectHypothesisWithPose(hypothesis=ObjectHypothesis(class_id="Mug", score=0.9))
            found = Detection3D(results=[result])
            found.bbox.center.position.z = 1.5  # ahead of the camera, which looks along +x at a height of 1 m
            found.bbox.size.x = found.bbox.size.y = found.bbox.size.z = 0.2
            array = Detection3DArray(header=conversions.header(SECOND_NS, "camera"), detections=[found])
            peer.publish("detections_3d", array)
        else:
            camera.show(SECOND_NS, detections=rectangle)
        wait_until(lambda: counted(node).get("used.frames"))
        (remembered,) = node.memory.scene().objects
        assert remembered.class_name == ("object" if mode == "labels" else "Mug")
        assert abs(remembered.box.center - [1.5, 0.0, 1.0]).max() < 0.1


def test_best_effort_detector_is_heard_where_the_parameter_says_so(peer: RosPeer, tmp_path: Path) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), detections_reliability="best_effort") as node:
        show_until(lambda: node.memory.scene().objects, SimulatedCamera(peer, qos=qos_profile_sensor_data))


SERVICES = sorted(path.stem for path in (Path(__file__).parents[2] / "srv").glob("*.srv"))


@pytest.mark.parametrize("name", SERVICES)
def test_every_id_of_every_request_is_looked_at(name: str) -> None:
    kind = getattr(srv, name).Request
    _check_ids(kind())
    for field, type_name in kind.get_fields_and_field_types().items():
        if type_name == "string" and field.endswith("_id"):
            for bad in ("x" * 201, "a\nb", "   "):
                with pytest.raises(InvalidValueError, match=field):
                    _check_ids(kind(**{field: bad}))


def test_services_that_get_something_change_nothing(asked: Asked) -> None:
    assert asked.call("start_episode", instruction="bring me the mug", episode_id="e1", task_type="fetch").success
    memory = asked.node.memory

    def state() -> tuple[Any, ...]:
        beliefs = (memory.hash(), memory.version, memory.statistics(), memory.knowledge.hash())
        return *beliefs, memory.experience.figures(), memory.experience.lessons(), memory.past.episodes(10)

    before = state()
    for _ in range(2):
        assert asked.call("get_scene_graph", include_removed=True).success
        assert asked.call("get_context", instruction="bring me the mug", episode_id="e1").success
        assert asked.call("get_episodes").success
        assert asked.call("get_episodes", episode_id="e1").success
        assert asked.call("get_past_places", object_id=asked.ids["mug1"]).success
    assert state() == before
    asked.put("Mug", (1.4, 1.0, 0.8), 50, object_id=asked.ids["mug1"])
    assert state() != before
