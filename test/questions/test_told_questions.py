"""Questions about what people told are answered from the facts, by entity and class."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from knowledge_doubles import BagOfWords
from told_home import home, thing

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import StateChange
from memory_node.domain.step import Deed
from memory_node.knowledge.standard_step import document_steps
from memory_node.knowledge.told.binding import BindingFacts
from memory_node.knowledge.told.forms import TellingReader
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.questions.present import PresentQuestions
from memory_node.questions.told import told_answer

KINDS = load_catalogue()
TOLD = (
    "Kim and Zoe are vegetarian.",
    "Zoe is allergic to nuts.",
    "My sister is called Zoe.",
    "The vase must never be moved.",
    "The microwave is broken.",
    "The books belong on the shelf.",
    "In the evening the laptop belongs on the desk.",
    "The blue mug is Kim's.",
    "The red mug is Zoe's.",
    "The spare keys belong on the desk.",
)
NO_GRAPES = "The dog must not have grapes."


def index(*told: str) -> BindingFacts:
    facts = [fact for text in told for fact in TellingReader(KINDS).read(text, 1).facts]
    return BindingFacts(facts, KINDS, home(thing("m", "Mug")), 2)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is vegetarian?", "Kim and Zoe are vegetarian."),
        ("who can't eat nuts?", "Zoe is allergic to nuts."),
        ("What is my sister called?", "Your sister is called Zoe."),
        ("Who is Zoe?", "Your sister is called Zoe."),
        ("May I move the vase?", "No: The vase must never be moved."),
        ("Can I use the microwave?", "No: The microwave is broken."),
        ("Is the microwave out of order?", "Yes: The microwave is broken."),
        ("Does the microwave work?", "No: The microwave is broken."),
        ("Can I use the oven?", "Yes. Nobody told me anything against it."),
        ("Where do the books belong?", "The books belong on the shelf."),
        ("Where does the laptop go in the evening?", "In the evening the laptop belongs on the desk."),
        ("Whose is the blue mug?", "The blue mug is Kim's."),
        ("Whose is the mug?", "The blue mug is Kim's. The red mug is Zoe's."),
        ("Where do the spare keys belong?", "The spare keys belong on the desk."),
        ("What should I know about the vase?", "The vase must never be moved."),
        ("What do you know about the blue mug?", "The blue mug is Kim's."),
        ("What do you know about my blue mug?", "The blue mug is Kim's."),
        ("What do you know about my mug?", "The blue mug is Kim's. The red mug is Zoe's."),
        ("What do you know about Ben?", "Nobody told me anything about Ben."),
    ],
)
def test_question_is_answered_with_the_facts_about_its_entity(question: str, answer: str) -> None:
    told = told_answer(question, index(*TOLD))
    assert told.text == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Can Otto have an egg?", "No: Grandpa doesn't eat eggs."),
        ("Does grandpa eat eggs?", "No: Grandpa doesn't eat eggs."),
        ("Is my grandpa allowed to eat eggs?", "No: Grandpa doesn't eat eggs."),
        ("What must Otto not eat?", "Grandpa doesn't eat eggs."),
        ("What can't Otto eat?", "Grandpa doesn't eat eggs."),
        ("What should I know about grandpa?", "Your grandpa is called Otto. Grandpa doesn't eat eggs."),
        ("What must the dog not have?", "The dog must not have grapes."),
        ("What do you know about the dog?", "The dog must not have grapes."),
    ],
)
def test_what_somebody_must_not_have_is_told_under_name_and_role(question: str, answer: str) -> None:
    told = told_answer(question, index("My grandpa is called Otto.", "Grandpa doesn't eat eggs.", NO_GRAPES))
    assert told.text == answer


@pytest.mark.parametrize(
    "question",
    ["Can Otto have an apple?", "Does Zoe have the egg?", "Can I have an egg?", "What do you know about the lamp?"],
)
def test_what_nobody_spoke_against_is_answered_by_no_ban(question: str) -> None:
    bans = [f"{who} doesn't eat eggs." for who in ("Otto", "Zoe")]
    assert told_answer(question, index(*bans, "I don't eat eggs.", "Keep knives away from the kids.")) is None


def test_two_people_of_one_name_are_told_apart() -> None:
    facts = index("My niece Anna is vegan.", "My colleague Anna works at the desk.", "Anna likes apples.")
    both, niece = (
        told_answer("What do you know about Anna?", facts),
        told_answer("What do you know about my niece?", facts),
    )
    assert both.text.startswith("There are 2: your niece Anna and your colleague Anna.")
    assert niece.text == "Your niece Anna is vegan. Anna likes apples."
    assert facts.harm("Egg", "my niece Anna") is not None
    assert facts.harm("Egg", "my colleague Anna") is None
    assert facts.persons_in("bring my colleague Anna an egg") == ["my colleague Anna"]


@pytest.mark.parametrize(
    "question",
    ["Who is an engineer?", "What do you know about the pen?", "Whose is the pen?", "Is the vase heavy?", "", "why"],
)
def test_what_no_fact_answers_is_left_to_the_search(question: str) -> None:
    assert told_answer(question, index(*TOLD)) is None


def asked_home(told: Sequence[str] = TOLD) -> RobotMemory:
    memory = open_memory(MemoryConfig(time_zone="UTC"), lambda: 100, BagOfWords(), embed_in_background=False)
    memory.remember((StateChange("", "Shelf", 50, position=(1.0, 0.0, 0.5), source="camera"),))
    memory.deeds.add(Deed("e:0", "CleanObject", "", "Apple", 60))
    rules = "The statue must never be touched. Shoes stay at the door. My aunt is called Ines. Ines is diabetic."
    memory.read(document_steps("rules", "Rules", [rules], 10))
    for fact in told:
        memory.tell_fact(fact)
    return memory


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("Where is the shelf?", "Shelf 1 is"),
        ("When did you wash the apple?", "I last washed the apple"),
        ("May I touch the statue?", "No: The statue must never be touched"),
        ("Where do shoes stay?", "Shoes stay at the door"),
        ("What should I know about my aunt?", "Ines is diabetic"),
        ("Who is allergic to nuts?", "Zoe is allergic to nuts"),
    ],
)
def test_one_door_answers_from_scene_deeds_documents_and_facts(question: str, part: str) -> None:
    memory = asked_home()
    answer = memory.ask(question)
    memory.close()
    assert part in answer.text
    assert not answer.abstains


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What do you know about the vase?", "The vase must never be moved. Vase 1 is at"),
        ("What do you know about the shelf?", "Shelf 1 is"),
        ("Can I use the dryer?", "The dryer is on the blink."),
        ("Can I use the hammer?", "null"),
        ("Where is the boiler?", "Boiler manual: The boiler stands in the cellar. (1 January 1970)"),
    ],
)
def test_answer_has_what_was_asked_for_and_no_more(question: str, answer: str) -> None:
    memory = asked_home(("The vase must never be moved.", "The dryer is on the blink."))
    memory.remember((StateChange("", "Vase", 60, position=(2.0, 0.0, 0.5), source="camera"),))
    manual = "The boiler stands in the cellar. Its pressure should be 1.5 bar. Press the red button of the boiler."
    memory.read(document_steps("boiler", "Boiler manual", [manual], 10))
    memory.knowledge.embed_statements()
    said = memory.ask(question).text
    memory.close()
    assert said.startswith(answer)
    assert said.count("\n") == 0


def test_all_that_was_told_of_a_person_has_what_no_form_reads() -> None:
    memory = asked_home(("Otto is a pilot.", "Otto doesn't drink coffee after noon.", "Tea is fine when it rains."))
    answer = memory.ask("What should I know about Otto?").text
    memory.close()
    assert answer == "Otto is a pilot. Otto doesn't drink coffee after noon."


def test_answer_about_a_fact_names_the_statement_that_it_rests_on() -> None:
    memory = asked_home()
    (statement,) = memory.ask("Who is allergic to nuts?").propositions
    memory.close()
    assert statement.text == "Zoe is allergic to nuts."
    assert statement.sources


def test_what_nobody_knows_is_not_answered_and_what_is_missing_is_said() -> None:
    memory = asked_home()
    unknown, unseen = memory.ask("What is the alarm code?"), memory.ask("Where is the statue?")
    memory.close()
    assert unknown.abstains
    assert unseen.abstains
    assert "statue" in unseen.missing


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where is Kim?", "Kim is beside the desk in the study."),
        ("Where is my sister?", "Kim is beside the desk in the study."),
        ("Where is my brother?", ""),
        ("Where is Zoe?", ""),
    ],
)
def test_somebody_is_where_they_were_seen_whoever_asks(question: str, answer: str) -> None:
    facts = index("My sister is called Kim.")
    present = PresentQuestions(KINDS, facts.scene, lambda _: facts.scene, 2, person_called=facts.person_called)
    told = present.answer(question)
    assert (told.text if told is not None and told.known else "") == answer
