"""The grammar's English knows forms, particles and prepositions, and takes a label space's verbs."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.language.english import FROM, INTO, NEAR, load_english, phrase_at

ENGLISH = load_english()
HOUSEHOLD = ENGLISH.with_treatments(load_catalogue().treatments)


@pytest.mark.parametrize(
    ("word", "participle", "base"),
    [
        ("putting", False, "put"),
        ("taking", False, "take"),
        ("brought", True, "bring"),
        ("brought", False, ""),
        ("opened", True, "open"),
        ("dropped", True, "drop"),
        ("mug", True, ""),
        ("ing", False, ""),
    ],
)
def test_base_form_of_a_verb(word: str, participle: bool, base: str) -> None:
    assert ENGLISH.base_form(word, participle) == base


@pytest.mark.parametrize(
    ("words", "sense", "length"),
    [
        ("out of the drawer", FROM, 2),
        ("off the table", FROM, 1),
        ("on top of the shelf", INTO, 3),
        ("next to the lamp", NEAR, 2),
        ("from under the bed", FROM, 2),
    ],
)
def test_longest_preposition_counts(words: str, sense: str, length: int) -> None:
    assert ENGLISH.preposition_at(words.split(), 0) == (sense, length)


def test_noun_is_no_preposition() -> None:
    assert ENGLISH.preposition_at(["drawer"], 0) is None
    assert ENGLISH.preposition_at([], 0) is None


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("pick up the mug", GoalKind.FETCH),
        ("turn off the lamp", GoalKind.SWITCH_OFF),
        ("go to the kitchen", GoalKind.GO),
        ("put down the mug", GoalKind.DROP),
        ("hold on a second", GoalKind.WAIT),
        ("put the mug", GoalKind.PLACE),
    ],
)
def test_verb_is_read_with_its_particle(words: str, kind: GoalKind) -> None:
    found = ENGLISH.verb_at(words.split(), 0)
    assert found is not None
    assert found[0].kind is kind


def test_particle_may_stand_behind_the_object() -> None:
    sense = ENGLISH.with_particle("turn", "on")
    assert sense is not None
    assert sense.kind is GoalKind.SWITCH_ON
    assert ENGLISH.with_particle("turn", "kitchen") is None


def test_treatments_of_a_label_space_are_verbs() -> None:
    assert not ENGLISH.is_verb("toast")
    found = HOUSEHOLD.verb_at(["toast", "it"], 0)
    assert found is not None
    assert (found[0].kind, found[0].treatment) == (GoalKind.HEAT, "toast")


def test_longest_phrase_is_found() -> None:
    assert phrase_at(ENGLISH.corrections, ["no", "wait", "i", "mean"], 0) == 4
    assert phrase_at(ENGLISH.corrections, ["mug"], 0) == 0


def test_every_word_that_joins_a_class_of_words_is_a_single_word() -> None:
    spaced = [word for word in ENGLISH.contractions if " " in word]
    assert spaced == []
    assert all(isinstance(word, str) for words in (ENGLISH.yes, ENGLISH.no, ENGLISH.particles) for word in words)
    assert {"yes", "off", "on"} <= ENGLISH.yes | ENGLISH.particles  # YAML reads them as true and false
