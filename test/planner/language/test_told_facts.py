"""What told facts make of instructions."""

import json

import pytest

from benchmarks.knowledge_home import CHECKS, home_rows
from memory_node.catalogue.label_space import HOUSEHOLD, load_catalogue
from memory_node.cli import main
from memory_node.planner.language.told_facts import informed, words_about
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

KINDS = load_catalogue(HOUSEHOLD)
EMBEDDER = CachingEmbedder(MiniLmEmbedder(threads=1))
MUG = "The blue mug is Anna's."
NUTS = "Anna is allergic to nuts."


@pytest.mark.parametrize(
    ("instruction", "told", "text"),
    [
        ("bring Anna her mug", [MUG], "bring the blue mug"),
        ("bring Anna her mug", [MUG, "Anna works at the desk."], "put the blue mug on the desk"),
        ("take the mug to Anna", [NUTS, "Anna is in the bedroom."], "put the mug in the bedroom"),
        ("wash Anna's mug", [MUG], "wash the blue mug"),
        ("wash Anna's cup", [MUG], "wash Anna's cup"),
        ("put the books away", ["Books belong on the shelf."], "put the books on the shelf"),
        ("make Anna a snack", ["Anna likes apples.", NUTS], "bring the apple"),
        (
            "make Anna a snack",
            ["Anna likes bread.", "Anna likes apples.", "The bread has nuts.", NUTS],
            "bring the apple",
        ),
        ("bring me the zapper", ["The zapper means the remote control."], "bring me the remote control"),
        ("bring Bob his mug", [MUG], "bring Bob his mug"),
        ("go to the kitchen", [MUG, NUTS], "go to the kitchen"),
    ],
)
def test_instruction_gets_what_was_told(instruction: str, told: list[str], text: str) -> None:
    read = informed(instruction, told)
    assert (read.text, read.question) == (text, "")
    assert bool(read.used) == (text != instruction)


@pytest.mark.parametrize(
    ("instruction", "told", "said"),
    [
        ("make Anna a snack", [NUTS], "allergic to nuts"),
        ("make Anna a snack", ["Anna likes nuts.", NUTS], "allergic to nuts"),
        ("make Anna a snack", ["Anna likes apples.", "Anna likes pears."], "What shall I bring Anna?"),
        ("bring Anna the bread", ["The bread contains nuts.", NUTS], "instead"),
        ("give Anna some nuts", [NUTS], "instead"),
    ],
)
def test_what_is_open_or_forbidden_is_asked(instruction: str, told: list[str], said: str) -> None:
    assert said in informed(instruction, told).question


def test_newer_statement_comes_first_and_counts() -> None:
    assert informed("put the book away", ["The book goes on the desk.", "The book goes on the shelf."]).text == (
        "put the book on the desk"
    )


@pytest.mark.parametrize(
    ("name", "instructions", "least"),
    [
        ("told_facts", 40, 0.95),
        ("told_facts_plain", 60, 0.9),
        ("told_facts_family", 39, 0.85),
        ("told_facts_flat", 39, 0.85),
        ("told_facts_care", 38, 0.85),
        ("told_facts_visit", 37, 0.85),
        ("told_facts_inn", 41, 0.8),
        ("told_facts_club", 31, 0.8),
        ("told_facts_studio", 29, 0.7),
    ],
)
def test_instructions_need_what_was_told(name: str, instructions: int, least: float) -> None:
    pytest.importorskip("onnx")
    knowing, without = home_rows(EMBEDDER, (CHECKS / f"{name}.yaml",))
    assert knowing["instructions"] == without["instructions"] == instructions
    assert knowing["success_rate"] >= least
    assert knowing["silent"] == 0.0
    assert without["success_rate"] <= 0.45


def test_command_measures_instructions(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "benchmarks.knowledge.home_rows", lambda embedder: home_rows(embedder, (CHECKS / "told_facts_visit.yaml",))
    )
    assert main(["bench", "knowledge", "--home", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["cases"], row["knowledge"]) for row in rows] == [
        ("told_facts_visit", True),
        ("told_facts_visit", False),
    ]


