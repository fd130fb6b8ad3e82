"""What becomes of two like statements by the rules."""

import pytest

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.updating import judge_by_rules


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
        ("Erik walked from the shop to the station.", "Erik walked to the shop from the station.", "weak", ""),
        ("Erik bought a car.", "Erik sold a car.", "weak", ""),
        ("The heater is on.", "The heater is now off.", "conflict", "earlier"),
        ("The gate is locked.", "The gate is open.", "conflict", "earlier"),
    ],
)
def test_rules_merge_only_what_says_the_same(earlier: str, later: str, relationship: str, gone: str) -> None:
    update = judge_by_rules(told(earlier, 1), told(later, 2))
    assert update.relationship == relationship
    assert (update.deactivate_earlier, update.deactivate_later) == (gone == "earlier", gone == "later")
