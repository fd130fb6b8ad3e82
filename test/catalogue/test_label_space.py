"""Label-space files are read, merged with their base and checked; every mistake is named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.domain.skill_library import GoalKind

ReadSpace = Callable[[str], ObjectCatalogue]


@pytest.fixture
def read_space(tmp_path: Path) -> ReadSpace:
    def read(text: str) -> ObjectCatalogue:
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return load_catalogue(str(path))

    return read


def test_small_space_says_what_can_be_done(read_space: ReadSpace) -> None:
    catalogue = read_space("""
name: workshop
classes:
  Vise: {gloss: a tool that holds things, holds: in, is: [fixed]}
  Drill: {names: [drill, power drill], is: [pickupable], switch: appliance}
""")
    assert catalogue["vise"].holds_inside
    assert catalogue["Vise"].can(Property.FIXED)
    assert catalogue["Drill"].can(Property.TOGGLEABLE)
    assert catalogue.spoken_names.classes("big power drill") == ("Drill",)


def test_space_on_a_base_keeps_its_classes_and_adds_some(read_space: ReadSpace) -> None:
    catalogue = read_space("""
name: mine
base: household
classes:
  TravelMug: {same_as: Mug, names: [travel mug, thermos]}
  Mug: {names: [mug, my mug]}
""")
    assert "Fridge" in catalogue
    assert catalogue["TravelMug"].can(Property.FILLABLE)
    assert catalogue.spoken_names.classes("thermos") == ("TravelMug",)
    assert catalogue["Mug"].names == ("mug", "my mug")
    assert "TravelMug" in (catalogue.group("crockery") or ())


def test_detectors_space_knows_its_classes_only(read_space: ReadSpace) -> None:
    catalogue = read_space("""
name: detector
base: household
keeps: listed
classes:
  icebox: {same_as: Fridge}
  oven: {same_as: Microwave}
  tomato: {same_as: Tomato}
""")
    assert catalogue.names == ("icebox", "oven", "tomato")
    cooling = catalogue.usual_treatment(GoalKind.COOL)
    assert cooling.at == ("icebox",)
    assert catalogue.hiding_places("tomato") == ("icebox", "oven")
    assert not catalogue["tomato"].slices, "there is no class for the pieces"
    toasting = catalogue.treatment("toast")
    assert not toasting.at, "without a toaster bread is heated as all else is"


def test_base_by_path_lies_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text("name: ours\nclasses: {Robot: {gloss: a robot}}\n")
    (tmp_path / "mine.yaml").write_text("name: mine\nbase: ours.yaml\n")
    assert load_catalogue(str(tmp_path / "mine.yaml")).names == ("Robot",)


def test_bases_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("name: one\nbase: two.yaml\n")
    (tmp_path / "two.yaml").write_text("name: two\nbase: one.yaml\n")
    with pytest.raises(InvalidValueError, match="circle"):
        load_catalogue(str(tmp_path / "one.yaml"))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("Apple: {slices: {into: Core}}", "classes.Apple: 'Core' is no class"),
        ("Apple: {slices: {into: Apple}}", "pieces need a class of their own"),
        ("Apple: {weight: 2}", "classes.Apple.weight"),
        ("Apple: {is: [tasty]}", "classes.Apple.is.0"),
        ("Apple: {size_m: [0.1, 0.1]}", "classes.Apple.size_m"),
        ("Apple: {size_m: [0.1, 0.1, -0.1]}", "classes.Apple.size_m.2"),
        ("Apple: {is: [fixed, pickupable]}", "fixed or pickupable"),
        ("Apple: {levels: [0.5]}", "classes.Apple.levels"),
        ("Apple: {same_as: Apfel}", "same_as"),
        ("Apple: {}\n  apple: {}", "two spellings"),
        ("Apple: {}\n  Apple: {}", "stands twice"),
    ],
)
def test_mistake_in_a_class_is_named(read_space: ReadSpace, entry: str, told: str) -> None:
    base = "base: household\nkeeps: listed\n" if "same_as" in entry else ""
    with pytest.raises(InvalidValueError, match=told):
        read_space(f"name: mine\n{base}classes:\n  {entry}\n")


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("treatments: {warm: {skill: WarmObject}}", "treatments.warm.skill"),
        ("treatments: {warm: {skill: HeatObject, at: [Box]}}", "Box does not"),
        ("treatments: {warm: {skill: HeatObject, states: [cold]}}", "states"),
        ("treatments: {cut: {skill: SliceObject, tools: [Box]}}", "needs what cuts; Box does not"),
        ("hiding_places: {secret: {Box: 0.5}}", "hiding_places.secret"),
        ("roles: {bins: [Bin]}", "roles: 'Bin'"),
        ("colours: {}", "colours"),
    ],
)
def test_mistake_in_a_section_is_named(read_space: ReadSpace, section: str, told: str) -> None:
    with pytest.raises(InvalidValueError, match=told):
        read_space(f"name: mine\nclasses: {{Box: {{holds: in}}}}\n{section}\n")


def test_missing_label_space_is_told_with_the_shipped_ones() -> None:
    with pytest.raises(ResourceMissingError, match="household"):
        load_catalogue("housold")
    with pytest.raises(ResourceMissingError, match="no such file"):
        load_catalogue("/nowhere/space.yaml")


def test_file_that_is_no_yaml_is_refused(read_space: ReadSpace) -> None:
    with pytest.raises(InvalidValueError):
        read_space("name: [")
    with pytest.raises(InvalidValueError):
        read_space("just words")
