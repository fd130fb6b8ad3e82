"""Finds interface definitions.

In this order: added folders, ROS_EMBEDDED_INTERFACES, AMENT_PREFIX_PATH, entry points, the definitions bundled here,
the Jazzy type store of `rosbags`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from ros_embedded.interfaces.definitions import Field, FieldType, MessageDefinition
from ros_embedded.interfaces.parser import parse_message, sections

KINDS = ("msg", "srv", "action")
_BUNDLED = Path(__file__).parent / "bundled"
_NAME = re.compile(r"[a-z]\w*/(msg|srv|action)/[A-Z]\w*$", re.IGNORECASE)
_SECTIONS = {"srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}
# messages that a service or action {} implies beyond its file: fields by the ending of the message's name
_ID = ("goal_id", "unique_identifier_msgs/msg/UUID")
_IMPLIED: dict[str, tuple[tuple[str, str], ...]] = {
    "SendGoal_Request": (_ID, ("goal", "{}_Goal")),
    "SendGoal_Response": (("accepted", "bool"), ("stamp", "builtin_interfaces/msg/Time")),
    "GetResult_Request": (_ID,),
    "GetResult_Response": (("status", "int8"), ("result", "{}_Result")),
    "FeedbackMessage": (_ID, ("feedback", "{}_Feedback")),
}
# the structures that represent services and actions in REP-2011 type descriptions
_STAND_INS = {
    "srv": tuple((f"{part}_message", f"{{}}_{part.title()}") for part in ("request", "response", "event")),
    "action": (
        ("goal", "{}_Goal"), ("result", "{}_Result"), ("feedback", "{}_Feedback"),
        ("send_goal_service", "{}_SendGoal"), ("get_result_service", "{}_GetResult"),
        ("feedback_message", "{}_FeedbackMessage"),
    ),
}  # fmt: skip
_added: dict[str, list[Path]] = {}


class InterfaceNotFoundError(LookupError):
    """No definition of that name is known."""


def add_interface_folder(package: str, path: str | os.PathLike[str]) -> None:
    """Make the folders msg, srv and action under path known as those of a ROS package.

    Raises NotADirectoryError if path holds none of the three.
    """
    folder = Path(path)
    if not any((folder / kind).is_dir() for kind in KINDS):
        raise NotADirectoryError(f"{folder} has no folder msg, srv or action")
    if folder not in _added.setdefault(package, []):
        _added[package].append(folder)
        forget_definitions()


def forget_definitions() -> None:
    """Forget what was found, for example after a change of the environment. Classes already made stay."""
    for cached in (_declared_shares, _package_folders, message_definition, interface_text):
        cached.cache_clear()


@cache
def interface_text(name: str) -> str:
    """The text of a message, service or action by its full name such as `std_srvs/srv/Trigger`.

    Raises InterfaceNotFoundError.
    """
    if not _NAME.match(name):
        raise InterfaceNotFoundError(f"{name!r} is not of the form package/msg|srv|action/Name")
    package, kind, base = name.split("/")
    for folder in _package_folders(package):
        if (folder / kind / f"{base}.{kind}").is_file():
            return (folder / kind / f"{base}.{kind}").read_text("utf-8")
    store = _rosbags_store()
    if name not in store.fielddefs:
        raise InterfaceNotFoundError(f"no definition of {name} is known")
    return store.generate_msgdef(name, ros_version=2)[0].split("=" * 80)[0]


@cache
def message_definition(name: str) -> MessageDefinition:
    """The message of a full name; the parts of services and actions too. Raises InterfaceNotFoundError."""
    kind = name.split("/")[1] if name.count("/") == 2 else "msg"
    if kind == "msg":
        return parse_message(name, interface_text(name))
    owner, _, part = name.rpartition("_")
    for ending, fields in _IMPLIED.items():
        if kind == "action" and name.endswith(f"_{ending}"):
            action = name.removesuffix(f"_{ending}")
            interface_text(action)
            return _composed(name, action, fields)
    if part == "Event" and (kind == "srv" or owner.endswith(("_SendGoal", "_GetResult"))):
        stand_in(owner)
        info = Field("info", FieldType("service_msgs/msg/ServiceEventInfo"))
        return MessageDefinition(name, (info, *(_at_most_one(owner, end) for end in ("request", "response"))))
    if part not in _SECTIONS.get(kind, ()):
        raise InterfaceNotFoundError(f"{name!r} is no message")
    parts = sections(owner, interface_text(owner), len(_SECTIONS[kind]))
    return parse_message(name, parts[_SECTIONS[kind].index(part)])


def stand_in(name: str) -> MessageDefinition:
    """The structure that represents a service or action in type descriptions. Raises InterfaceNotFoundError."""
    action = re.sub("_(SendGoal|GetResult)$", "", name)
    interface_text(action)
    return _composed(name, name, _STAND_INS["srv" if action != name else name.split("/")[1]])


def _composed(name: str, owner: str, fields: tuple[tuple[str, str], ...]) -> MessageDefinition:
    return MessageDefinition(name, tuple(Field(key, FieldType(kind.format(owner))) for key, kind in fields))


def _at_most_one(service: str, part: str) -> Field:
    return Field(part, FieldType(f"{service}_{part.title()}", array="bounded", size=1))


def interface_names(package: str, kind: str) -> list[str]:
    """The names of all messages, services or actions of a package, sorted; empty if the package is unknown."""
    names = {path.stem for folder in _package_folders(package) for path in (folder / kind).glob(f"*.{kind}")}
    if kind == "msg":
        names |= {name.split("/")[2] for name in _rosbags_store().fielddefs if name.startswith(f"{package}/msg/")}
    return sorted(names)


def is_interface_package(package: str) -> bool:
    """True if any message, service or action of the package is known."""
    return any(interface_names(package, kind) for kind in KINDS)


def share_folders(package: str, checkouts: Iterable[Path] = ()) -> list[Path]:
    """The folders of a package's shipped files: added ones first, then installed ones, then checkouts."""
    folders = [*_added.get(package, ())]
    for root in _roots():
        folders.append(root / package)
        if _package_name(root) == package:
            folders.append(root)
    for point in _declared_shares():  # package name -> function that returns its share folders
        if point.name == package:
            folders += point.load()()
    folders += [folder for folder in checkouts if _package_name(folder) == package]
    return [folder for folder in folders if folder.is_dir()]


@cache
def _package_folders(package: str) -> tuple[Path, ...]:
    bundled = _BUNDLED / package
    return (*share_folders(package), bundled) if bundled.is_dir() else tuple(share_folders(package))


@cache
def _declared_shares() -> tuple[EntryPoint, ...]:
    """Read once: it goes through the metadata of all that is installed."""
    return tuple(entry_points(group="ros_embedded.share"))


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


@cache
def _rosbags_store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)
