"""Whatever bytes arrive, the deserialiser answers with a message or with its own error."""

import random
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.cdr import DeserializationError, SerializationError, deserialize, serialize

TYPES = [
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/PointCloud2",
    "visualization_msgs/msg/MarkerArray",
    "rcl_interfaces/msg/ParameterValue",
    "type_description_interfaces/msg/TypeDescription",
    "example_interfaces/msg/WString",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "diagnostic_msgs/msg/DiagnosticArray",
    "std_msgs/msg/Empty",
    "example_interfaces/action/Fibonacci_GetResult_Response",
]
HEADER = b"\x00\x01\x00\x00"


def read(data, message_class):
    try:
        return deserialize(data, message_class)
    except DeserializationError:
        return None


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(TYPES), st.sampled_from([HEADER, b"\x00\x00\x00\x00", b""]))
def test_arbitrary_bytes_give_a_message_or_the_error(data, type_name, header):
    message = read(header + data, get_message(type_name))
    if message is not None:
        serialize(message)


@pytest.mark.parametrize("type_name", TYPES)
def test_damaged_messages_give_a_message_or_the_error(type_name):
    chance = random.Random(7)
    message_class = get_message(type_name)
    whole = bytearray(serialize(message_class()))
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(4, len(data))] = chance.randrange(256)
        read(bytes(data[: chance.randint(4, len(data))]), message_class)


@pytest.mark.parametrize("type_name", ["sensor_msgs/msg/Image", "visualization_msgs/msg/MarkerArray"])
@pytest.mark.parametrize("count", [2**31, 2**32 - 1, 10**6])
def test_announced_length_allocates_nothing(type_name, count):
    message_class = get_message(type_name)
    data = serialize(message_class())[:-4] + struct.pack("<I", count) + b"\x01" * 64
    tracemalloc.start()
    with pytest.raises(DeserializationError):
        deserialize(data, message_class)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 1_000_000


def test_text_longer_than_its_bound_is_refused():
    limits = get_message("rmw_dds_common/msg/NodeEntitiesInfo")
    node = limits(node_name="n" * 256)
    assert deserialize(serialize(node), limits).node_name == "n" * 256
    data = bytearray(serialize(node))
    place = data.index(b"n" * 256)
    data[place - 4 : place] = struct.pack("<I", 258)
    data.insert(place, ord("n"))
    with pytest.raises(DeserializationError, match="longer than its bound"):
        deserialize(bytes(data), limits)


def test_more_elements_than_the_bound_are_refused():
    message_class = get_message("example_interfaces/srv/AddTwoInts_Event")
    event = message_class()
    part = get_message("example_interfaces/srv/AddTwoInts_Request")()
    event._request = [part, part]
    with pytest.raises(SerializationError):
        serialize(event)
    event._request = [part]
    data = bytearray(serialize(event))
    place = bytes(data).rindex(struct.pack("<I", 1), 0, len(data) - 20)
    data[place] = 2
    with pytest.raises(DeserializationError, match="allows 1"):
        deserialize(bytes(data) + bytes(16), message_class)


def test_other_encodings_are_refused():
    for header in (b"\x00\x03\x00\x00", b"\x00\x07\x00\x00", b"\xff\xff\x00\x00", b"\x00\x01\x00", b""):
        with pytest.raises(DeserializationError, match="header"):
            deserialize(header, get_message("std_msgs/msg/String"))


def test_big_endian_peers_are_understood():
    pose = get_message("geometry_msgs/msg/PoseStamped")
    text = b"map\x00"
    body = struct.pack(">iII", 7, 9, len(text)) + text + struct.pack(">7d", 1, 2, 3, 0, 0, 0, 1)
    message = deserialize(b"\x00\x00\x00\x00" + body, pose)
    assert (message.header.stamp.sec, message.header.frame_id, message.pose.position.z) == (7, "map", 3.0)
    scan = deserialize(
        b"\x00\x00\x00\x00"
        + struct.pack(">iII", 0, 0, 1)
        + bytes(4)
        + struct.pack(">7f", *range(7))
        + struct.pack(">I2fI", 2, 1.5, 2.5, 0),
        get_message("sensor_msgs/msg/LaserScan"),
    )
    assert list(scan.ranges) == [1.5, 2.5]


def test_wide_strings_keep_characters_beyond_16_bits():
    wide = get_message("example_interfaces/msg/WString")
    assert deserialize(serialize(wide(data="aé𝄞z")), wide).data == "aé𝄞z"


def test_message_that_cannot_be_written_is_an_error():
    point = get_message("geometry_msgs/msg/Point")(check_fields=False)
    point.x = "here"
    with pytest.raises(SerializationError, match="Point cannot be serialised"):
        serialize(point)
    with pytest.raises(SerializationError):
        serialize(get_message("std_msgs/msg/String")(data="\ud800"))


def test_trailing_bytes_are_ignored():
    string = get_message("std_msgs/msg/String")
    assert deserialize(serialize(string(data="x")) + b"\x00\x00\x00", string).data == "x"
