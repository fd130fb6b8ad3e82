"""Our messages against what a real ROS 2 recorded: fields, defaults, bytes and type hashes."""

import gzip
import json
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.interfaces.type_description import type_hash


@pytest.fixture(scope="module")
def golden(ros2_golden: Path) -> list[dict[str, Any]]:
    with gzip.open(ros2_golden / "messages.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def as_json(value):
    if hasattr(value, "get_fields_and_field_types"):
        return {name: as_json(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, (array, np.ndarray)):
        return value.tolist()
    return [as_json(item) for item in value] if isinstance(value, list) else value


def from_json(type_name, value):
    types = {field.name: field.type for field in message_definition(type_name).fields}

    def element(kind, item):
        if kind.is_message:
            return from_json(kind.name, item)
        return bytes.fromhex(item["bytes"]) if kind.name == "byte" else item

    fields = {
        name: [element(types[name], item) for item in field] if types[name].array else element(types[name], field)
        for name, field in value.items()
    }
    return get_message(type_name)(**fields)


def test_field_types_and_defaults_equal_recorded_ones(golden):
    for row in golden:
        message_class = get_message(row["type"])
        assert message_class.get_fields_and_field_types() == row["fields"]
        assert as_json(message_class()) == row["default"], row["type"]


def test_every_recorded_sample_survives_value_bytes_value(golden):
    samples = [(row["type"], sample) for row in golden for sample in row["samples"]]
    assert len(samples) == 832
    for type_name, sample in samples:
        message = from_json(type_name, sample["value"])
        data = serialize(message)
        assert data.hex() == sample["cdr"], type_name
        assert deserialize(data, type(message)) == message
        assert as_json(deserialize(data, type(message))) == sample["value"]


def test_every_type_hash_equals_recorded_one(ros2_golden):
    hashes = json.loads((ros2_golden / "type_hashes.json").read_text())
    assert {name: type_hash(name) for name in hashes} == hashes
