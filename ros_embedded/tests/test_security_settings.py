"""Security settings of ROS 2 are refused or complained of, and never ignored in silence."""

from pathlib import Path

import pytest
import rclpy

if not rclpy.__file__.endswith("ros_embedded/rclpy/__init__.py"):
    pytest.skip("the real rclpy is sourced", allow_module_level=True)

from rclpy.context import Context


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Return an environment in which a keystore is named."""
    monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(tmp_path))
    return monkeypatch


def test_enforced_security_lets_no_participant_start(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("ROS_SECURITY_ENABLE", "true")
    settings.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    context = Context()
    with pytest.raises(RuntimeError, match=r"ROS_SECURITY_ENABLE is true.*no DDS Security"):
        context.init(args=[])
    assert not context.ok()
    assert context.handle is None


def test_wished_security_is_complained_of(settings: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    settings.setenv("ROS_SECURITY_ENABLE", "true")
    context = Context()
    context.init(args=[])
    context.shutdown()
    assert "everybody on the network can read what it sends" in capfd.readouterr().err


@pytest.mark.parametrize("enable", ["false", "", "0"])
def test_security_that_is_off_says_nothing(
    settings: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], enable: str
) -> None:
    settings.setenv("ROS_SECURITY_ENABLE", enable)
    settings.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    context = Context()
    context.init(args=[])
    context.shutdown()
    assert "SECURITY" not in capfd.readouterr().err
