"""Singular and plural of the nouns that a home is spoken of with."""

import pytest

from memory_node.domain.names import plural, singular

PAIRS = """
    apple apples|potato potatoes|tomato tomatoes|knife knives|butterknife butterknives|loaf loaves|shelf shelves
    |bookshelf bookshelves|leaf leaves|half halves|scarf scarves|box boxes|dish dishes|brush brushes|watch watches
    |couch couches|glass glasses|dress dresses|bus buses|lens lenses|cherry cherries|battery batteries
    |pantry pantries|key keys|tray trays|candle candles|plate plates|vase vases|case cases|house houses|rose roses
    |slice slices|shoe shoes|toe toes|tie ties|pie pies|cookie cookies|brownie brownies|movie movies|olive olives
    |glove gloves|stove stoves|sieve sieves|mouse mice|foot feet|tooth teeth|child children|person people|man men
    |woman women|photo photos|radio radios|taxi taxis|kiwi kiwis|quiz quizzes|headache headaches|life lives|roof roofs
"""
SINGULARS = (
    "bus glass mattress compass canvas gas lens iris cactus asparagus hummus citrus chess brass basis bias this his"
)


@pytest.mark.parametrize("pair", [pair.split() for pair in PAIRS.replace("\n", " ").split("|")], ids=" ".join)
def test_singular_and_plural_of_a_noun_lead_to_each_other(pair: list[str]) -> None:
    one, many = pair
    assert (singular(many), plural(one)) == (one, many)
    assert (singular(one), plural(many)) == (one, many)


@pytest.mark.parametrize("word", SINGULARS.split())
def test_singular_that_ends_in_s_stays(word: str) -> None:
    assert singular(word) == word


def test_phrase_is_made_plural_by_its_last_word() -> None:
    assert plural("butter knife") == "butter knives"
