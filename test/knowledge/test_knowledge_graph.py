import pytest
from knowledge_doubles import BagOfWords, ListedLog

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.knowledge.facts import SOURCES_KEPT, Proposition, proposition_from_dict, to_dict
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import PROPOSITIONS


def learn(graph: KnowledgeGraph, episode_id: str, instruction: str = "wash the apple", success: bool = True) -> None:
    pick = SkillCall("PickupObject", ("Apple@1,2,0.9",))
    steps = [
        StepRecord(episode_id, 0, SkillCall("Explore", ("Apple", "1.0,2.0")), True, FailureReason.NONE, 1),
        StepRecord(episode_id, 1, pick, True, FailureReason.NONE, 2, relations=("Apple on DiningTable",)),
        StepRecord(episode_id, 2, SkillCall("PutObject", ("Apple", "Fridge")), False, FailureReason.CLOSED, 3),
        StepRecord(episode_id, 3, SkillCall("OpenObject", ("Fridge",)), False, FailureReason.TOO_FAR, 4),
    ]
    graph.learn(EpisodeSummary(episode_id, instruction, "clean", 0, 5, success), steps)


def test_steps_become_propositions_with_their_sources(graph: KnowledgeGraph) -> None:
    learn(graph, "e1")
    (place,) = graph.about(["Apple", "DiningTable", "Fridge"])
    assert (place.text, place.sources) == ("Apple on DiningTable", ("e1:1",))
    assert place.concepts == {"Apple", "DiningTable"}


def test_where_a_thing_was_answers_who_may_have_it_with_nothing(graph: KnowledgeGraph) -> None:
    learn(graph, "e1")
    assert graph.ask("Who must not have the apple?").abstains
    assert graph.ask("Where was the apple?").text.startswith("Apple was on DiningTable")


def test_same_statement_from_two_episodes_has_both_as_support(graph: KnowledgeGraph) -> None:
    learn(graph, "e1")
    learn(graph, "e2")
    assert graph.about(["DiningTable"])[0].support == 2


def test_forgetting_an_episode_takes_what_only_it_supported(graph: KnowledgeGraph) -> None:
    learn(graph, "e1")
    learn(graph, "e2")
    assert graph.forget("e1") == 0
    assert graph.about(["DiningTable"])[0].sources == ("e2:1",)
    assert graph.forget("e2") == 1
    assert len(graph) == 0


def test_knowledge_survives_a_restart(graph: KnowledgeGraph, log: ListedLog) -> None:
    learn(graph, "e1")
    reborn = KnowledgeGraph(BagOfWords(), ListedLog())
    reborn.load(log.documents[PROPOSITIONS].values())
    assert reborn.about(["Apple"]) == graph.about(["Apple"])


def test_proposition_without_a_source_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="source"):
        Proposition("Apple on DiningTable", frozenset({"Apple"}), ())


def test_fact_names_its_newest_sources_and_counts_all() -> None:
    fact = Proposition("Apple on DiningTable", frozenset({"Apple"}), ("e0:1",))
    for number in range(1, 100):
        fact = fact.merged(Proposition(fact.text, fact.concepts, (f"e{number}:1",)))
    assert (len(fact.sources), fact.sources[-1], fact.support) == (SOURCES_KEPT, "e99:1", 100)
    left = fact.without("e99")
    assert left.support == 99
    assert proposition_from_dict(to_dict(left)) == left


def test_what_is_said_with_an_instruction_is_known_later(graph: KnowledgeGraph) -> None:
    learn(graph, "e1", "Put the vase on the desk. The vase was a gift from my best friend.")
    learn(graph, "e2", "Put the book on the desk.")
    found = graph.told_about("where is the gift from my best friend?")
    assert [one.sources for one in found] == [("e1:0",)]
    assert "gift from my best friend" in found[0].text
    graph.forget("e1")
    assert graph.told_about("where is the gift from my best friend?") == []


@pytest.mark.parametrize("order", ["Walk the dog.", "Please water the plants.", "Thank my aunt for the vase."])
def test_order_with_an_unknown_verb_is_nothing_that_was_told(graph: KnowledgeGraph, order: str) -> None:
    learn(graph, "e1", f"{order} Bring me the book.")
    assert graph.told_about(order) == []
    learn(graph, "e2", f"{order} Grandma loves the dog, the plants and the vase.")
    assert ["Grandma loves" in one.text for one in graph.told_about(order)] == [True]


@pytest.mark.parametrize(
    "told", ["Tonight my brother visits us.", "Sadly my glasses broke.", "Sometimes the dog barks at the mailman."]
)
def test_what_begins_with_when_or_how_it_is_was_told(graph: KnowledgeGraph, told: str) -> None:
    learn(graph, "e1", f"Bring me the book. {told}")
    assert [one.text.startswith(told) for one in graph.told_about(told)] == [True]


def test_what_was_said_comes_with_the_instruction_that_it_was_said_in(graph: KnowledgeGraph) -> None:
    command = "Put the vase on the desk. Put the book there, too. Leave the mug. Then close the window. Do not hurry."
    told = ["The vase was a gift from my best friend.", "I like it like this for evening tea."]
    for number, sentence in enumerate(told):
        learn(graph, f"e{number}", f"{command} {sentence}")
    for question, sentence in zip(("bring the gift from my best friend", "prepare evening tea"), told):
        (found,) = graph.told_about(question, k=1)
        fact, _, rest = found.text.partition(' (said with "')
        assert sentence in fact
        assert "Put the vase on the desk." not in fact
        assert "Put the vase on the desk." in rest


@pytest.mark.parametrize(
    "telling",
    [
        "Hand towels belong in the bathroom.",
        "Look, the vase was a gift from my friend.",
        "Put the vase on the desk, it was a gift from my friend.",
    ],
)
def test_a_sentence_that_tells_something_and_begins_like_an_order_is_known(graph: KnowledgeGraph, telling: str) -> None:
    learn(graph, "e1", f"{telling} Then wash the mug.")
    assert [telling in one.text for one in graph.told_about(telling)] == [True]


@pytest.mark.parametrize("joint", ["; it", ", it", " because it"])
def test_what_is_said_within_the_one_sentence_of_an_order_is_known(graph: KnowledgeGraph, joint: str) -> None:
    order = f"Put the vase on the table{joint} was a gift from my best friend."
    learn(graph, "e1", order)
    assert [order in one.text for one in graph.told_about("Who gave me the vase?")] == [True]


@pytest.mark.parametrize(
    "instruction", ["Put the vase on the desk. Then wash the mug.", "Where is the vase? Bring it to me, please."]
)
def test_orders_and_questions_are_no_facts(graph: KnowledgeGraph, instruction: str) -> None:
    learn(graph, "e1", instruction)
    assert graph.told_about(instruction) == []
