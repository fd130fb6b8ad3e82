"""The memory node over DDS: camera topics in, services out, malformed input counted, a crash survived."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from robot_memory import msg, srv
from robot_memory.msg import AnswerStatus
from robot_memory.srv import FindObjects, GetSceneGraph
from ros_peer import RosPeer, SimulatedCamera, show_until, wait_until
from tf2_msgs.msg import TFMessage

SECOND_NS = 1_000_000_000


def start_memory(database: Path, domain_id: int, *nodes: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain_id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    command = [sys.executable, "-m", "memory_node.nodes.run", "memory", *nodes]
    return subprocess.Popen([*command, "--ros-args", "-p", f"memory:database:={database}"], env=environment)


@pytest.fixture
def memory_process(tmp_path: Path, peer: RosPeer) -> Iterator[subprocess.Popen[bytes]]:
    """Run a memory node as a process of its own, which ends well when it is interrupted several times."""
    process = start_memory(tmp_path / "memory.db", peer.domain_id)
    try:
        yield process
        for _ in range(3):  # as a terminal and a launch file do between them
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        assert process.wait(20.0) == 0
    finally:
        process.kill()


def ask(peer: RosPeer, **fields: Any) -> Any:
    return peer.call(FindObjects, "memory/find_objects", **fields)


def figures(peer: RosPeer) -> dict[str, str]:
    latest: dict[str, str] = {}

    def take(message: DiagnosticArray) -> None:
        latest.update({value.key: value.value for status in message.status for value in status.values})

    subscription = peer.node.create_subscription(DiagnosticArray, "/diagnostics", take, 10)
    wait_until(lambda: latest)
    peer.node.destroy_subscription(subscription)
    return latest


def test_camera_topics_become_answers_under_the_contract(peer: RosPeer, memory_process: object) -> None:
    camera = SimulatedCamera(peer)
    show_until(lambda: ask(peer, object_class="Mug").answers, camera)
    (answer,) = ask(peer, object_class="Mug").answers
    assert answer.status.value == AnswerStatus.OK
    assert (answer.header.frame_id, answer.evidence_frame, answer.source) == ("map", "map", "long_term")
    assert 0.5 < answer.existence_probability < 1.0
    assert answer.pose.covariance[0] > 0.0
    assert answer.last_missed.sec == 0
    assert abs(answer.pose.pose.position.x - 1.5) < 0.1
    unknown = ask(peer, object_class="Unicorn")
    assert (unknown.status.value, len(unknown.answers)) == (AnswerStatus.UNKNOWN, 0)
    assert unknown.status.explanation


def test_malformed_input_is_counted_and_the_node_lives(peer: RosPeer, memory: object) -> None:
    def nan_depth(message: Any) -> None:
        message.data = np.full((480, 640), np.nan, np.float32).tobytes()

    def odd_encoding(message: Any) -> None:
        message.encoding = "rgb16"

    def cut_short(message: Any) -> None:
        message.data = bytes(100)

    def unknown_frame(message: Any) -> None:
        message.header.frame_id = "nowhere"

    def no_masks(message: Any) -> None:
        message.data = bytes(len(message.data))

    camera = SimulatedCamera(peer)
    broken = {
        "depth_empty": {"camera_depth_image_raw": nan_depth},
        "color_encoding": {"camera_color_image_raw": odd_encoding},
        "depth_size": {"camera_depth_image_raw": cut_short},
        "no_transform": {"camera_depth_image_raw": unknown_frame},
        "masks_empty": {"detections_masks": no_masks},
    }
    stamp_s = 0
    for reason, change in broken.items():
        # Sensor data is best effort: a picture may be lost, so it is shown until it is counted.
        for _ in range(20):
            stamp_s += 1
            camera.show(stamp_s * SECOND_NS, **change)
            if f"skipped.{reason}" in figures(peer):
                break
        else:
            pytest.fail(f"{reason} was never counted: {figures(peer)}")
    assert ask(peer, object_class="Mug").answers == []
    show_until(lambda: ask(peer, object_class="Mug").answers, camera, stamp_s)


def test_impossible_transforms_and_stamps_neither_kill_nor_blind_the_node(peer: RosPeer, memory: object) -> None:
    def before_time(message: Any) -> None:
        message.header.stamp.sec = -5

    for w, z, sec in ((0.0, 0.0, 1), (float("nan"), 0.0, 2), (float("inf"), 1.0, 3), (1.0, 0.0, -5)):
        transform = TransformStamped(child_frame_id="odom")
        transform.header.frame_id = "map"
        transform.header.stamp.sec = sec
        transform.transform.rotation.w, transform.transform.rotation.z = w, z
        peer.publish("/tf", TFMessage(transforms=[transform]), 100)
    camera = SimulatedCamera(peer)
    camera.show(SECOND_NS, camera_depth_image_raw=before_time)
    show_until(lambda: ask(peer, object_class="Mug").answers, camera, 10)
    assert any(reason in figures(peer) for reason in ("skipped.invalid_value", "skipped.internal_error"))


def test_unusable_request_is_answered_with_what_is_wrong(peer: RosPeer, memory: object) -> None:
    refused = peer.call(srv.Remember, "memory/remember", changes=[msg.StateChange(added=["enchanted"])])
    assert not refused.success
    assert "enchanted" in refused.message
    unknown = ask(peer, object_class="Mug", states=["sparkling"])
    assert "sparkling" in unknown.status.explanation
    step = peer.call(srv.RecordStep, "memory/record_step")
    assert not step.success


def test_what_a_service_told_survives_kill_9(tmp_path: Path, peer: RosPeer) -> None:
    database = tmp_path / "memory.db"
    process = start_memory(database, peer.domain_id)
    try:
        show_until(lambda: peer.call(GetSceneGraph, "memory/get_scene_graph").graph.objects, SimulatedCamera(peer))
        told = {o.id for o in peer.call(GetSceneGraph, "memory/get_scene_graph").graph.objects}
        process.kill()
        process.wait(10.0)
        process = start_memory(database, peer.domain_id)
        remembered = {o.id for o in peer.call(GetSceneGraph, "memory/get_scene_graph", 60.0).graph.objects}
        assert told
        assert told <= remembered
    finally:
        process.kill()
        process.wait(10.0)


def test_every_service_answers(peer: RosPeer, memory: object) -> None:
    change_fields = {"operation": "relabel", "object_id": "ghost", "new_class": "Mug"}
    calls: dict[str, tuple[Any, dict[str, Any]]] = {
        "get_scene_graph": (srv.GetSceneGraph, {"token_budget": 100}),
        "find_objects": (srv.FindObjects, {"text": "a mug"}),
        "recall_objects": (srv.RecallObjects, {"text": "a mug"}),
        "rank_search_areas": (srv.RankSearchAreas, {"object_class": "Mug"}),
        "tell_fact": (srv.TellFact, {"text": "the blue mug is Anna's"}),
        "ask_memory": (srv.AskMemory, {"question": "whose is the blue mug?"}),
        "remember": (srv.Remember, {}),
        "get_context": (srv.GetContext, {"instruction": "bring me the mug"}),
        "forget": (srv.Forget, {"object_class": "Unicorn"}),
        "save_memory": (srv.SaveMemory, {}),
        "edit_object": (srv.EditObject, change_fields),
        "confirm_relocalization": (srv.ConfirmRelocalization, {}),
        "start_episode": (srv.StartEpisode, {"episode_id": "e1", "instruction": "bring me the mug"}),
        "compile_context": (srv.CompileContext, {"episode_id": "e1", "goals": ["fetch Mug"]}),
        "get_episodes": (srv.GetEpisodes, {"newest": 3}),
        "get_past_places": (srv.GetPastPlaces, {"object_id": "ghost"}),
        "end_episode": (srv.EndEpisode, {"episode_id": "e1", "succeeded": True}),
    }
    for name, (kind, fields) in calls.items():
        response = peer.call(kind, f"memory/{name}", **fields)
        message = getattr(response, "message", "") or getattr(getattr(response, "status", None), "explanation", "")
        assert "internal error" not in message, f"{name}: {message}"


def test_working_memory_is_published_after_each_step(peer: RosPeer, memory: object) -> None:
    heard: list[msg.WorkingMemory] = []
    peer.node.create_subscription(msg.WorkingMemory, "memory/working_memory", heard.append, 10)
    peer.call(srv.StartEpisode, "memory/start_episode", episode_id="e1", instruction="wash the mug")
    action = msg.SkillCall(skill="ToggleOn", arguments=["Faucet"])
    step = msg.StepRecord(episode_id="e1", action=action, success=True, reason="none")
    response = peer.call(srv.RecordStep, "memory/record_step", step=step)
    assert "SinkBasin" in response.warnings[0]
    wait_until(lambda: heard)
    assert (heard[-1].steps_so_far, heard[-1].success_rate) == (1, 1.0)
    assert heard[-1].warnings == response.warnings
