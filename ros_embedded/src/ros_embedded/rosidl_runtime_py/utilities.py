"""Interface classes by name."""

from ros_embedded.interfaces import get_action, get_message, get_service

__all__ = ["get_action", "get_message", "get_service"]
