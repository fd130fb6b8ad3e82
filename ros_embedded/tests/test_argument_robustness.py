"""Command lines and parameter files of any content are read or refused; nothing else comes of them."""

import contextlib
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.impl.arguments import parse_arguments
from ros_embedded.rclpy.impl.parameter_table import ParameterTable

PIECES = [
    "ros__parameters",
    "/**",
    "---",
    "<<",
    "!!str",
    "0x",
    "inf",
    ":=",
    "é",
    "\x00",
    "\n",
    "  ",
    *"ab1_/:~*{}[]&'\"-.,#|>?%",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_any_word_is_read_or_refused(text: str) -> None:
    for flag in ("-r", "-p", "--log-level", "-e"):
        with contextlib.suppress(RCLError):
            parse_arguments([text, "--ros-args", flag, text])
    with contextlib.suppress(RCLError):
        ParameterTable().read_rule("/**", "x", text)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_any_file_is_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(text)
    table = ParameterTable()
    with contextlib.suppress(RCLError):
        table.read_file(str(path))
        assert all(isinstance(name, str) for name in table.values_of("/a/b"))


def test_deep_nesting_is_refused() -> None:
    for text in ("[" * 20_000, "{a: " * 20_000):
        with contextlib.suppress(RCLError):
            ParameterTable().read_rule("/**", "x", text)
            raise AssertionError("it was read")
