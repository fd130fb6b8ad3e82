"""What becomes of two like statements by the rules."""

import pytest

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.text import MOST_CONCEPTS, concepts_of
from memory_node.knowledge.updating import judge_by_rules, updated


def told(text: str, stamp_ns: int) -> Proposition:
    return Proposition(text, frozenset(), (f"told-{stamp_ns}:0",), stamp_ns)


@pytest.mark.parametrize(
    ("earlier", "later", "relationship", "gone"),
    [
        ("The keys are in the drawer.", "Keys are in the drawer of the desk.", "same", "earlier"),
        ("Ben is allergic to nuts and milk.", "Ben is allergic to nuts.", "same", "later"),
        ("Take the pills before the meal.", "Take the pills after the meal.", "weak", ""),
        ("Take the pills after the meal with water.", "Take the pills before the meal.", "weak", ""),
        ("Anna gave Ben a book.", "Ben gave Anna a book.", "weak", ""),
        ("Ben likes tea.", "Ben's sister likes tea.", "weak", ""),
        ("Ben likes tea.", "Ben likes tea cups.", "weak", ""),
        ("Ben likes Anna.", "Ben likes Anna's cake.", "weak", ""),
        ("Ben likes tea.", "Ben likes tea or coffee.", "weak", ""),
        ("The keys are in the drawer.", "Ben thinks that the keys are in the drawer.", "weak", ""),
        ("The keys are in the drawer.", "The keys are in the drawer if Anna is out.", "weak", ""),
        ("The museum is closed.", "The museum is closed on Mondays.", "weak", ""),
        ("The museum was closed.", "The museum was closed on Mondays.", "weak", ""),
        ("Ben does not eat fish.", "Ben does not eat fish on holidays.", "weak", ""),
        ("Anna was born in Bonn.", "Anna was born in Bonn in 1930.", "same", "earlier"),
        ("Anna was born in Bonn in 1930.", "In 1930, Anna was born in Bonn.", "same", "earlier"),
        ("Anna was born in 1930 in Bonn.", "Anna was born in Bonn.", "same", "later"),
        ("Anna was born in Bonn in 1930.", "Anna was born in Bonn in 1931.", "weak", ""),
        ("Anna was married in 1930 and died in 1950.", "Anna was married in 1950 and died in 1930.", "weak", ""),
        ("Anna lives in Bonn in 2020.", "Anna lives in Bonn.", "weak", ""),
        ("The mother of the friend of Anna left.", "The mother of Anna left.", "weak", ""),
        ("Erik drove to the house by the lake.", "Erik drove by the lake.", "weak", ""),
        ("Erik walked from the shop to the station.", "Erik walked to the shop from the station.", "weak", ""),
        ("Erik bought a car.", "Erik sold a car.", "weak", ""),
        ("The heater is on.", "The heater is now off.", "weak", ""),
        ("Ben loves olives.", "Ben does not love olives.", "weak", ""),
    ],
)
def test_rules_merge_only_what_says_the_same(earlier: str, later: str, relationship: str, gone: str) -> None:
    update = judge_by_rules(told(earlier, 1), told(later, 2))
    assert update.relationship == relationship
    assert (update.deactivate_earlier, update.deactivate_later) == (gone == "earlier", gone == "later")


def read(statement: str, source: str = "book:0", subject: str = "Laie") -> Proposition:
    text = f"{subject}: {statement}" if subject else statement
    return Proposition(text, concepts_of(subject, statement), (source,), 1, subject=subject)


TOWN = "Laie is a town on the north shore of Oahu in Hawaii."
CENTER = "The Polynesian Cultural Center on Oahu is the largest museum in Hawaii."


def test_two_statements_of_one_source_on_one_topic_are_joined() -> None:
    update = judge_by_rules(read(TOWN), read(CENTER))
    assert (update.relationship, update.deactivate_earlier, update.deactivate_later) == ("topic", True, True)
    first, second, joined = updated(read(TOWN), read(CENTER), update)
    assert not first.active
    assert not second.active
    assert first.replaced_by == second.replaced_by == joined.text
    assert joined.text == f"Laie: {TOWN} {CENTER}"
    assert joined.sources == ("book:0",)
    assert len(joined.concepts) <= MOST_CONCEPTS
    assert {"laie", "oahu", "hawaii"} <= joined.concepts


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (read(TOWN), read(CENTER, "book:1")),
        (read(TOWN, subject=""), read(CENTER, subject="")),
        (read(TOWN), read(f"However, {CENTER}")),
        (read(TOWN), read("Cups are round.")),
        (read(f"{TOWN} {TOWN} {TOWN}"), read(f"{CENTER} {CENTER}")),
    ],
    ids=["other step", "no subject", "leans on what stood before", "other topic", "too long together"],
)
def test_statements_that_would_not_read_well_together_stay(first: Proposition, second: Proposition) -> None:
    assert judge_by_rules(first, second).relationship == "weak"
