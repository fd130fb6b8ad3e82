"""RIHS01 type hashes (REP-2011), by which ROS 2 peers see that they mean the same type."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from ros_embedded.interfaces.definitions import MessageDefinition
from ros_embedded.interfaces.type_description import type_description, type_id


@cache
def type_hash(name: str) -> str:
    """The hash of a message, service or action, `RIHS01_` and 64 hexadecimal digits. Raises InterfaceNotFoundError."""
    description = type_description(name)
    tree = {
        "type_description": _tree(description.type),
        "referenced_type_descriptions": [_tree(referenced) for referenced in description.referenced],
    }
    return "RIHS01_" + hashlib.sha256(json.dumps(tree, ensure_ascii=True).encode()).hexdigest()


def _tree(definition: MessageDefinition) -> dict[str, Any]:
    """The part of a description that is hashed; defaults, constants and comments are not."""
    return {
        "type_name": definition.name,
        "fields": [
            {
                "name": field.name,
                "type": {
                    "type_id": type_id(field.type),
                    "capacity": field.type.size,
                    "string_capacity": field.type.string_bound,
                    "nested_type_name": field.type.name if field.type.is_message else "",
                },
            }
            for field in definition.wire_fields
        ],
    }