@pytest.mark.parametrize(
    ("instruction", "told", "text"),
    [
        ("put the red mug away", ["The blue mug is kept in the drawer."], "put the red mug away"),
        ("put Tom's toy away", ["Nina's toys live in the box."], "put Tom's toy away"),
        ("bring Ben an apple", ["Ida likes her apples sliced.", "Ben likes apples."], "bring an apple"),
        ("wash the plate", ["Plates must be rinsed before they are put back."], "wash the plate"),
        ("put the plate in the microwave", ["The microwave is broken."], "put the plate in the microwave"),
        ("put the book next to the vase", ["Nobody may touch the vase."], "put the book next to the vase"),
        ("bring me the vase", ["The vase may be moved again.", "Nobody may touch the vase."], "bring me the vase"),
        ("bring Dad the laptop", ["Only Dad may use the laptop."], "bring the laptop"),
        ("put the bread away", ["Bread is never stored in the fridge."], "put the bread away"),
        ("put away the salt", ["We keep the salt in the cabinet."], "put the salt in the cabinet"),
        ("bring me Ben's mug", ["Ben's mug is dirty."], "bring me Ben's mug"),
    ],
)
def test_what_was_told_of_another_thing_changes_nothing(instruction: str, told: list[str], text: str) -> None:
    read = informed(instruction, told)
    assert (read.text, read.question) == (text, "")


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("Bring Finn an egg.", "Eggs make Finn sick."),
        ("Put Rex's pillow on the couch.", "Our dog Rex is not allowed on the sofa."),
        ("Bring my sister an apple.", "My sister Paula must avoid fruit."),
        ("Bring the kids a knife.", "Children are not supposed to have knives."),
        ("Light the candle.", "Our landlord does not want candles to be lit in here."),
        ("Wash the bowl.", "My lenses are in the little bowl, don't touch."),
        ("Bring Carl the soap.", "Carl is in the bath tub now and wants nothing."),
        ("Bring me the credit card.", "The credit card in the drawer is for emergencies."),
        ("Put the bread on the table.", "The neighbour's cat gets at the bread."),
    ],
)
def test_statement_that_no_rule_reads_and_may_speak_against_is_asked(instruction: str, told: str) -> None:
    assert told.rstrip(".") in informed(instruction, [told], KINDS).question


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("Bring Anna an egg.", "Eggs make Finn sick."),
        ("Put the pillow on the bed.", "Our dog Rex is not allowed on the sofa."),
        ("Bring Grandpa the newspaper.", "Grandpa has diabetes, no sweet fruit for him."),
        ("Bring me the cup.", "Guests get the good plates, never the bowls."),
        ("Bring me the glass bottle.", "Hands off the wine, it is for Saturday's party."),
        ("Bring Jan the book.", "Jan does not want to be disturbed after ten."),
    ],
)
def test_statement_about_others_asks_nothing(instruction: str, told: str) -> None:
    assert informed(instruction, [told], KINDS).question == ""


def test_statement_that_no_rule_reads_is_told() -> None:
    told = "Teddy is what keeps Lilli calm, she must have it in bed."
    assert informed("Bring Lilli the teddy bear.", [told], KINDS).unsure == (told,)
    assert informed("Bring Lilli the book.", [told], KINDS).unsure == ()


@pytest.mark.parametrize(
    ("instruction", "told", "text"),
    [
        ("Bring Uncle Bert a pillow.", "Uncle Bert stays with us and sleeps on the sofa.", "put a pillow on the sofa"),
        (
            "Put the pen away.",
            "The scissors and the pens have their home in the desk drawer.",
            "Put the pen in the desk drawer",
        ),
        ("Put the towel away.", "Towels are to be hung on the rack, never on a chair.", "Put the towel on the rack"),
        ("Bring Theo a snack.", "Theo is crazy about bread.", "bring the bread"),
        (
            "Put the bread away.",
            "Bread is never stored in the fridge but in the cabinet.",
            "Put the bread in the cabinet",
        ),
        (
            "Bring Kemal's grandma some bread.",
            "Kemal's grandmother is here and likes her bread toasted.",
            "bring the warm bread",
        ),
        ("Bring Mia her pillow.", "Mia likes her pillow warm.", "bring the pillow"),
        (
            "Put the guests' bag where it should be.",
            "The visitors' bags should be in the wardrobe.",
            "Put the guests' bag in the wardrobe",
        ),
        (
            "Bring Grandma Rosa the remote.",
            "Grandma Rosa's place is the armchair by the window.",
            "put the remote on the armchair by the window",
        ),
        (
            "Bring me the orange monster.",
            "Hugo means the basketball when he says the orange monster.",
            "Bring me the basketball.",
        ),
    ],
)
def test_everyday_words_are_read(instruction: str, told: str, text: str) -> None:
    read = informed(instruction, [told], KINDS)
    assert (read.text, read.question) == (text, "")


def test_lookup_knows_other_names() -> None:
    words = words_about("Put the kids' apple on the couch.", KINDS)
    assert {"sofa", "fruit", "child"} <= set(words.split())
