"""A later fact takes an earlier one's place, says so, and can be taken back."""

import pytest
from knowledge_doubles import BagOfWords, ListedLog

from memory_node.catalogue.label_space import load_catalogue
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.told.forms import TellingReader
from memory_node.knowledge.told.telling import in_words

KINDS = load_catalogue()


@pytest.fixture
def graph() -> KnowledgeGraph:
    forms = TellingReader(KINDS)
    return KnowledgeGraph(
        BagOfWords(), ListedLog(), read_facts=lambda said, step: forms.read(said, step.stamp_ns, step.subject).facts
    )


def counting(graph: KnowledgeGraph) -> set[str]:
    return {one.text for one in graph.propositions()}


def test_reply_says_what_a_fact_took_the_place_of(graph: KnowledgeGraph) -> None:
    graph.tell("The keys are in the drawer.", stamp_ns=1)
    reply = in_words(graph.tell("Actually, the keys are on the shelf.", stamp_ns=2))
    assert "on the shelf" in reply
    assert "Instead of: The keys are in the drawer." in reply


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ben loves apples.", "Ben hates apples."),
        ("Ben doesn't eat eggs.", "Ben likes eggs."),
        ("The mug is Ben's.", "The mug is Zoe's."),
        ("My sister is called Zoe.", "My sister is called Kim."),
        ("The books belong on the shelf.", "The books belong in the box."),
    ],
)
def test_later_one_of_two_that_cannot_both_be_true_counts(graph: KnowledgeGraph, earlier: str, later: str) -> None:
    graph.tell(earlier, stamp_ns=1)
    assert earlier in in_words(graph.tell(later, stamp_ns=2))
    assert counting(graph) == {later}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ben loves apples.", "Ben hates eggs."),
        ("Ben loves apples.", "Zoe hates apples."),
        ("Grandma is on oxygen.", "Grandma is in the bedroom."),
        ("Ben likes apples.", "Ben likes bread."),
        ("Zoe is allergic to nuts.", "Zoe doesn't eat eggs."),
    ],
)
def test_facts_that_are_both_true_both_stay(graph: KnowledgeGraph, earlier: str, later: str) -> None:
    graph.tell(earlier, stamp_ns=1)
    reply = in_words(graph.tell(later, stamp_ns=2))
    assert counting(graph) == {earlier, later}
    assert "Instead" not in reply


def test_what_is_forgotten_gives_its_place_back(graph: KnowledgeGraph) -> None:
    graph.tell("The keys are in the drawer.", stamp_ns=1)
    graph.tell("The keys are on the shelf.", stamp_ns=2)
    reply = in_words(graph.tell("Forget that the keys are on the shelf.", stamp_ns=3))
    assert counting(graph) == {"The keys are in the drawer."}
    assert reply == "I take it back: The keys are on the shelf. Again: The keys are in the drawer."
    assert [fact.object.words for fact in graph.facts()] == ["drawer"]


def test_words_that_no_form_reads_are_forgotten_by_their_words(graph: KnowledgeGraph) -> None:
    graph.tell("The wifi password is maple.", stamp_ns=1)
    assert in_words(graph.tell("please forget that the wifi password is maple")).startswith("I take it back")
    assert not counting(graph)


def test_nothing_is_forgotten_that_nobody_told(graph: KnowledgeGraph) -> None:
    graph.tell("Ana and Pedro are both vegetarian.", stamp_ns=1)
    assert in_words(graph.tell("Forget that Ana is an engineer.")) == "Nobody told me that."
    # It is told of both: to forget a part of it would change what was said.
    assert in_words(graph.tell("Forget that Ana is vegetarian.")) == "Nobody told me that."
    assert counting(graph) == {"Ana and Pedro are both vegetarian."}


def test_two_people_of_one_name_are_kept_apart_and_asked_about(graph: KnowledgeGraph) -> None:
    graph.tell("My niece Anna sleeps in the bedroom.", stamp_ns=1)
    graph.tell("My colleague Anna sleeps on the sofa.", stamp_ns=2)
    reply = in_words(graph.tell("Anna sleeps on the bed.", stamp_ns=3), graph.facts())
    assert reply.endswith("Which Anna is it, your niece or your colleague?")
    assert len(counting(graph)) == 3
    graph.tell("My niece Anna sleeps on the armchair.", stamp_ns=4)
    assert "My niece Anna sleeps in the bedroom." not in counting(graph)
    assert "My colleague Anna sleeps on the sofa." in counting(graph)


def test_later_fact_of_the_only_person_of_a_name_counts_without_the_role(graph: KnowledgeGraph) -> None:
    graph.tell("My niece Anna sleeps in the bedroom.", stamp_ns=1)
    reply = in_words(graph.tell("Anna sleeps on the bed.", stamp_ns=3), graph.facts())
    assert "Which" not in reply


def test_what_is_forgotten_was_never_so_also_where_it_says_no_longer(graph: KnowledgeGraph) -> None:
    graph.tell("The oven is broken.", stamp_ns=1)
    graph.tell("The oven is no longer broken.", stamp_ns=2)
    graph.tell("Forget that the oven is no longer broken.", stamp_ns=3)
    assert counting(graph) == {"The oven is broken."}


