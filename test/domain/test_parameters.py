"""Parameters are declared once, checked at construction and refused by name; their files are read without ROS."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import Field, ValidationError, model_validator

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.parameter_file import parameter_text, read_parameters, yaml_value
from memory_node.domain.parameters import Expert, InvalidParametersError, Parameters, Profile, parameter_fields
from memory_node.domain.resources import read_yaml
from memory_node.nodes.node_parameters import NODE_PARAMETERS, MemoryParameters

_Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Lamp(Parameters):
    brightness: float = Field(default=0.5, ge=0.0, le=1.0, description="share of the greatest")
    dimmed: float = Field(default=0.1, ge=0.0, le=1.0, description="share when it is late")
    colour: Literal["warm", "cold"] = Field(default="warm", description="of the light")

    @model_validator(mode="after")
    def _check_order(self) -> Lamp:
        if self.dimmed > self.brightness:
            raise ValueError("expected dimmed <= brightness")
        return self


class House(Parameters):
    name: str = Field(default="home", description="what it is called")
    floors: int = Field(default=1, ge=1, le=200, description="how many it has")
    open: bool = Field(default=False, description="whether its door is")
    corner: tuple[_Share, _Share] = Field(default=(0.0, 1.0), strict=False, description="of the garden")
    rooms: frozenset[Literal["hall", "bath"]] = Field(
        default=frozenset({"hall"}), strict=False, description="those that are heated"
    )
    lamp: Lamp = Lamp()


def refusal(**values: object) -> str:
    with pytest.raises(InvalidParametersError) as caught:
        House.of(values)
    return str(caught.value)


def test_values_come_by_dotted_names_or_nested_and_the_rest_keeps_its_default() -> None:
    house = House.of({"floors": 3, "lamp.brightness": 1, "lamp": {"colour": "cold"}})
    assert (house.floors, house.lamp.brightness, house.lamp.dimmed, house.lamp.colour) == (3, 1.0, 0.1, "cold")
    assert isinstance(house.lamp.brightness, float)
    assert House.of({"lamp": {}}) == House()


def test_lists_become_what_the_field_holds_and_are_told_as_lists() -> None:
    house = House.of({"corner": [0.25, 1], "rooms": ["hall", "bath"]})
    assert (house.corner, house.rooms) == ((0.25, 1.0), frozenset({"hall", "bath"}))
    assert (house.values()["corner"], house.values()["rooms"]) == ([0.25, 1.0], ["bath", "hall"])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("floors", 0, "floors: expected a whole number from 1 to 200, got 0"),
        ("floors", 2.0, "floors: expected a whole number from 1 to 200, got 2.0"),
        ("floors", True, "floors: expected a whole number from 1 to 200, got True"),
        ("name", 5, "name: expected text, got 5"),
        ("open", "yes", "open: expected true or false, got 'yes'"),
        ("lamp.brightness", "bright", "lamp.brightness: expected a number from 0 to 1, got 'bright'"),
        ("lamp.brightness", float("nan"), "lamp.brightness: expected a number from 0 to 1, got nan"),
        ("lamp.colour", "blue", "lamp.colour: expected one of warm, cold, got 'blue'"),
        ("corner", [0.5], "corner: expected a list of 2 numbers from 0 to 1, got [0.5]"),
        ("corner", [0.5, 2.0], "corner: expected a list of 2 numbers from 0 to 1, got [0.5, 2.0]"),
        ("rooms", ["attic"], "rooms: expected some of hall, bath, got ['attic']"),
        ("lamp.dimmed", 0.9, "lamp: expected dimmed <= brightness"),
        ("name", None, "name: expected text, got None"),
        ("name", 10**100, f"name: expected text, got 1{76 * '0'}..."),
    ],
)
def test_value_that_does_not_fit_is_refused_with_what_was_expected(name: str, value: object, said: str) -> None:
    assert refusal(**{name: value}) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flors", "did you mean floors?"),
        ("lamp.britness", "did you mean lamp.brightness?"),
        ("brightness", "did you mean lamp.brightness?"),
        ("settings.lamp.color", "did you mean lamp.colour?"),
        ("lamp", "a section, not a parameter"),
        ("zzz", "none of a similar name"),
        ("lamp.hue", "none of a similar name"),
    ],
)
def test_misspelled_name_is_refused_with_the_nearest_one(name: str, said: str) -> None:
    assert refusal(**{name: 1}).startswith(f"{name}: ")
    assert said in refusal(**{name: 1})


def test_all_that_is_wrong_is_told_at_once() -> None:
    text = refusal(flors=1, floors=0, lamp={"colour": "blue", "brightness": 2})
    assert all(name in text for name in ("flors", "floors:", "lamp.colour", "lamp.brightness"))


def test_construction_is_checked_like_a_file() -> None:
    with pytest.raises(InvalidValueError, match="floors: expected a whole number from 1 to 200, got 300"):
        House(floors=300)
    with pytest.raises(InvalidValueError, match="did you mean floors"):
        House(flors=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidValueError, match="lamp: expected Lamp, got 5"):
        House(lamp=5)  # type: ignore[arg-type]


def test_changing_one_value_checks_it_and_leaves_the_original() -> None:
    house = House(floors=2)
    assert house.changed(name="hut").values() == {**house.values(), "name": "hut"}
    assert house.name == "home"
    with pytest.raises(InvalidValueError, match="floors"):
        house.changed(floors=0)
    with pytest.raises(ValidationError, match="frozen"):
        house.floors = 5  # type: ignore[misc]


def test_declaration_tells_type_range_choices_and_length() -> None:
    fields = {field.name: field for field in parameter_fields(House)}
    assert list(fields) == [
        "name", "floors", "open", "corner", "rooms", "lamp.brightness", "lamp.dimmed", "lamp.colour",
    ]  # fmt: skip
    assert (fields["floors"].kind, fields["floors"].low, fields["floors"].high) == (int, 1, 200)
    assert (fields["corner"].kind, fields["corner"].is_list, fields["corner"].length) == (float, True, 2)
    assert fields["lamp.colour"].choices == ("warm", "cold")
    assert fields["rooms"].default == ["hall"]
    assert {field.expected for field in fields.values()} == {
        "text", "a whole number from 1 to 200", "true or false", "a list of 2 numbers from 0 to 1",
        "some of hall, bath", "a number from 0 to 1", "one of warm, cold",
    }  # fmt: skip


def test_type_that_ros_has_not_is_no_parameter() -> None:
    class Wrong(Parameters):
        when: complex = Field(default=1j, description="no ROS parameter")

    with pytest.raises(TypeError, match="when: expected a parameter of bool"):
        list(parameter_fields(Wrong))


class Motor(Parameters):
    maker: str = Field(default="ours", description="who made it")
    volts: int = Field(default=12, ge=1, le=48, description="its voltage")
    gain: Expert[float] = Field(default=0.5, ge=0.0, le=1.0, description="of its controller")
    poles: ClassVar[int] = 8


class Gate(Parameters):
    motor: Annotated[Motor, Profile("motor.gate", frozenset({"maker", "gain"}))] = Motor()


class Works(Parameters):
    motor: Motor = Motor()
    gate: Gate = Gate()
    test_bench: Expert[Lamp] = Lamp()


def test_profile_takes_what_it_shares_from_its_block_and_keeps_the_rest() -> None:
    works = Works.of({"motor": {"maker": "A", "volts": 24}, "expert.motor.gain": 0.2, "motor.gate": {"volts": 6}})
    assert (works.motor.maker, works.motor.volts, works.motor.gain) == ("A", 24, 0.2)
    assert (works.gate.motor.maker, works.gate.motor.volts, works.gate.motor.gain) == ("A", 6, 0.2)
    own = Works.of({"motor.maker": "A", "motor.gate.maker": "B", "expert.motor.gate.gain": 0.9})
    assert (own.motor.maker, own.gate.motor.maker, own.gate.motor.gain) == ("A", "B", 0.9)


def test_wrong_value_that_a_profile_shares_is_told_once() -> None:
    with pytest.raises(InvalidParametersError) as caught:
        Works.of({"motor.maker": 5})
    assert caught.value.problems == (("motor.maker", "expected text, got 5"),)


def test_parameters_of_experts_have_names_of_their_own() -> None:
    names = {field.name for field in parameter_fields(Works) if field.expert}
    assert {"expert.motor.gain", "expert.test_bench.brightness", "expert.motor.gate.gain"} <= names
    assert Works.of({"expert": {"test_bench": {"brightness": 0.9}}}).test_bench.brightness == 0.9
    assert Works.of(Works().values()) == Works()


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("motor.gain", "is called expert.motor.gain"),
        ("gate.motor.volts", "is called motor.gate.volts"),
        ("gate.motor.gain", "is called expert.motor.gate.gain"),
        ("test_bench.brightness", "is called expert.test_bench.brightness"),
        ("motor.poles", f"no parameter, but a constant of the algorithm, 8 in {__name__}"),
    ],
)
def test_old_name_is_refused_with_its_new_place(old: str, said: str) -> None:
    with pytest.raises(InvalidParametersError, match=re.escape(f"{old}: {said}")):
        Works.of({old: 1})


def read(tmp_path: Path, text: str, node: str = "memory") -> MemoryParameters:
    path = tmp_path / "parameters.yaml"
    path.write_text(text)
    return read_parameters(MemoryParameters, path, node)


@pytest.mark.parametrize("block", ["/**", "/**/memory", "memory", "/memory", "/robot1/memory", "/*/memory", "/*"])
def test_block_that_names_the_node_is_read(block: str, tmp_path: Path) -> None:
    config = read(
        tmp_path, f"{block}: {{ros__parameters: {{short_term: {{capacity: 5}}, expert.search.abstain_below: 1e-1}}}}"
    )
    assert (config.short_term.capacity, config.search.abstain_below) == (5, 0.1)


def test_namespaces_may_be_nested_and_other_nodes_are_left_alone(tmp_path: Path) -> None:
    nested = "robot1: {memory: {ros__parameters: {site: ward}}, planner: {ros__parameters: {attempts: 3}}}"
    assert read(tmp_path, nested).site == "ward"
    for other in ("/planner: {ros__parameters: {anything: 1}}", "# nothing yet"):
        assert read(tmp_path, other) == MemoryParameters()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("memory: {ros__parameters: {dettections: boxes}}", "dettections: no such parameter; did you mean detections"),
        ("memory: {ros__parameters: {publish_period_s: many}}", "publish_period_s: expected a number from 0.1 to 60"),
        ("memory: {ros__parameters: {publish_period_s: 0}}", "from 0.1 to 60, got 0"),
        (
            "memory: {ros__parameters: {scene_graph: {robot_radius_m: }}}",
            "scene_graph.robot_radius_m: expected a number",
        ),
        ("memory: {publish_period_s: 5}", "expected `NODE: ros__parameters: ...` at /memory/publish_period_s, got 5"),
        ("memory: {ros__parameters: 5}", "expected parameters with values, got 5"),
        ("just words", "expected `NODE: ros__parameters: ...` at its top"),
        ("memory: {ros__parameters: {a: [}", "is no YAML"),
    ],
)
def test_file_that_does_not_fit_is_refused_in_one_line_with_its_name(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert str(tmp_path / "parameters.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"none\.yaml: No such file"):
        read_parameters(MemoryParameters, tmp_path / "none.yaml", "memory")


@pytest.mark.parametrize("node", NODE_PARAMETERS)
def test_written_file_reads_back_as_the_defaults(node: str, tmp_path: Path) -> None:
    kind, path = NODE_PARAMETERS[node], tmp_path / "written.yaml"
    path.write_text(parameter_text(kind, node))
    assert read_parameters(kind, path, node) == kind()
    assert len(read_yaml(path)[f"/**/{node}"]["ros__parameters"]) > 0


@pytest.mark.parametrize(
    "value", ["", "on", "no", "home", "5", "1e3", "a b", "x: y", "ä", True, 3, 0.001, 1e-7, ["a", "b c"], [1.0, 2.5]]
)
def test_value_is_written_as_it_is_read(value: object, tmp_path: Path) -> None:
    path = tmp_path / "value.yaml"
    path.write_text(f"key: {yaml_value(value)}\n")
    assert read_yaml(path) == {"key": value}
