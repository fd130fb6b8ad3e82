"""What an answer rests on, and when memory knows nothing."""

import pytest
from knowledge_doubles import BagOfWords, ListedLog

from memory_node.knowledge.answering import Mode, names_asked
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.standard_step import document_steps


@pytest.fixture
def told(graph: KnowledgeGraph) -> KnowledgeGraph:
    for stamp, fact in enumerate(
        ["The blue mug is Anna's; she is allergic to nuts.", "Carla moved to Lyon.", "The cat is called Minka."], 1
    ):
        graph.tell(fact, stamp_ns=stamp)
    graph.tell("Minka sleeps on the sofa.", stamp_ns=9)
    return graph


def test_what_is_known_of_one_person_answers_nothing_of_another(told: KnowledgeGraph) -> None:
    assert told.ask("What is Anna allergic to?").text.startswith("Anna is allergic to nuts.")
    assert told.ask("What is Carla allergic to?").abstains
    assert told.ask("When did Anna visit Paris?").abstains


def test_statement_that_shares_a_name_with_one_that_answers_comes_along(told: KnowledgeGraph) -> None:
    answer = told.ask("What is the name of the cat that sleeps on the sofa?")
    assert {"The cat is called Minka.", "Minka sleeps on the sofa."} <= {one.text for one in answer.propositions}


def test_steps_of_a_manual_are_answered_with_the_sentence_that_names_the_task() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    manual = (
        "The machine must be descaled every two months. To descale the machine, fill its tank with citric acid. "
        "Bees make honey."
    )
    graph.add(document_steps("manual", "Manual", [manual], 1))
    answer = graph.ask("How do I descale the machine?", Mode.PROCEDURAL)
    assert "citric acid" in answer.text
    assert "honey" not in answer.text


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Bring me the mug", []),
        ("What is Carla allergic to?", ["carla"]),
        ("Does Ben like mushrooms?", ["ben"]),
        ("how do I wash it?", []),
    ],
)
def test_capital_at_the_beginning_makes_no_name(question: str, names: list[str]) -> None:
    assert [name for name in names_asked(question) if name != "i"] == names


def test_what_was_found_comes_before_the_rest_of_its_step_unless_it_tells_how() -> None:
    graph = KnowledgeGraph(BagOfWords(), ListedLog())
    shop = ["The shop sells a bulb for the lamp of the hall.", "The lamp of the shop is in the hall."]
    graph.add(document_steps("a", "Shop", [" ".join(shop)]))
    graph.add(document_steps("b", "Lamp", ["The lamp of the hall needs a bulb from the shop."]))
    question = "Which shop sells the bulb for the lamp of the hall?"
    first, rest, other = (
        f"Shop: {shop[0]}",
        f"Shop: {shop[1]}",
        "Lamp: The lamp of the hall needs a bulb from the shop.",
    )
    assert [one.text for one in graph.ask(question, Mode.SEMANTIC).propositions] == [first, other, rest]
    assert [one.text for one in graph.ask(question, Mode.PROCEDURAL).propositions] == [first, rest, other]
