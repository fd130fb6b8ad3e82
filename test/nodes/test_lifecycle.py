"""Memory, detector and skills are managed nodes: ROS 2's own tools bring them to work and back."""

import importlib
import importlib.util
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from nav2_manager import Nav2Manager
from node_process import node_processes
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.service import Service
from robot_memory.action import ExecuteSkill
from robot_memory.msg import SkillCall
from robot_memory.srv import FindObjects, SaveMemory
from ros_peer import RosPeer, SimulatedCamera, show_until, spun, wait_until
from skill_robot import SimulatedRobot

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.run import NODES


class Manager:
    """What `ros2 lifecycle` and Nav2's lifecycle manager do with one node."""

    def __init__(self, peer: RosPeer, node: str) -> None:
        self._peer = peer
        self._node = node

    @property
    def state(self) -> str:
        return str(self._peer.call(GetState, f"/{self._node}/get_state").current_state.label)

    def change(self, transition: str, number: int = 0) -> bool:
        asked = Transition(label=transition, id=number)
        # Asked once: a busy machine takes its time, and a transition that was made is refused the second time.
        return bool(self._peer.call(ChangeState, f"/{self._node}/change_state", again_s=30.0, transition=asked).success)

    def services(self) -> set[str]:
        return {name for name, _ in self._peer.node.get_service_names_and_types() if f"/{self._node}/" in name}


@contextmanager
def spinning(
    name: str, domain_id: int, namespace: str = "", remapped: Sequence[str] = (), **parameters: Any
) -> Iterator[Any]:
    """Run one node in this process. remapped: rules such as /tf:=tf."""
    module, class_name = NODES[name]
    words = [word for key, value in parameters.items() for word in ("-p", f"{key}:={value}")]
    rules = [*([f"__ns:={namespace}"] if namespace else []), *remapped]
    words += [word for rule in rules for word in ("-r", rule)]
    rclpy.init(args=["test", "--ros-args", *words], domain_id=domain_id)
    try:
        with spun(getattr(importlib.import_module(module), class_name)(), threads=4) as node:
            yield node
    finally:
        rclpy.try_shutdown()


@pytest.fixture
def peer(own_peer: RosPeer) -> RosPeer:
    return own_peer  # rclpy's lifecycle services stay in the graph until their node is collected as garbage


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def test_memory_starts_itself_and_what_it_knows_outlives_every_state(peer: RosPeer, database: str) -> None:
    def is_known(object_class: str) -> bool:
        return bool(peer.call(FindObjects, "/memory/find_objects", object_class=object_class).answers)

    with spinning("memory", peer.domain_id, database=database):
        manager, camera = Manager(peer, "memory"), SimulatedCamera(peer)
        assert manager.state == "active"
        show_until(lambda: is_known("Mug"), camera)
        assert manager.change("deactivate")
        wait_until(lambda: "/memory/find_objects" not in manager.services())
        wait_until(lambda: peer.node.count_subscribers("/camera/color/image_raw") == 0)
        assert manager.state == "inactive"
        assert manager.change("cleanup")
        assert manager.state == "unconfigured"
        assert manager.change("configure")
        assert manager.change("activate")
        assert is_known("Mug"), "memory was made durable, and opened again"
        wait_until(lambda: peer.node.count_subscribers("/camera/color/image_raw") == 1)
        assert manager.change("shutdown")
        assert manager.state == "finalized"


def test_memory_waits_for_a_manager_where_it_shall(peer: RosPeer, database: str) -> None:
    with spinning("memory", peer.domain_id, database=database, autostart="false"):
        manager = Manager(peer, "memory")
        assert manager.state == "unconfigured"
        assert not Path(database).exists()
        assert not manager.change("no_such_transition")
        assert not manager.change("", number=Transition.TRANSITION_ACTIVATE)
        assert manager.state == "unconfigured"
        assert manager.change("configure")
        assert Path(database).exists()
        assert "/memory/find_objects" not in manager.services()
        assert manager.change("activate")
        wait_until(lambda: "/memory/find_objects" in manager.services())


def test_ordinary_node_has_no_lifecycle_services(peer: RosPeer, database: str) -> None:
    with spinning("memory", peer.domain_id, database=database, lifecycle="false", autostart="false"):
        services = Manager(peer, "memory").services
        wait_until(lambda: "/memory/find_objects" in services())
        assert not {name for name in services() if "state" in name or "transition" in name}


def test_refused_configuration_leaves_the_node_as_it_was(peer: RosPeer, tmp_path: Path) -> None:
    missing = {"model": tmp_path / "none.onnx", "class_names": tmp_path / "none.txt"}
    with spinning("detector", peer.domain_id, autostart="false", **missing):
        manager = Manager(peer, "detector")
        for _ in range(2):
            assert not manager.change("configure")
            assert manager.state == "unconfigured"


def test_node_that_cannot_start_itself_says_why(peer: RosPeer) -> None:
    with pytest.raises(RobotMemoryError, match="set the parameter model"), spinning("detector", peer.domain_id):
        pass


def test_deactivating_skills_stops_the_base_and_takes_the_action_away(peer: RosPeer, tmp_path: Path) -> None:
    robot = SimulatedRobot(peer.node)
    try:
        with node_processes(
            tmp_path, peer.domain_id, {"skills": {"expert.base.candidates": 2, "expert.base.silence_s": 30.0}}
        ):
            manager = Manager(peer, "skills")
            client = ActionClient(peer.node, ExecuteSkill, "execute_skill")
            assert client.wait_for_server(timeout_sec=30.0)
            robot.slow = True
            sent = client.send_goal_async(ExecuteSkill.Goal(call=SkillCall(skill="GoToObject", arguments=["Apple"])))
            wait_until(sent.done, 60.0)
            result = sent.result().get_result_async()  # a request after the action is gone would have no answer
            wait_until(lambda: robot.drives, 60.0)
            assert manager.change("deactivate")
            assert robot.drive_canceled.wait(5.0)  # test_stopping asks for less
            wait_until(result.done)
            assert result.result().result.reason == "canceled"
            wait_until(lambda: not client.server_is_ready())
            assert manager.change("activate")
            wait_until(client.server_is_ready)
    finally:
        robot.close()


