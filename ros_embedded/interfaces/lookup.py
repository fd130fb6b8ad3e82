"""Where interface definitions are found.

In this order: added folders, ROS_EMBEDDED_INTERFACES, AMENT_PREFIX_PATH, entry points, the definitions bundled here,
the Jazzy type store of `rosbags`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ros_embedded.interfaces.definitions import (
    ActionDefinition,
    MessageDefinition,
    ServiceDefinition,
    event_of,
    feedback_message,
    get_result_service,
    send_goal_service,
)
from ros_embedded.interfaces.parser import parse_action, parse_message, parse_service

KINDS = ("msg", "srv", "action")
_BUNDLED = Path(__file__).parent / "bundled"
_NAME = re.compile(r"[a-z]\w*/(msg|srv|action)/[A-Z]\w*$", re.IGNORECASE)
_added: dict[str, list[Path]] = {}


class InterfaceNotFoundError(LookupError):
    """No definition of that name is known."""


def add_interface_folder(package: str, path: str | os.PathLike[str]) -> None:
    """Make the folders msg, srv and action under path known as those of a ROS package.

    Raises:
        NotADirectoryError: if path holds none of the three.

    """
    folder = Path(path)
    if not any((folder / kind).is_dir() for kind in KINDS):
        raise NotADirectoryError(f"{folder} has no folder msg, srv or action")
    if folder not in _added.setdefault(package, []):
        _added[package].append(folder)
        forget_definitions()


def forget_definitions() -> None:
    """Look definitions up afresh, for when the environment has changed. Classes already made stay."""
    for cached in (_package_folders, message_definition, service_definition, action_definition):
        cached.cache_clear()


@cache
def service_definition(name: str) -> ServiceDefinition:
    """The service of a full name such as `std_srvs/srv/Trigger`. Raises InterfaceNotFoundError."""
    package, kind, base = _split(name)
    if kind == "action" and "_" in base:
        action, _, part = base.rpartition("_")
        if part in ("SendGoal", "GetResult"):
            action_definition(f"{package}/action/{action}")
            return (send_goal_service if part == "SendGoal" else get_result_service)(f"{package}/action/{action}")
    return parse_service(name, _file(package, "srv", base).read_text("utf-8"))


@cache
def action_definition(name: str) -> ActionDefinition:
    """The action of a full name such as `nav2_msgs/action/Wait`. Raises InterfaceNotFoundError."""
    package, _, base = _split(name)
    return parse_action(name, _file(package, "action", base).read_text("utf-8"))


@cache
def message_definition(name: str) -> MessageDefinition:
    """The message of a full name; the parts of services and actions too. Raises InterfaceNotFoundError."""
    package, kind, base = _split(name)
    if kind == "msg":
        path = _find_file(package, kind, base)
        return parse_message(name, path.read_text("utf-8") if path else _text_of_rosbags(name))
    owner, _, part = name.rpartition("_")
    if part in ("Request", "Response"):
        service = service_definition(owner)
        return service.request if part == "Request" else service.response
    if part == "Event":
        service_definition(owner)
        return event_of(owner)
    if kind == "action" and part in ("Goal", "Result", "Feedback"):
        action = action_definition(owner)
        return {"Goal": action.goal, "Result": action.result, "Feedback": action.feedback}[part]
    if kind == "action" and part == "FeedbackMessage":
        action_definition(owner)
        return feedback_message(owner)
    raise InterfaceNotFoundError(f"{name!r} is no message")


def interface_names(package: str, kind: str) -> list[str]:
    """The names of all messages, services or actions of a package, sorted; empty if the package is unknown."""
    names = {path.stem for folder in _package_folders(package) for path in (folder / kind).glob(f"*.{kind}")}
    if kind == "msg":
        names |= {name.split("/")[2] for name in _rosbags_store().fielddefs if name.startswith(f"{package}/msg/")}
    return sorted(names)


def is_interface_package(package: str) -> bool:
    """True if any message, service or action of the package is known."""
    return any(interface_names(package, kind) for kind in KINDS)


def interface_packages() -> list[str]:
    """The names of all packages with interfaces, sorted."""
    names = {path.name for path in _BUNDLED.iterdir()} | set(_added) | {point.name for point in _entry_points()}
    names |= {name.split("/")[0] for name in _rosbags_store().fielddefs}
    for root in _roots():
        names |= {path.parent.name for kind in KINDS for path in root.glob(f"*/{kind}")}
    return sorted(name for name in names if is_interface_package(name))


def _split(name: str) -> tuple[str, str, str]:
    if not _NAME.match(name):
        raise InterfaceNotFoundError(f"{name!r} is not of the form package/msg|srv|action/Name")
    package, kind, base = name.split("/")
    return package, kind, base


def _file(package: str, kind: str, base: str) -> Path:
    path = _find_file(package, kind, base)
    if path is None:
        raise InterfaceNotFoundError(f"no definition of {package}/{kind}/{base} is known")
    return path


def _find_file(package: str, kind: str, base: str) -> Path | None:
    paths = (folder / kind / f"{base}.{kind}" for folder in _package_folders(package))
    return next((path for path in paths if path.is_file()), None)


def share_folders(package: str, checkouts: Iterable[Path] = ()) -> list[Path]:
    """The folders with a package's shipped files: where it was added, installed or, last, is checked out."""
    folders = [*_added.get(package, ())]
    for root in _roots():
        folders.append(root / package)
        if _package_name(root) == package:
            folders.append(root)
    for point in _entry_points():
        if point.name == package:
            folders += point.load()()
    folders += [folder for folder in checkouts if _package_name(folder) == package]
    return [folder for folder in folders if folder.is_dir()]


@cache
def _package_folders(package: str) -> tuple[Path, ...]:
    bundled = _BUNDLED / package
    return (*share_folders(package), bundled) if bundled.is_dir() else tuple(share_folders(package))


def _roots() -> Iterator[Path]:
    """Folders that hold one folder for each package."""
    for entry in filter(None, os.environ.get("ROS_EMBEDDED_INTERFACES", "").split(os.pathsep)):
        yield Path(entry)
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(prefix) / "share"


def _package_name(folder: Path) -> str | None:
    manifest = folder / "package.xml"
    match = re.search(r"<name>\s*(\w+)\s*</name>", manifest.read_text("utf-8")) if manifest.is_file() else None
    return match[1] if match else None


def _entry_points() -> Any:
    """Entry points of the group `ros_embedded.share`: a package's name -> a function that returns its share folders."""
    return entry_points(group="ros_embedded.share")


@cache
def _rosbags_store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)


def _text_of_rosbags(name: str) -> str:
    store = _rosbags_store()
    if name not in store.fielddefs:
        raise InterfaceNotFoundError(f"no definition of {name} is known")
    return store.generate_msgdef(name, ros_version=2)[0].split("=" * 80)[0]
