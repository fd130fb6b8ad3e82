"""Makes the class of each interface once and keeps it."""

from __future__ import annotations

import importlib
import threading
from typing import Any

from ros_embedded.interfaces.lookup import InterfaceNotFoundError, message_definition
from ros_embedded.interfaces.message_class import make_message_class
from ros_embedded.interfaces.service_class import make_action_class, make_service_class

_lock = threading.RLock()
_classes: dict[str, Any] = {}
_uses_installed_classes = False


def use_installed_classes() -> None:
    """From now on give the classes that a real ROS has installed, for companions of a real rclpy."""
    global _uses_installed_classes
    _uses_installed_classes = True


def get_message(identifier: str) -> Any:
    """The message class of a full name; `std_msgs/String` is short for `std_msgs/msg/String`.

    Raises InterfaceNotFoundError if no definition of that name is known, InterfaceSyntaxError if it cannot be read.
    """
    return _class("msg", identifier, lambda full: make_message_class(message_definition(full), get_message))


def get_service(identifier: str) -> Any:
    """The service class of a full name, as get_message."""
    return _class("srv", identifier, lambda full: make_service_class(full, get_message))


def get_action(identifier: str) -> Any:
    """The action class of a full name, as get_message."""
    return _class("action", identifier, lambda full: make_action_class(full, get_message, get_service))


def _class(kind: str, name: str, make: Any) -> Any:
    full = name if name.count("/") != 1 else name.replace("/", f"/{kind}/")
    with _lock:
        if full not in _classes:
            _classes[full] = _installed(full) if _uses_installed_classes else make(full)
        return _classes[full]


def _installed(name: str) -> Any:
    package, kind, base = name.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.{kind}"), base)
    except (ModuleNotFoundError, AttributeError) as error:
        raise InterfaceNotFoundError(f"{name} is not installed") from error
