"""Messages as text and text as messages: the API of Jazzy's rosidl_runtime_py."""

from ros_embedded.rosidl_runtime_py.convert import message_to_ordereddict, message_to_yaml
from ros_embedded.rosidl_runtime_py.set_message import set_message_fields

__all__ = ["message_to_ordereddict", "message_to_yaml", "set_message_fields"]
