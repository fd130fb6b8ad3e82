from memory_node.context.episode_guidance import ThingNames
from memory_node.domain.skill import SkillCall


def test_things_of_one_class_are_numbered_and_keep_their_names() -> None:
    names = ThingNames()
    assert names.name("Mug@1,1,1", {}) == "Mug"
    assert names.name("Mug@2,2,1", {}) == "Mug 2"
    assert names.name("Mug@1,1,1", {}) == "Mug"
    assert names.name("Mug@2.05,2,1", {}) == "Mug 2"


def test_robots_own_id_means_the_thing_that_was_found_by_it() -> None:
    names = ThingNames()
    names.name("Mug@1,1,1", {})
    names.identify("Mug@1,1,1", "Mug|0001")
    assert names.name("Mug|0001", {}) == "Mug"
    assert names.referred(SkillCall("PickupObject", ("Mug",))) == SkillCall("PickupObject", ("Mug|0001",))
    assert names.remembered("Mug") == "Mug@1,1,1"


def test_bare_class_means_the_thing_named_last() -> None:
    names = ThingNames()
    assert names.name("Mug", {}) == "Mug"
    names.name("Mug@2,2,1", {})
    assert names.name("Mug", {}) == "Mug"
    assert names.name("Cup@1,1,1", {}) == names.name("Cup", {}) == "Cup"


def test_names_of_an_executor_are_kept_where_they_are_free() -> None:
    names = ThingNames()
    names.call("Mug@2,2,1", "Mug 2", "Mug")
    names.call("Mug@1,1,1", "Mug", "Mug")
    names.call("Cup@1,1,1", "Mug", "Cup")
    assert (names.name("Mug@2,2,1", {}), names.name("Mug@1,1,1", {})) == ("Mug 2", "Mug")
    assert names.name("Cup@1,1,1", {}) == "Cup"
    assert names.classes == {"Mug 2": "Mug", "Mug": "Mug", "Cup": "Cup"}


def test_places_of_an_exploration_are_not_things() -> None:
    names = ThingNames()
    assert names.named(SkillCall("Explore", ("Mug", "1.0,2.0")), {}) == SkillCall("Explore", ("Mug",))
    assert names.named(SkillCall("GoToObject", ("1.0,2.0",)), {}) == SkillCall("GoToObject", ("1.0,2.0",))
    assert names.classes == {}
