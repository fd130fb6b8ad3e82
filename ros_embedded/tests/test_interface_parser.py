"""Reading .msg, .srv and .action text."""

import pytest

from ros_embedded.interfaces.definitions import FieldType
from ros_embedded.interfaces.parser import InterfaceSyntaxError, MessageDefinition, parse_message, sections

TEXT = """
# a comment above
# of two lines
int32 LIMIT=-5          # trailing
string NAME=plain # text
string QUOTED="with 'quotes'" # and more
string CUT="a # is no exception
int32 TEN=010
float64 PI=3.14
bool ON=true
byte FLAG=0x1f
uint8 MASK=0xff

Point place             # where
geometry_msgs/Pose[] poses
string<=10[<=3] words ["a", "b"]
string[] quotes ["say \\"hi\\", it's", 'it\\'s "1"' , plain text,"'",]
float32[2] pair [1, 2.5]
int8 small -7
string greeting "hel\\"lo"
wstring wide
char letter 65
bool[] flags [true, false]
"""


@pytest.fixture(scope="module")
def message() -> MessageDefinition:
    return parse_message("toy_msgs/msg/Toy", TEXT)


def test_constants_have_values_of_their_types(message):
    assert {constant.name: constant.value for constant in message.constants} == {
        "LIMIT": -5,
        "NAME": "plain",
        "QUOTED": "with 'quotes'",
        "CUT": '"a',
        "TEN": 10,
        "PI": 3.14,
        "ON": True,
        "FLAG": b"\x1f",
        "MASK": 255,
    }


def test_fields_have_types_and_defaults(message):
    assert {field.name: (field.type, field.default) for field in message.fields} == {
        "place": (FieldType("toy_msgs/msg/Point"), None),
        "poses": (FieldType("geometry_msgs/msg/Pose", array="unbounded"), None),
        "words": (FieldType("string", string_bound=10, array="bounded", size=3), ["a", "b"]),
        "quotes": (FieldType("string", array="unbounded"), ['say "hi", it\'s', 'it\'s "1"', "plain text", ""]),
        "pair": (FieldType("float32", array="fixed", size=2), [1.0, 2.5]),
        "small": (FieldType("int8"), -7),
        "greeting": (FieldType("string"), 'hel"lo'),
        "wide": (FieldType("wstring"), None),
        "letter": (FieldType("uint8"), 65),
        "flags": (FieldType("bool", array="unbounded"), [True, False]),
    }


@pytest.mark.parametrize(
    "text",
    [
        "int32",
        "int32 1x",
        "int8 x 200",
        "uint8 X=-1",
        "bool x maybe",
        "float64[ x",
        "int32<=4 x",
        "Point p 3",
        "int32 a\nint32 a",
        "int32[] x [1, ",
        "int32 x=y",
        "int32 camelCase",
        "int32 trailing_",
        "int32 double__underscore",
        "int32 lower=1",
        " int32 indented",
        "int32[0] none",
        "string<=0 none",
        "float32[] LIST=[1.0]",
        "string<=3 SHORT=abc",
        "string<=3 long abcd",
        'string s "a"b"',
        "string s 'a=b'",
        "string[] open ['a]",
        "int32[2] pair [1]",
        "int32[<=2] pair [1, 2, 3]",
        "int32[] blank [1,]",
        "byte x 256",
        "geometry_msgs/msg/Point p",
        "geometry__msgs/Point p",
        "geometry_msgs/point p",
        "int32 X=1\nint32 X=2",
    ],
)
def test_malformed_line_is_named(text):
    with pytest.raises(InterfaceSyntaxError, match="toy_msgs/msg/Toy"):
        parse_message("toy_msgs/msg/Toy", text)


def test_parts_of_services_and_actions():
    assert sections("toy_msgs/srv/Add", "int32 a\n--- \nint32 sum\n", 2) == ["int32 a\n", "\nint32 sum\n"]
    assert [part.strip() for part in sections("toy_msgs/action/Go", "int32 goal\n---\n---\nint8 near", 3)][1:] == [
        "",
        "int8 near",
    ]
    with pytest.raises(InterfaceSyntaxError, match="expected 2 parts"):
        sections("toy_msgs/srv/Add", "int32 a\n", 2)
