"""The detector node and CLIP: models by path, tiny ones made here; what is wrong with a path is told at the start."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ros_peer import RosPeer, SimulatedCamera, show_until, wait_until
from running_memory import counted, running_memory
from sensor_msgs.msg import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from vision_msgs.msg import Detection2DArray

from memory_node.nodes import conversions

onnx = pytest.importorskip("onnx")
SECOND_NS = 1_000_000_000
# In an input of 64 x 64 a picture of 640 x 480 is a tenth as large; the plate is 7 px wide in its middle.
YOLO_OUTPUT = np.array([[32.0, 32.0, 7.0, 7.0, 0.9, 0.05], [5.0, 30.0, 2.0, 2.0, 0.1, 0.1]], np.float32)


def save(path: Path, nodes: list, inputs: list, outputs: list, constants: dict[str, np.ndarray]) -> Path:  # type: ignore[type-arg]
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = onnx.helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def yolo(folder: Path, classes: str = "Mug\nBowl\n") -> dict[str, str]:
    """Save a detector that always finds the plate, with its class names; return the node's parameters."""
    info, node, kind = onnx.helper.make_tensor_value_info, onnx.helper.make_node, onnx.TensorProto
    nodes = [node("ReduceSum", ["images"], ["sum"], keepdims=0), node("Mul", ["sum", "zero"], ["nothing"])]
    nodes.append(node("Add", ["fixed", "nothing"], ["out"]))
    constants = {"fixed": YOLO_OUTPUT.T[None], "zero": np.float32(0.0)}
    shape = list(YOLO_OUTPUT.T[None].shape)
    model = folder / "yolo.onnx"
    save(model, nodes, [info("images", kind.FLOAT, [1, 3, 64, 64])], [info("out", kind.FLOAT, shape)], constants)
    (folder / "names.txt").write_text(classes)
    return {"model": str(model), "class_names": str(folder / "names.txt")}


def words_of(node: str, parameters: dict[str, str]) -> list[str]:
    return [word for name, value in parameters.items() if value for word in ("-p", f"{node}:{name}:={value}")]


@pytest.fixture(scope="module")
def detector(domain_id: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[bytes]]:
    """Run a detector as a process of its own."""
    words = words_of("detector", yolo(tmp_path_factory.mktemp("yolo")))
    command = [sys.executable, "-m", "memory_node.nodes.run", "detector", "--ros-args", *words]
    process = subprocess.Popen(command, env={**os.environ, "ROS_DOMAIN_ID": str(domain_id)})
    yield process
    process.terminate()
    assert process.wait(20.0) == 0


def test_detector_nodes_rectangles_become_objects(
    peer: RosPeer, detector: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with running_memory(peer.domain_id, str(tmp_path / "memory.db"), detections="rectangles") as node:
        camera = SimulatedCamera(peer, detections=())
        show_until(lambda: node.memory.scene().objects, camera)
        (found,) = node.memory.scene().objects
        assert found.class_name == "Mug"
        assert np.linalg.norm(found.box.center - [1.5, 0.0, 1.0]) < 0.1


def test_detector_outlives_a_stamp_before_time_and_an_image_of_nothing(
    peer: RosPeer, detector: subprocess.Popen[bytes]
) -> None:
    found: list[int] = []
    peer.node.create_subscription(Detection2DArray, "detections", lambda msg: found.append(msg.header.stamp.sec), 10)
    good = conversions.image_to_msg(np.zeros((480, 640, 3), np.uint8), "rgb8", SECOND_NS, "camera")
    early = conversions.image_to_msg(np.zeros((480, 640, 3), np.uint8), "rgb8", SECOND_NS, "camera")
    early.header.stamp.sec = -5
    for bad in (early, Image(), Image(height=2**31, width=2**31, step=2**31, encoding="rgb8")):

        def seen(bad: Any = bad) -> bool:
            peer.publish("camera/color/image_raw", bad)
            peer.publish("camera/color/image_raw", good)
            return bool(found)

        wait_until(seen)
        found.clear()
        assert detector.poll() is None


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"model": ""}, "set the parameter model"),
        ({"model": "/nowhere/yolo.onnx"}, "/nowhere/yolo.onnx: no such ONNX model; give the path"),
        ({"class_names": "/nowhere/names.txt"}, "no such class names file; give a text file"),
        ({"classes": "Mug\n"}, "fits no known layout with 1 class names"),
    ],
    ids=["no model", "wrong path", "no names", "too few names"],
)
def test_detector_that_cannot_start_says_what_to_do(
    changed: dict[str, str], says: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    parameters = yolo(tmp_path, changed.get("classes", "Mug\nBowl\n"))
    parameters.update({name: value for name, value in changed.items() if name != "classes"})
    assert says in refused("detector", *words_of("detector", parameters))


def clip(folder: Path) -> Path:
    """Save a CLIP in three dimensions: a picture's mean colour, a word's number."""
    info, node, kind = onnx.helper.make_tensor_value_info, onnx.helper.make_node, onnx.TensorProto
    gather = [node("Gather", ["input_ids", "first"], ["token"], axis=1), node("Gather", ["table", "token"], ["out"])]
    mean = node("ReduceMean", ["pixel_values"], ["out"], axes=[2, 3], keepdims=0)
    vectors = [info("out", kind.FLOAT, ["n", 3])]
    constants = {"table": np.eye(3, dtype=np.float32), "first": np.array(0, np.int64)}
    save(folder / "text.onnx", gather, [info("input_ids", kind.INT64, ["n", 77])], vectors, constants)
    save(folder / "image.onnx", [mean], [info("pixel_values", kind.FLOAT, ["n", 3, 32, 32])], vectors, {})
    tokenizer = Tokenizer(models.WordLevel({"red": 0, "green": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_clip_by_path_embeds_how_objects_look(peer: RosPeer, tmp_path: Path) -> None:
    def green(message: object) -> None:
        message.data = np.tile(np.array([0, 255, 0], np.uint8), 640 * 480).tobytes()  # type: ignore[attr-defined]

    database = str(tmp_path / "memory.db")
    parameters = {"search.clip_path": clip(tmp_path), "camera_reliability": "reliable"}
    with running_memory(peer.domain_id, database, **parameters) as node:
        SimulatedCamera(peer).show(SECOND_NS, camera_color_image_raw=green)
        wait_until(lambda: counted(node).get("used.frames"))
        (found,) = node.memory.scene().objects
        assert found.embedding is not None
        assert int(np.argmax(found.embedding)) == 1


def test_memory_that_finds_no_clip_says_what_is_missing(tmp_path: Path, refused: Callable[..., str]) -> None:
    parameters = {"database": str(tmp_path / "memory.db"), "search.clip_path": str(tmp_path)}
    assert "no text.onnx, image.onnx, tokenizer.json" in refused("memory", *words_of("memory", parameters))