def test_what_is_given_its_place_back_has_counted_all_along(graph: KnowledgeGraph) -> None:
    for stamp_ns, text in ((1, "in the drawer"), (2, "on the shelf"), (4, "in the drawer"), (5, "on the desk")):
        graph.tell(f"The keys are {text}.", stamp_ns=stamp_ns)
    graph.tell("Forget that the keys are on the desk.", stamp_ns=6)
    counted = [(one.object.words, one.from_ns, one.until_ns) for one in graph.facts_ever()]
    assert sorted(counted) == [("drawer", 0, 0), ("drawer", 1, 2), ("shelf", 2, 4)]


SECOND = 10**9


def standing(graph: KnowledgeGraph) -> list[str]:
    return sorted(one.text for one in graph.propositions() if one.active)


def test_pronoun_means_what_the_same_person_told_of_just_before(graph: KnowledgeGraph) -> None:
    graph.tell("The keys are in the bowl.", "Ida", SECOND)
    graph.tell("No wait, they are in the drawer.", "Ida", 20 * SECOND)
    assert standing(graph) == ["The keys are in the drawer."]


@pytest.mark.parametrize("said", ["It is Ida's birthday.", "It is five o'clock.", "It hurts."])
def test_pronoun_that_means_nothing_told_before_keeps_its_words(graph: KnowledgeGraph, said: str) -> None:
    graph.tell("The mug is broken.", "Ida", SECOND)
    graph.tell(said, "Ida", 20 * SECOND)
    assert standing(graph) == [said, "The mug is broken."]


@pytest.mark.parametrize(("teller", "later_s"), [("Ben", 20), ("Ida", 1000)])
def test_pronoun_of_somebody_else_or_of_later_means_nothing_told_before(
    graph: KnowledgeGraph, teller: str, later_s: int
) -> None:
    graph.tell("The keys are in the bowl.", "Ida", SECOND)
    graph.tell("They are in the drawer.", teller, later_s * SECOND)
    assert standing(graph) == ["The keys are in the bowl.", "They are in the drawer."]


@pytest.mark.parametrize(
    "correction",
    ["I mixed that up, it's Tom who is allergic to eggs.", "It's not Tim but Tom who is allergic to eggs."],
)
def test_what_somebody_mixed_up_ends_and_what_was_told_before_that_stays(
    graph: KnowledgeGraph, correction: str
) -> None:
    graph.tell("Ben is allergic to eggs.", "", SECOND)
    graph.tell("Tim is allergic to eggs.", "", 10 * SECOND)
    graph.tell(correction, "", 20 * SECOND)
    assert standing(graph) == ["Ben is allergic to eggs.", correction]


def test_all_that_was_told_of_a_thing_is_forgotten_at_once(graph: KnowledgeGraph) -> None:
    kept = ["The keys belong in the bowl.", "The lamp must never be moved."]
    for one in ("The vase must never be moved.", "The vase is Ida's.", "Flowers make the vase look good.", *kept):
        graph.tell(one)
    gone = graph.tell("Please forget what I told you about the vase.")
    assert len(gone) == 3
    assert standing(graph) == kept
    graph.tell("Forget all that I said about the keys and the lamp in the hall.")
    assert standing(graph) == kept[1:]
    graph.tell("Forget all that I said about the lamp.")
    assert standing(graph) == []


def test_long_sentence_is_found_by_the_thing_that_it_names_last(graph: KnowledgeGraph) -> None:
    said = (
        "Granny Edith lost her old hearing aid somewhere between kitchen door, garden gate, wood shed, bed and candle."
    )
    graph.tell(said)
    assert [one.text for one in graph.told_facts("Put the candle on the desk.")] == [said]


def test_what_was_replaced_by_what_is_forgotten_does_not_count_again(graph: KnowledgeGraph) -> None:
    for number, owner in enumerate(("Anna", "Carl", "Ben")):
        graph.tell(f"The mug is {owner}'s.", "", number * SECOND)
    graph.tell("Forget everything I told you about the mug.")
    assert standing(graph) == []


@pytest.mark.parametrize(
    "what", ["the coffee table", "Anna's mug", "the red mug", "the kitchen", "it", "the lamp being broken"]
)
def test_no_more_is_forgotten_than_what_was_told_of_it(graph: KnowledgeGraph, what: str) -> None:
    kept = [
        "Anna is allergic to nuts.",
        "The blue mug is Ben's.",
        "The coffee is decaf.",
        "The kitchen table is broken.",
    ]
    kept += ["The lamp must never be moved."]
    for one in kept:
        graph.tell(one)
    graph.tell(f"Forget what I said about {what}.")
    assert standing(graph) == kept


def test_what_somebody_meant_to_say_as_well_ends_nothing(graph: KnowledgeGraph) -> None:
    graph.tell("The microwave is broken.", "", SECOND)
    graph.tell("I meant to tell you: the oven is broken.", "", 2 * SECOND)
    assert "The microwave is broken." in standing(graph)


def test_what_holds_from_a_day_on_ends_nothing_before(graph: KnowledgeGraph) -> None:
    graph.tell("The keys belong in the bowl.", "", SECOND)
    graph.tell("From tomorrow the keys belong on the shelf.", "", 2 * SECOND)
    now, later = (
        [one.object.words for one in graph.facts() if one.true_at(stamp)] for stamp in (SECOND, 90_000 * SECOND)
    )
    assert (now, later) == (["bowl"], ["shelf"])
