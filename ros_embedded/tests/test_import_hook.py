"""`import rclpy` and message packages, in processes of their own since imports cannot be undone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ros_embedded

OURS = str(Path(ros_embedded.__file__).parents[1])


def run(code, tmp_path, **environment):
    """Run code in a new process; returns what it printed."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("ROS_", "AMENT_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=clean | {"PYTHONPATH": OURS} | environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def other_rclpy(tmp_path: Path) -> dict[str, str]:
    """A folder with an rclpy that is not ours."""
    (tmp_path / "rclpy").mkdir()
    (tmp_path / "rclpy" / "__init__.py").write_text("MARK = 'the other'\n")
    return {"PYTHONPATH": f"{tmp_path}{os.pathsep}{OURS}"}


def test_modules_are_the_same_objects_under_both_names(tmp_path):
    out = run(
        """
import ros_embedded
assert ros_embedded.activate() and ros_embedded.activate() and ros_embedded.is_active()
import rclpy
class MyNode(rclpy.node.Node):  # a module that nobody has imported
    pass
assert not hasattr(rclpy, "nothing")
import rclpy.qos
from rclpy.node import Node
import ros_embedded.rclpy.node, ros_embedded.rclpy.qos, sys
assert Node is ros_embedded.rclpy.node.Node
assert rclpy.qos is ros_embedded.rclpy.qos is sys.modules["rclpy.qos"]
assert rclpy.__name__ == rclpy.__spec__.name == "ros_embedded.rclpy"
from tf2_ros import Buffer, TransformException
from tf2_ros.buffer import Buffer as Same
from tf2_py import BufferCore
import message_filters, rosidl_runtime_py.utilities
from ament_index_python.packages import get_package_share_directory
assert Same is Buffer and issubclass(Buffer, BufferCore)
print("fine")
""",
        tmp_path,
    )
    assert out == "fine\n"


def test_interface_packages_are_served(tmp_path):
    out = run(
        """
import ros_embedded
ros_embedded.activate()
import geometry_msgs
assert geometry_msgs.msg.Point().x == 0.0  # a package alone leads to its interfaces
import sensor_msgs.msg
from sensor_msgs.msg import Image
from sensor_msgs.msg._image import Image as Same
from std_msgs.msg import *
from example_interfaces.srv._add_two_ints import AddTwoInts_Request
from example_interfaces.srv import AddTwoInts
assert Image is Same is sensor_msgs.msg.Image and Image.__module__ == "sensor_msgs.msg._image"
assert AddTwoInts.Request is AddTwoInts_Request and String(data="x").data == "x"
import copy, pickle
twice = pickle.loads(pickle.dumps([Image(width=3), AddTwoInts.Request(a=1)]))
assert twice == [Image(width=3), AddTwoInts.Request(a=1)]
for wrong in ("std_msgs.nothing", "std_msgs.msg._nothing", "nothing_msgs.msg", "rclpy.nothing"):
    try:
        __import__(wrong)
    except ImportError as error:
        print(error.name)
try:
    from std_msgs.msg import Nothing
except ImportError as error:
    print("Nothing" in str(error), "Image" in dir(sensor_msgs.msg))
""",
        tmp_path,
    )
    assert out.split() == ["std_msgs.nothing", "std_msgs.msg._nothing", "nothing_msgs", "rclpy.nothing", "True", "True"]


def test_package_may_hold_modules_beside_its_interfaces(tmp_path):
    checkout, modules = tmp_path / "src" / "mixed", tmp_path / "site" / "mixed"
    (checkout / "msg").mkdir(parents=True)
    (checkout / "msg" / "Level.msg").write_text("float64 value 1.5\n")
    (checkout / "package.xml").write_text("<package><name>mixed</name></package>")
    modules.mkdir(parents=True)
    (modules / "__init__.py").write_text("MARK = 'mine'\n")
    (modules / "rules.py").write_text("from mixed.msg import Level\nDOUBLE = 2 * Level().value\n")
    out = run(
        """
import ros_embedded
ros_embedded.activate()
import mixed, mixed.rules
from mixed.msg import Level
print(mixed.MARK, mixed.rules.DOUBLE, Level())
""",
        tmp_path,
        ROS_EMBEDDED_INTERFACES=str(checkout),
        PYTHONPATH=f"{modules.parent}{os.pathsep}{OURS}",
    )
    assert out == "mine 3.0 mixed.msg.Level(value=1.5)\n"


