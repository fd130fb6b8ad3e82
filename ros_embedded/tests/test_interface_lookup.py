"""Definitions are found in folders given by the environment, added by code, or installed."""

import sys
from collections.abc import Iterator

import pytest
from rosbags.typesys import Stores, get_typestore

from ros_embedded.interfaces import InterfaceNotFoundError, add_interface_folder, get_message, get_service, lookup
from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.interfaces.type_description import type_hash


def write_package(folder, name):
    (folder / "msg").mkdir(parents=True)
    (folder / "srv").mkdir()
    (folder / "package.xml").write_text(f"<package format='3'><name>{name}</name></package>")
    (folder / "msg" / "Part.msg").write_text("string label\nfloat64[] values\n")
    (folder / "msg" / "Whole.msg").write_text("uint8 BIG=1\nPart[] parts\nstd_msgs/Header header\n")
    (folder / "srv" / "Ask.srv").write_text("Part part\n---\nbool good\n")


@pytest.fixture(autouse=True)
def forgets() -> Iterator[None]:
    yield
    lookup.forget_definitions()


def check(package):
    whole = get_message(f"{package}/msg/Whole")
    part = get_message(f"{package}/msg/Part")
    message = whole(parts=[part(label="a", values=[1.0, 2.0]), part()])
    assert deserialize(serialize(message), whole) == message
    assert whole.BIG == 1
    assert get_service(f"{package}/srv/Ask").Response(good=True).good
    assert lookup.interface_names(package, "msg") == ["Part", "Whole"]
    assert lookup.is_interface_package(package)


def test_folder_of_packages_in_the_environment(tmp_path, monkeypatch):
    write_package(tmp_path / "env_msgs", "env_msgs")
    monkeypatch.setenv("ROS_EMBEDDED_INTERFACES", str(tmp_path))
    lookup.forget_definitions()
    check("env_msgs")


def test_checkout_of_a_package_in_the_environment(tmp_path, monkeypatch):
    write_package(tmp_path / "folder_of_another_name", "checked_msgs")
    monkeypatch.setenv("ROS_EMBEDDED_INTERFACES", str(tmp_path / "folder_of_another_name"))
    lookup.forget_definitions()
    assert get_message("checked_msgs/msg/Part")().label == ""


def test_ament_prefix(tmp_path, monkeypatch):
    write_package(tmp_path / "share" / "ament_msgs", "ament_msgs")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    lookup.forget_definitions()
    check("ament_msgs")


def test_added_folder(tmp_path):
    with pytest.raises(InterfaceNotFoundError):
        get_message("added_msgs/msg/Part")
    write_package(tmp_path / "x", "added_msgs")
    add_interface_folder("added_msgs", tmp_path / "x")
    check("added_msgs")
    with pytest.raises(NotADirectoryError):
        add_interface_folder("added_msgs", tmp_path / "nothing")


def test_installed_package_by_entry_point(tmp_path, monkeypatch):
    write_package(tmp_path / "files", "point_msgs")
    (tmp_path / "point_share.py").write_text(
        f"from pathlib import Path\ndef find(): return [Path({str(tmp_path)!r}) / 'files']\n"
    )
    metadata = tmp_path / "point_msgs-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: point_msgs\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[ros_embedded.share]\npoint_msgs = point_share:find\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    lookup.forget_definitions()
    check("point_msgs")


def test_definition_given_by_the_user_wins_over_the_bundled_one(tmp_path, monkeypatch):
    folder = tmp_path / "vision_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Point2D.msg").write_text("float32 x\n")
    monkeypatch.setenv("ROS_EMBEDDED_INTERFACES", str(tmp_path))
    lookup.forget_definitions()
    assert [field.name for field in lookup.message_definition("vision_msgs/msg/Point2D").fields] == ["x"]


def test_every_bundled_definition_makes_a_class_that_can_be_sent():
    count = 0
    definitions = get_typestore(Stores.ROS2_JAZZY).fielddefs
    packages = {name.split("/")[0] for name in definitions} | {path.name for path in lookup._BUNDLED.iterdir()}
    for package in sorted(packages):
        for name in lookup.interface_names(package, "msg"):
            message_class = get_message(f"{package}/msg/{name}")
            assert deserialize(serialize(message_class()), message_class) == message_class()
            count += 1
        for name in lookup.interface_names(package, "srv"):
            assert type_hash(f"{package}/srv/{name}").startswith("RIHS01_")
    assert count > 250


def test_class_of_a_name_is_made_once():
    assert get_message("geometry_msgs/Point") is get_message("geometry_msgs/msg/Point")
    assert type(get_message("geometry_msgs/msg/Pose")().position) is get_message("geometry_msgs/msg/Point")


@pytest.mark.parametrize("name", ["std_msgs/msg/Nothing", "nowhere/msg/String", "String", "../msg/String", ""])
def test_unknown_name_is_an_error(name):
    with pytest.raises(InterfaceNotFoundError):
        get_message(name)
