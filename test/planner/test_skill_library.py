"""The declared skills are complete, consistent, and refuse malformed calls."""

import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import ObjectReference, SkillCall
from memory_node.domain.skill_declaration import Appliance
from memory_node.domain.skill_library import SKILLS, check_call

EXPECTED = (
    "Explore GoToObject PickupObject PutObject OpenObject CloseObject ToggleOn ToggleOff SwitchOn SwitchOff "
    "SliceObject WipeObject BreakObject ThrowObject FillObject EmptyObject CleanObject HeatObject CoolObject"
)


def test_library_holds_exactly_the_agreed_skills() -> None:
    assert set(SKILLS) == set(EXPECTED.split())


@pytest.mark.parametrize("name", EXPECTED.split())
def test_facts_speak_only_of_declared_arguments(name: str) -> None:
    skill = SKILLS[name]
    known = {argument.name for argument in skill.arguments}
    facts = [rule.fact for rule in skill.preconditions] + list(skill.effects)
    assert all(argument in known for fact in facts for argument in fact.arguments)
    assert skill.effects
    assert skill.nominal_s > 0


@pytest.mark.parametrize("name", ["CleanObject", "HeatObject", "CoolObject"])
def test_composite_expands_to_valid_calls_of_the_library(name: str) -> None:
    steps = SKILLS[name].steps_at("Apple@1,2,0.9", Appliance("Microwave", opens=True, switch="Microwave"))
    assert steps[0].skill == "GoToObject"
    for step in steps:
        assert not check_call(step).composite
    assert any("Apple@1,2,0.9" in step.arguments for step in steps)


@pytest.mark.parametrize(
    ("appliance", "skills"),
    [
        (Appliance("basin", switch="tap"), "GoToObject PutObject ToggleOn ToggleOff PickupObject"),
        (
            Appliance("oven", opens=True, switch="oven"),
            "GoToObject OpenObject PutObject CloseObject ToggleOn ToggleOff OpenObject PickupObject CloseObject",
        ),
        (
            Appliance("icebox", opens=True),
            "GoToObject OpenObject PutObject CloseObject OpenObject PickupObject CloseObject",
        ),
    ],
)
def test_steps_of_a_composite_depend_on_the_appliance(appliance: Appliance, skills: str) -> None:
    steps = SKILLS["HeatObject"].steps_at("egg", appliance)
    assert [step.skill for step in steps] == skills.split()
    switched = {step.arguments for step in steps if step.skill.startswith("Toggle")}
    assert switched == ({(appliance.switch,)} if appliance.switch else set())


def test_simple_skill_has_no_steps() -> None:
    with pytest.raises(InvalidValueError, match="not made of"):
        SKILLS["PickupObject"].steps_at("egg", Appliance("oven"))


@pytest.mark.parametrize(
    "call",
    [
        SkillCall("Fly", ("Apple",)),
        SkillCall("PickupObject"),
        SkillCall("PutObject", ("Apple",)),
        SkillCall("PickupObject", ("Apple", "Bowl")),
        SkillCall("PickupObject", (" ",)),
        SkillCall("CleanObject", ("Apple", "SinkBasin", "Faucet")),
    ],
)
def test_malformed_call_is_refused(call: SkillCall) -> None:
    with pytest.raises(InvalidValueError):
        check_call(call)


def test_explore_takes_any_number_of_areas() -> None:
    assert check_call(SkillCall("Explore", ("Apple",))) is check_call(SkillCall("Explore", ("Apple", "a1", "2.0,1.5")))


def test_reference_round_trips_class_and_position() -> None:
    reference = ObjectReference.parse(str(ObjectReference.at("Apple", (1.0, -2.25, 0.9))))
    assert reference.object_class == "Apple"
    assert reference.position == (1.0, -2.25, 0.9)
    assert ObjectReference.parse("Apple").position is None


@pytest.mark.parametrize(
    "text", ["Apple@1,2", "Apple@one,two,three", "Apple@", "Apple@nan,0,0", "Apple@0,-inf,0", "Apple@0,0,1e300"]
)
def test_reference_with_broken_position_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError):
        ObjectReference.parse(text)
