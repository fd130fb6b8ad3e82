"""Interface classes by name, and what kind a class is."""

from typing import Any

from ros_embedded.interfaces import get_action, get_message, get_service

__all__ = ["get_action", "get_interface", "get_message", "get_service", "is_action", "is_message", "is_service"]


def get_interface(identifier: str) -> Any:
    """The class of a message, service or action by its full name, such as `std_srvs/srv/Empty`."""
    kind = identifier.split("/")[1:2]
    return {"srv": get_service, "action": get_action}.get(kind[0] if kind else "", get_message)(identifier)


def is_message(interface: Any) -> bool:
    """True for message classes."""
    return hasattr(interface, "get_fields_and_field_types")


def is_service(interface: Any) -> bool:
    """True for service classes."""
    return hasattr(interface, "Request") and hasattr(interface, "Response")


def is_action(interface: Any) -> bool:
    """True for action classes."""
    return all(hasattr(interface, part) for part in ("Goal", "Result", "Feedback"))
