"""A name means its class, whatever memory holds; memory decides among several; else it is asked."""

from collections.abc import Callable

import pytest
from grammar import KINDS, READER, words
from spoken_home import EMPTY, KNOWN

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.asking_back import Slot, UnclearError
from memory_node.planner.language.discourse import Discourse
from memory_node.planner.language.noun_phrase import NounPhrase
from memory_node.planner.language.phrase_meaning import PhraseMeaning
from memory_node.planner.language.surroundings import HomeClasses, nothing_recalled


def phrase(text: str) -> NounPhrase:
    found = READER.commands.phrase(words(text), 0)
    assert found is not None
    return found


def meaning(
    home: HomeClasses = EMPTY,
    discourse: Discourse | None = None,
    recall: Callable = nothing_recalled,
    described: tuple[str, ...] = (),
    similar: tuple[str, ...] = (),
    preferred: str = "",
    guesses: bool = False,
) -> PhraseMeaning:
    return PhraseMeaning(
        KINDS,
        home,
        discourse or Discourse(),
        recall,
        lambda words: described,
        lambda words: similar,
        lambda slot, among, surely: preferred,
        guesses,
    )


def means(text: str, found: PhraseMeaning, slot: Slot = Slot.TARGET) -> str:
    return found.mention(phrase(text), slot).object_class


def spoken_of(*names: str) -> Discourse:
    discourse = Discourse()
    for name in names:
        discourse.add(Goal(GoalKind.CLEAN, Mention(name, (name,))), (), False)
    return discourse


@pytest.mark.parametrize("home", [KNOWN, HomeClasses(frozenset({"Mug"})), EMPTY], ids=["known", "one", "nothing"])
def test_first_name_means_its_class_in_every_home(home: HomeClasses) -> None:
    assert means("the cup", meaning(home)) == "Cup"


def test_name_of_several_means_the_one_that_memory_holds() -> None:
    assert means("the table", meaning(HomeClasses(frozenset(), frozenset({"SideTable"})))) == "SideTable"


def test_name_of_several_means_the_one_that_was_spoken_of() -> None:
    assert means("the table", meaning(KNOWN, spoken_of("CoffeeTable", "Mug"))) == "CoffeeTable"


def test_name_of_several_is_asked_about_with_choices() -> None:
    with pytest.raises(UnclearError) as unclear:
        means("the table", meaning(KNOWN), Slot.DESTINATION)
    question = unclear.value.question
    assert set(question.choices) == {"coffee table", "dining table", "side table"}
    assert question.slot is Slot.DESTINATION


def test_preferred_one_of_several_is_taken_without_a_question() -> None:
    assert means("the table", meaning(KNOWN, preferred="SideTable")) == "SideTable"


def test_noun_that_names_nothing_is_asked_about_and_never_replaced() -> None:
    with pytest.raises(UnclearError) as unclear:
        means("the hammer", meaning(KNOWN, similar=("Knife",)))
    assert unclear.value.question.choices == ("knife",)
    assert "hammer" in unclear.value.question.text


def test_pronoun_means_what_was_spoken_of_last_and_fits() -> None:
    found = meaning(KNOWN, spoken_of("Fridge", "Mug"))
    assert found.mention(phrase("it"), Slot.TARGET).object_class == "Mug"
    closing = found.mention(phrase("it"), Slot.TARGET, lambda name: name == "Fridge")
    assert (closing.object_class, closing.referring) == ("Fridge", True)


def test_pronoun_without_an_antecedent_is_asked_about() -> None:
    with pytest.raises(UnclearError, match="it"):
        means("it", meaning(KNOWN))


def test_pronoun_means_what_the_hand_holds_where_nothing_was_spoken_of() -> None:
    holding = HomeClasses(held="Mug")
    assert means("it", meaning(holding)) == "Mug"
    with pytest.raises(UnclearError):
        means("it", meaning(holding), Slot.DESTINATION)


def test_person_is_the_label_spaces_recipient() -> None:
    assert means("me", meaning()) == "User"