@pytest.mark.parametrize(
    ("environment", "printed"), [({}, ["False", "the other"]), ({"ROS_EMBEDDED": "1"}, ["True", "ours"])]
)
def test_real_rclpy_is_used_where_it_imports_unless_ours_is_asked_for(tmp_path, other_rclpy, environment, printed):
    code = "import ros_embedded; print(ros_embedded.activate()); import rclpy; print(getattr(rclpy, 'MARK', 'ours'))"
    assert run(code, tmp_path, **environment, **other_rclpy).split("\n")[:2] == printed


def test_nothing_heavy_is_loaded_before_it_is_needed(tmp_path):
    code = "import ros_embedded, sys; print([name for name in ('cyclonedds', 'rosbags') if name in sys.modules])"
    assert run(code, tmp_path) == "[]\n"


@pytest.mark.parametrize(
    ("library", "code", "extra"),
    [
        ("pytransform3d", "import tf2_ros", "tf2"),
        ("cv2", "import cv_bridge, numpy\ncv_bridge.CvBridge().cv2_to_compressed_imgmsg(numpy.eye(2))", "cv_bridge"),
    ],
)
def test_missing_library_is_told_with_its_extra(tmp_path, library, code, extra):
    start = f"import sys\nsys.modules[{library!r}] = None\nimport ros_embedded\nros_embedded.activate()\n"
    body = "\n".join(f"    {line}" for line in code.splitlines())
    out = run(f"{start}try:\n{body}\nexcept ImportError as error:\n    print(error)", tmp_path)
    assert f"pip install 'ros_embedded[{extra}]'" in out


def test_core_needs_no_extra(tmp_path):
    code = """
import sys
sys.modules.update({name: None for name in ("scipy", "pytransform3d", "cv2", "matplotlib")})
import ros_embedded
ros_embedded.activate()
import rclpy, rclpy.action, rclpy.lifecycle, message_filters, launch_ros.actions
import ros_embedded.cli.main
print("fine")
"""
    assert run(code, tmp_path) == "fine\n"


def test_companions_of_another_rclpy_are_served_and_use_it(tmp_path, other_rclpy):
    for name in ("clock", "duration", "logging", "time"):
        (tmp_path / "rclpy" / f"{name}.py").write_text(
            "ROSClock = Clock = Duration = Time = get_logger = 'the other'\n"
        )
    (tmp_path / "launch").mkdir()  # a folder without files is no installed package
    out = run(
        """
import ros_embedded
print(ros_embedded.activate(), ros_embedded.is_active())
import rclpy, message_filters, launch.substitutions
print(rclpy.MARK, message_filters.Time, launch.substitutions.LaunchConfiguration.__module__)
try:
    import std_srvs.srv
except ModuleNotFoundError as error:
    print(error)
""",
        tmp_path,
        ROS_EMBEDDED="companions",
        **other_rclpy,
    )
    assert out.splitlines() == [
        "False False",
        "the other the other ros_embedded.launch.substitutions",
        "No module named 'std_srvs'",
    ]


def test_companions_that_are_installed_are_left_alone(tmp_path, other_rclpy):
    (tmp_path / "message_filters.py").write_text("MARK = 'installed'\n")
    code = "import ros_embedded; ros_embedded.activate(); import message_filters; print(message_filters.MARK)"
    assert run(code, tmp_path, ROS_EMBEDDED="companions", **other_rclpy) == "installed\n"
