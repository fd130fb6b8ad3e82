"""Detectors of any origin are run from their ONNX files; tiny ones are made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx_graphs import save_model

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.onnx_detector import OnnxDetector
from memory_node.perception.onnx_session import open_session, running_on

COLOR = np.zeros((240, 320, 3), np.uint8)


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.txt"
    path.write_text("mug\nbowl\n\n", encoding="utf-8")
    return path


def opened(model: Path, names: Path) -> OnnxDetector:
    return OnnxDetector(OnnxDetectorConfig(model=str(model), class_names=str(names)))


# A box in the middle of the input of 64 x 64, 20 wide and 10 high: the image is 64 x 48 in it, 8 px from the top.
YOLO_8 = np.array(
    [[32, 32, 20, 10, 0.1, 0.9], [32, 32, 20, 11, 0.05, 0.8], [10, 30, 6, 6, 0.7, 0.1], [5, 5, 2, 2, 0.1, 0.1]]
)


def test_unknown_layout_and_missing_files_are_named(tmp_path: Path, names: Path) -> None:
    model = save_model(tmp_path / "odd.onnx", {"out": np.zeros((1, 7, 9))})
    with pytest.raises(InvalidValueError, match="fits no known layout with 2"):
        opened(model, names).detect(COLOR, None, None)
    with pytest.raises(ResourceMissingError, match="nowhere"):
        opened(tmp_path / "nowhere.onnx", names)
    with pytest.raises(ResourceMissingError, match="class names"):
        opened(model, tmp_path / "none.txt")
    (tmp_path / "noise.onnx").write_bytes(b"no model at all")
    with pytest.raises(InvalidValueError, match="not an ONNX model"):
        opened(tmp_path / "noise.onnx", names)


def test_values_that_are_no_numbers_are_dropped(tmp_path: Path, names: Path) -> None:
    rows = YOLO_8.copy()
    rows[0, 0] = np.nan
    detector = opened(save_model(tmp_path / "nan.onnx", {"out": rows.T[None]}), names)
    assert all(np.isfinite(d.box_px).all() for d in detector.detect(COLOR, None, None))
    assert detector.detect(None, None, None) == []


def test_threads_that_wait_leave_their_cores_to_others(tmp_path: Path) -> None:
    session = open_session(save_model(tmp_path / "model.onnx", {"output0": np.zeros((1, 6, 4))}))
    assert session.get_session_options().get_session_config_entry("session.intra_op.allow_spinning") == "0"


@pytest.fixture(params=["not installed", "installed without its driver"])
def no_gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which onnxruntime falls back to the CPU."""
    import onnxruntime

    if request.param == "installed without its driver":
        have = ["CUDAExecutionProvider", "CPUExecutionProvider"]
        monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: have)


@pytest.mark.usefixtures("no_gpu")
def test_gpu_that_is_asked_for_alone_and_does_not_run_is_a_refusal(tmp_path: Path) -> None:
    model = save_model(tmp_path / "model.onnx", {"output0": np.zeros((1, 6, 4))})
    with pytest.raises(InvalidValueError, match=r"asked for CUDA, .*add CPU to the parameter providers \(CUDA, CPU\)"):
        open_session(model, providers=["CUDA"])


@pytest.mark.usefixtures("no_gpu")
def test_cpu_stands_in_with_a_warning_where_it_is_named_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = save_model(tmp_path / "model.onnx", {"output0": np.zeros((1, 6, 4))})
    session = open_session(model, providers=["CUDA", "CPU"])
    assert running_on(session) == "CPU"
    assert "asked for CUDA, runs on CPU" in caplog.text