def test_one_of_a_group_is_what_memory_recalls_or_holds() -> None:
    assert means("some fruit", meaning(HomeClasses(frozenset({"Tomato", "Apple", "Mug"})))) in ("Apple", "Tomato")
    recalling = meaning(HomeClasses(frozenset({"Apple", "Tomato"})), recall=lambda text, states: ("Tomato",))
    assert means("the red fruit", recalling) == "Tomato"


def test_description_is_left_to_whoever_can_read_it() -> None:
    described = meaning(KNOWN, described=("Cup",)).mention(phrase("the round thing"), Slot.TARGET)
    assert (described.object_class, described.guessed) == ("Cup", False)  # it was read where somebody can be asked
    with pytest.raises(UnclearError):
        means("the round thing", meaning(KNOWN))


def test_thing_alone_is_asked_about() -> None:
    with pytest.raises(UnclearError):
        means("something", meaning(KNOWN, described=("Cup",)))


def test_other_one_is_another() -> None:
    assert meaning(KNOWN).mention(phrase("the other mug"), Slot.TARGET).another


def test_of_two_that_a_name_means_the_preferred_one_is_taken_only_where_nobody_can_be_asked() -> None:
    home = HomeClasses(frozenset({"Knife", "ButterKnife"}))
    assert means("the knife", meaning(home, preferred="ButterKnife")) == "Knife"
    assert means("the knife", meaning(home, preferred="ButterKnife", guesses=True)) == "ButterKnife"
    assert means("the knife", meaning(home, guesses=True)) == "Knife"


@pytest.mark.parametrize("guesses", [True, False])
def test_unknown_thing_is_not_swapped_for_one_that_is_called_so_too(guesses: bool) -> None:
    home = HomeClasses(frozenset({"ButterKnife"}), frozenset({"ArmChair"}))
    knife = meaning(home, preferred="ButterKnife", guesses=guesses).mention(phrase("a knife"), Slot.TARGET)
    assert (knife.candidates, knife.stand_ins) == (("Knife",), ("ButterKnife",) if guesses else ())


@pytest.mark.parametrize(
    ("guesses", "candidates", "stand_ins"), [(True, ("ArmChair", "Chair"), ()), (False, ("Chair",), ("ArmChair",))]
)
def test_known_furniture_that_is_called_so_too_is_taken_at_once_only_where_nobody_can_be_asked(
    guesses: bool, candidates: tuple[str, ...], stand_ins: tuple[str, ...]
) -> None:
    found = meaning(HomeClasses(frozenset(), frozenset({"ArmChair"})), preferred="ArmChair", guesses=guesses)
    chair = found.mention(phrase("the chair"), Slot.DESTINATION)
    assert (chair.candidates, chair.stand_ins) == (candidates, stand_ins)


def tables(said: str, preferred: str, sure: bool, *known: str) -> Mention:
    found = PhraseMeaning(
        KINDS,
        HomeClasses(frozenset(), frozenset(known)),
        Discourse(),
        nothing_recalled,
        lambda words: (),
        lambda words: (),
        lambda slot, among, surely: preferred if preferred in among and (sure or not surely) else "",
        True,
        lambda phrase, names: [name for name in names if name == "DiningTable"] or names,
    )
    return found.mention(phrase(said), Slot.DESTINATION)


def test_generic_name_means_the_class_that_is_almost_surely_meant_though_another_is_known() -> None:
    assert tables("the table", "Desk", True, "SideTable").object_class == "Desk"
    assert tables("a black table", "Desk", True, "SideTable").object_class == "Desk"
    assert "SideTable" in tables("the table", "Desk", True, "SideTable").stand_ins


def test_generic_name_means_what_is_used_where_the_instruction_takes_place() -> None:
    assert tables("the table", "SideTable", False, "SideTable", "DiningTable").object_class == "DiningTable"
    assert tables("the table", "SideTable", False, "SideTable").object_class == "DiningTable"


def test_any_known_one_will_do_for_a_generic_name_without_more_words() -> None:
    assert tables("a table", "Desk", True, "SideTable").object_class == "SideTable"
