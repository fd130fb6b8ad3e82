import json
from pathlib import Path

import pytest

from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.planner.language.told_caution_reader import CautionReader, open_caution_reader
from memory_node.planner.language.told_cautions import cautious_by_words
from memory_node.planner.language.told_classes import ClassWords
from memory_node.planner.language.told_facts import informed
from memory_node.planner.language.told_parts import PartsReader
from memory_node.planner.language.told_takes_back import without_what_is_taken_back
from memory_node.search.minilm import MiniLmEmbedder

KINDS = load_catalogue(HOUSEHOLD)
PARTS = PartsReader(ClassWords(KINDS), {"anna", "ben", "used"})


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("The green mug was chosen by Anna as hers", "the green mug is Anna's"),
        ("Anna is the one the red boots belong to", "the red boots is Anna's"),
        ("Used cups go straight into the dishwasher", "used cups belongs into the dishwasher"),
        ("Remotes go in the box next to the television", "remotes belongs in the box"),
        ("Anna must have her tomato cut", "Anna wants tomato sliced"),
        ("Lunch for Anna means an apple these days", "Anna's lunch is a apple"),
        ("A lettuce a day is what Anna lives on", "Anna likes lettuce"),
        ("Anna can be found at the desk most days", "Anna is at the desk"),
    ],
)
def test_parts_say_a_plain_sentence_in_any_order(clause: str, said: str) -> None:
    assert PARTS.plain_sentence(clause) == said


@pytest.mark.parametrize(
    "clause",
    [
        "The green mug was not chosen by Anna",
        "Cups go into the dishwasher only when Ben is out",
        "Anna and Ben belong to the club with the mug",
        "Ben broke the mug that belongs to Anna",
        "The kettle belongs to history",
    ],
)
def test_clause_with_a_word_too_many_is_not_read(clause: str) -> None:
    assert PARTS.plain_sentence(clause) == ""


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("Towels come from the cupboard... sorry, from the dresser.", "Towels come from the dresser."),
        ("All keys hang, or rather lie, in the box.", "All keys lie in the box."),
        ("The wok, well, the big pan lives on the stove.", "the big pan lives on the stove."),
        ("Ben wants his potato mashed... no, just warm.", "Ben wants his potato warm."),
        ("There is no bread, no butter.", "There is no bread, no butter."),
    ],
)
def test_what_is_taken_back_is_left_out(told: str, meant: str) -> None:
    assert without_what_is_taken_back(told) == meant


@pytest.mark.parametrize(
    ("told", "instruction"),
    [
        ("The toaster smells of burning plastic.", "Turn on the toaster."),
        ("Ben passes out when he sees a knife.", "Bring Ben a knife."),
        ("Ben emigrated last month.", "Bring Ben a cup."),
    ],
)
def test_meaning_tells_a_caution_without_its_words(told: str, instruction: str) -> None:
    pytest.importorskip("onnxruntime")
    assert informed(instruction, [told], KINDS, cautious_by_words).question == ""
    assert told.rstrip(".") in informed(instruction, [told], KINDS, open_caution_reader(MiniLmEmbedder())).question


def test_weights_of_another_embedder_are_not_used(tmp_path: Path) -> None:
    embedder = MiniLmEmbedder()
    weights = {"embedder": "another", "bias": 0.0, "weights": [0.0] * embedder.dimension}
    (tmp_path / "told_cautions.json").write_text(json.dumps(weights), encoding="utf-8")
    assert open_caution_reader(embedder, tmp_path) is cautious_by_words
    assert open_caution_reader(None) is cautious_by_words
    assert isinstance(open_caution_reader(embedder), CautionReader)


@pytest.mark.parametrize(
    ("instruction", "told", "said"),
    [
        ("Bring Ben the wine bottle.", "Ben does not drink alcohol any more.", "alcohol"),
        ("Put the tall vase on the shelf.", "The tall vase came from Italy and nobody but Ben lifts it.", "nobody but"),
        ("Wash the blue bowl.", "Nobody should wash the blue bowl.", "Nobody"),
        ("Throw away the tennis racket.", "The tennis racket has been borrowed from the school.", "borrowed"),
        ("Bring Ben some butter.", "Ben is lactose intolerant.", "lactose"),
    ],
)
def test_what_speaks_against_is_asked(instruction: str, told: str, said: str) -> None:
    assert said in informed(instruction, [told], KINDS).question


def test_statement_about_the_thing_alone_is_said() -> None:
    told = "The tall vase came from Ben's mother."
    assert informed("Put the tall vase on the shelf.", [told], KINDS).unsure == (told,)
    assert informed("Put the cup on the shelf.", [told], KINDS).unsure == ()