@pytest.fixture
def status_type(tmp_path: Path) -> Any:
    """The message of the package bond, which Nav2 brings; for ros_embedded its definition (bond_core) is given."""
    if importlib.util.find_spec("bond") is None:
        if "ros_embedded" not in str(rclpy.__file__):
            pytest.skip("the package bond is not installed")
        from ros_embedded import add_interface_folder

        (tmp_path / "bond" / "msg").mkdir(parents=True)
        fields = "std_msgs/Header header,string id,string instance_id,bool active"
        fields += ",float32 heartbeat_timeout,float32 heartbeat_period"
        (tmp_path / "bond" / "msg" / "Status.msg").write_text(fields.replace(",", "\n"))
        add_interface_folder("bond", tmp_path / "bond")
    return importlib.import_module("bond.msg").Status


def test_active_node_beats_on_bond_and_says_goodbye(peer: RosPeer, database: str, status_type: Any) -> None:
    heard: list[Any] = []
    peer.node.create_subscription(status_type, "/bond", heard.append, 10)
    with spinning("memory", peer.domain_id, database=database):
        wait_until(lambda: len(heard) > 3)
        assert Manager(peer, "memory").change("deactivate")
        wait_until(lambda: not heard[-1].active)
        beats = len(heard)
        time.sleep(0.5)
        assert len(heard) == beats
    assert {status.id for status in heard} == {"memory"}
    assert len({status.instance_id for status in heard}) == 1
    assert [status.active for status in heard].count(False) == 1


@pytest.mark.parametrize("namespace", ["", "/robot1"])
def test_lifecycle_manager_of_nav2_brings_a_node_up_and_down(
    peer: RosPeer, namespace: str, status_type: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spinning("skills", peer.domain_id, namespace, autostart="false") as node:
        manager = Nav2Manager(peer, namespace, "skills", status_type)
        manager.bring_up()
        bond = manager.bond
        assert not bond.is_broken
        if namespace:
            manager.shut_down()
            wait_until(lambda: bond.is_broken, 1.0)  # by a goodbye: silence alone would take 2 s
        else:
            # A node that hangs is noticed by its silence.
            monkeypatch.setattr(node._bond, "_say", lambda active: None)
            wait_until(lambda: bond.is_broken, 5.0)
        bond.close()


@pytest.mark.parametrize("topic", ["/camera/color/image_raw", "/map"])
def test_images_are_best_effort_and_maps_latched_unless_parameters_say_otherwise(
    topic: str, peer: RosPeer, database: str
) -> None:
    def offered() -> list[tuple[Any, Any]]:
        found = peer.node.get_subscriptions_info_by_topic(topic)
        return [(info.qos_profile.reliability, info.qos_profile.durability) for info in found]

    default = (ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE)
    if topic == "/map":
        default = (ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL)
    with spinning("memory", peer.domain_id, database=database):
        wait_until(lambda: offered() == [default])
    wait_until(lambda: offered() == [])
    overridden = {
        f"qos_overrides.{topic}.subscription.reliability": "reliable",
        f"qos_overrides.{topic}.subscription.durability": "volatile",
    }
    with spinning("memory", peer.domain_id, database=database, **overridden):
        wait_until(lambda: offered() == [(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)])
        for other in ("/memory/scene_graph", "/memory/memory_units"):
            (info,) = peer.node.get_publishers_info_by_topic(other)
            assert info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL, "another topic was changed, too"


def test_request_in_hand_is_answered_before_the_node_is_inactive(peer: RosPeer, database: str) -> None:
    with spinning("memory", peer.domain_id, database=database) as node:
        begun, go_on = threading.Event(), threading.Event()
        save: Callable[..., Any] = node.memory.save

        def slow(*arguments: Any) -> Any:
            begun.set()
            go_on.wait(20.0)
            return save(*arguments)

        node.memory.save = slow
        client = peer.node.create_client(SaveMemory, "/memory/save_memory")
        assert client.wait_for_service(timeout_sec=10.0)
        answer = client.call_async(SaveMemory.Request())
        assert begun.wait(20.0)
        threading.Timer(0.5, go_on.set).start()
        assert Manager(peer, "memory").change("deactivate")
        wait_until(answer.done, 20.0)
        assert answer.result().success


def test_answer_that_is_sent_slowly_goes_out_before_the_node_is_inactive(
    peer: RosPeer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = threading.Event()
    send: Callable[..., Any] = Service.send_response

    def slow(service: Any, response: Any, header: Any) -> None:
        if isinstance(response, SaveMemory.Response):
            sending.set()
            time.sleep(0.5)
        send(service, response, header)

    monkeypatch.setattr(Service, "send_response", slow)
    with spinning("memory", peer.domain_id, database=database):
        client = peer.node.create_client(SaveMemory, "/memory/save_memory")
        assert client.wait_for_service(timeout_sec=10.0)
        answer = client.call_async(SaveMemory.Request())
        assert sending.wait(20.0)
        assert Manager(peer, "memory").change("deactivate")
        wait_until(answer.done, 20.0)
        assert answer.result().success
