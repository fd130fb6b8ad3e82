import threading

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.search.config import RetrievalConfig
from memory_node.search.glosses import ClassGlosses
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.search.ranker import Ranker
from memory_node.search.request_phrases import RequestPhrases
from memory_node.search.scoring import Scoring
from memory_node.search.unit_index import UnitIndex

S = 1_000_000_000
NOW = 1000 * S


def ranked(recall, query, units, **options):
    recall.clear()
    recall.put_all(units)
    return recall.rank(query, NOW, **options)


def unit(object_class, name="", states=(), stamp_s=900.0, x_m=0.0, **fields):
    return MemoryUnit(
        object_id=name or object_class,
        object_class=object_class,
        position=np.array([x_m, 0.0, 0.8]),
        covariance=np.eye(3) * 0.01,
        stamp_ns=int(stamp_s * S),
        states=tuple(StateBelief(state, 0.95, NOW) for state in states),
        **fields,
    )


@pytest.fixture(scope="module")
def recall() -> UnitIndex:
    return UnitIndex(Ranker(MiniLmEmbedder()))


KITCHEN = [
    unit(name)
    for name in ("Apple", "Tomato", "Bread", "Mug", "Plate", "Fork", "Fridge", "Book", "Pen", "SoapBar", "DeskLamp")
]


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("a high-calorie food", {"Bread"}),
        ("something to drink from", {"Mug"}),
        ("the tableware", {"Plate", "Fork", "Mug"}),
        ("the red fruit", {"Apple"}),
        ("apple", {"Apple"}),
        ("bring me the apple", {"Apple"}),
        ("I need something to write with", {"Pen"}),
        ("the thing that keeps food cold", {"Fridge"}),
        ("the toiletries", {"SoapBar"}),
        ("some light", {"DeskLamp"}),
        ("bring me some fruit", {"Apple"}),
        ("Please give me something to drink from", {"Mug"}),
        ("could you wash the tableware", {"Plate", "Fork", "Mug"}),
        ("a writing utensil", {"Pen"}),
    ],
)
def test_ambiguous_requests_are_answered_through_glosses(recall, text, best):
    found = ranked(recall, FindQuery(text, k=len(best)), KITCHEN)
    assert found.status is AnswerStatus.OK, found.explanation
    assert {answer.object_class for answer in found.answers} == best


@pytest.mark.parametrize("text", ["a spaceship", "the coffee machine", "the cell phone", "a violin"])
def test_recall_abstains_when_what_is_asked_for_is_not_there(recall, text):
    found = ranked(recall, FindQuery(text), KITCHEN)
    assert found.answers == ()
    assert found.best is None
    assert found.status is AnswerStatus.UNKNOWN
    assert repr(text) in found.explanation


def test_state_words_choose_among_equals(recall):
    units = [
        unit("Apple", "plain"),
        unit("Apple", "clean", [ObjectState.CLEANED]),
        unit("Apple", "dirty", [ObjectState.DIRTY]),
        unit("Bread", "loaf"),
        unit("BreadSliced", "slice", [ObjectState.SLICED]),
    ]
    assert ranked(recall, FindQuery("throw the clean red fruit away"), units).best.object_id == "clean"
    assert ranked(recall, FindQuery("the bread I cut"), units).best.object_id == "slice"
    wanted = [answer.object_id for answer in ranked(recall, FindQuery("the clean apple"), units).answers]
    assert wanted == ["clean", "plain"], "known to be dirty is worse than not known to be clean"
    filtered = ranked(recall, FindQuery("apple", states=(ObjectState.DIRTY,)), units)
    assert [answer.object_id for answer in filtered.answers] == ["dirty"]


def test_recency_and_nearness_break_ties(recall):
    units = [unit("Mug", "old", stamp_s=1.0), unit("Mug", "new", stamp_s=999.0), unit("Mug", "far", x_m=30.0)]
    assert ranked(recall, FindQuery("mug"), units).best.object_id == "new"
    near = ranked(recall, FindQuery("mug", near=(30.0, 0.0, 0.8)), units)
    assert near.best.object_id == "far"
    assert "so do 2 more" in ranked(recall, FindQuery("mug"), units).explanation


@pytest.mark.parametrize(
    ("used_s_ago", "seen_s_ago", "meant"),
    [
        (3600.0, 3600.0, "used"),  # others have been seen since
        (7 * 86400.0, 7 * 86400.0, "seen"),  # a week ago is long ago
    ],
)
def test_of_several_alike_the_one_that_the_robot_used_is_meant(recall, used_s_ago, seen_s_ago, meant):
    now_ns = 10 * 86400 * S
    cups = [
        unit("Cup", "seen", stamp_s=now_ns / S - 5.0),
        unit("Cup", "used", stamp_s=now_ns / S - seen_s_ago, used_ns=int(now_ns - used_s_ago * S)),
        unit("Cup", "other", stamp_s=now_ns / S - 60.0),
    ]
    recall.clear()
    recall.put_all(cups)
    for query in (FindQuery(object_class="Cup"), FindQuery("wash the cup")):
        assert recall.rank(query, now_ns).answers[0].object_id == meant
    near = recall.rank(FindQuery(object_class="Cup", near=(0.0, 0.0, 0.8)), now_ns)
    assert near.answers[0].object_id == "seen"


def test_filters_of_the_query_hold(recall):
    units = [unit("CoffeeMachine", area_id="a1"), unit("Mug", "m1", area_id="a2"), unit("Mug", "m2", stamp_s=950.0)]
    ids = lambda query: {answer.object_id for answer in ranked(recall, query, units).answers}  # noqa: E731
    assert ids(FindQuery(object_class="coffee machine")) == {"CoffeeMachine"}
    assert ids(FindQuery(area_id="a2")) == {"m1"}
    assert ids(FindQuery(object_class="Mug", exclude_ids=frozenset({"m1"}))) == {"m2"}
    assert ids(FindQuery(object_class="Mug", as_of_ns=920 * S)) == {"m1"}
    assert len(ranked(recall, FindQuery(k=2), units).answers) == 2
    assert ranked(recall, FindQuery("mug"), []).status is AnswerStatus.UNKNOWN


def test_answers_say_how_far_they_may_be_trusted(recall):
    gone = unit("Mug", existence=0.2, frame_id="map", last_missed_ns=7)
    answer = ranked(recall, FindQuery("mug"), [gone]).best
    assert answer.status is AnswerStatus.PROBABLY_GONE
    assert answer.age_s == pytest.approx(100.0)
    assert answer.last_missed_ns == 7
    assert ranked(recall, FindQuery("mug"), [gone], frame_verified=False).status is AnswerStatus.FRAME_NOT_VERIFIED
    assert ranked(recall, FindQuery("mug"), [unit("Mug")]).best.score > answer.score


def test_what_was_never_looked_for_in_vain_is_not_gone_but_doubtful(recall):
    hardly_seen = ranked(recall, FindQuery("mug"), [unit("Mug", existence=0.45)])
    assert hardly_seen.status is AnswerStatus.OK
    assert "45%" in hardly_seen.best.explanation
    assert "45%" in hardly_seen.explanation
    sure = ranked(recall, FindQuery("mug"), [unit("Mug")])
    assert sure.best.explanation == ""


def test_stamp_ahead_of_the_clock_is_said_to_be_of_another_clock(recall):
    answer = ranked(recall, FindQuery("mug"), [unit("Mug", stamp_s=5000.0)]).best
    assert answer.age_s == 0.0
    assert "clock" in answer.explanation


def test_class_that_no_gloss_knows_is_found_by_its_own_words(recall):
    units = [*KITCHEN, unit("garden_gnome")]
    assert ranked(recall, FindQuery("the garden gnome"), units).best.object_class == "garden_gnome"


@pytest.mark.parametrize(
    ("text", "there", "meant"),
    [
        ("the towel", ["Cloth", "Towel"], ["Towel"]),
        ("the towel", ["Cloth"], ["Cloth"]),
        ("the box", ["TissueBox", "Box"], ["Box"]),
        ("a machine that browns bread", ["Bread", "Toaster"], ["Toaster"]),
        ("a leafy vegetable", ["Tomato", "Lettuce", "Potato"], ["Lettuce"]),
        ("the lamp in the living room", ["LightSwitch", "FloorLamp"], ["FloorLamp"]),
    ],
)
def test_what_is_much_less_likely_meant_is_no_answer_beside_the_best(recall, text, there, meant):
    units = [unit(name, name) for name in there]
    assert [answer.object_class for answer in ranked(recall, FindQuery(text), units).answers] == meant


def test_memory_is_followed_unit_by_unit(recall):
    recall.clear()
    assert recall.rank(FindQuery("mug"), NOW).status is AnswerStatus.UNKNOWN
    for one in KITCHEN:
        recall.follow(one.object_id, one)
    recall.follow("m2", unit("Mug", "m2", x_m=3.0))
    assert len(recall) == len(KITCHEN) + 1
    ids = [answer.object_id for answer in recall.rank(FindQuery("mug", near=(3.0, 0.0, 0.8)), NOW).answers]
    assert ids[:2] == ["m2", "Mug"]
    recall.follow("Mug", unit("Apple", "Mug"))
    recall.follow("m2", None)
    assert not recall.remove("m2")
    assert recall.rank(FindQuery("mug"), NOW).best is None, "one was relabelled, the other left"
    apples = recall.rank(FindQuery("apple"), NOW).answers
    assert {answer.object_id for answer in apples} == {"Apple", "Mug"}


def test_room_tells_things_of_one_class_apart(recall):
    units = [unit("Mug", room, room_name=room) for room in ("bathroom", "kitchen", "bedroom")]
    assert ranked(recall, FindQuery("the mug in the kitchen"), units).best.object_id == "kitchen"
    assert ranked(recall, FindQuery("the mug in the bedroom"), units).best.object_id == "bedroom"


def test_units_of_classes_that_cannot_be_meant_are_no_answers(recall, monkeypatch):
    rng = np.random.default_rng(3)
    glosses = ClassGlosses.of(load_catalogue())
    names = list(glosses.names)
    units = [
        unit(
            names[rng.integers(len(names))],
            f"u{number}",
            [list(ObjectState)[rng.integers(13)]],
            stamp_s=rng.uniform(0, 999),
            x_m=rng.uniform(0, 30),
            area_id=f"a{rng.integers(3)}",
            room_name=["kitchen", "bathroom", "hall"][rng.integers(3)],
        )
        for number in range(800)
    ]
    recall.put_all(units)
    for number in range(0, 800, 5):
        recall.remove(f"u{number}")
    queries = [
        FindQuery("the clean mug in the kitchen"),
        FindQuery("something to drink from", near=(3.0, 0.0, 0.0)),
        FindQuery("the tableware", area_id="a1"),
        FindQuery("a fork", states=(ObjectState.DIRTY,)),
        FindQuery(object_class="Apple", near=(20.0, 0.0, 0.0)),
        FindQuery("a hammer to drive in this nail", exclude_ids=frozenset({"u1"})),
        FindQuery(as_of_ns=500 * S),
    ]
    found_of = [recall.rank(query, NOW).answers for query in queries]
    monkeypatch.setattr(Scoring, "may_be_meant", lambda _self, _request, numbers: np.ones(len(numbers), dtype=np.bool_))
    for query, found in zip(queries, found_of):
        wanted = recall.rank(query, NOW).answers
        np.testing.assert_allclose([one.score for one in found], [one.score for one in wanted], atol=0.01)
        assert len(set(found_ids := [one.object_id for one in found])) == len(found_ids)


def test_readers_do_not_wait_for_a_writer():
    recall = UnitIndex(Ranker(MiniLmEmbedder()))
    recall.put_all(KITCHEN)
    with recall._lock:  # a writer in the middle of its work
        assert recall.rank(FindQuery("the tableware"), NOW).best is not None


def test_ranking_beside_a_writer_answers_with_what_stays():
    recall = UnitIndex(Ranker(MiniLmEmbedder()))
    recall.put_all(KITCHEN)
    done = threading.Event()

    def write():
        for number in range(300):
            recall.put(unit("Pillow", f"p{number % 60}", room_name=["hall", "attic"][number % 2]))
            recall.remove(f"p{(7 * number) % 60}")
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    rounds = 0
    while not done.is_set() or rounds < 20:
        assert recall.rank(FindQuery("something to drink from"), NOW).best.object_class == "Mug"
        rounds += 1
    writer.join()


def test_embedder_that_fails_costs_no_memory(caplog):
    class Away:
        dimension = 384
        inner = MiniLmEmbedder()
        failing = False

        def embed(self, texts):
            if self.failing:
                raise RobotMemoryError("the endpoint is away")
            return self.inner.embed(texts)

    embedder = Away()
    recall = UnitIndex(Ranker(embedder))
    recall.rank(FindQuery("mug"), NOW)
    embedder.failing = True
    recall.put_all([unit("Mug"), unit("garden_gnome")])
    assert "the endpoint is away" in caplog.text
    embedder.failing = False
    assert recall.rank(FindQuery("mug"), NOW).best.object_id == "Mug"
    assert recall.rank(FindQuery("the garden gnome"), NOW).best.object_id == "garden_gnome"


def test_share_beyond_one_is_refused():
    with pytest.raises(InvalidValueError, match="abstain_below"):
        RetrievalConfig(abstain_below=1.5)


def test_order_names_the_thing_before_the_place_that_it_is_to_come_to(recall):
    found = ranked(recall, FindQuery("put the tableware in the fridge", k=4), KITCHEN)
    assert {answer.object_class for answer in found.answers[:3]} == {"Plate", "Fork", "Mug"}
    assert found.answers[3].object_class == "Fridge"
    assert ranked(recall, FindQuery("put the hammer in the toolbox"), KITCHEN).status is AnswerStatus.UNKNOWN


@pytest.mark.parametrize(
    ("text", "wanted", "place"),
    [
        ("Can you please put a clean plate back on top of the shelf", "a clean plate", "the shelf"),
        ("move the apple to the fridge", "the apple", "the fridge"),
        ("I'd like something to cut bread with", "something to cut bread with", ""),
        ("wash the cup", "the cup", ""),
        ("clean cup", "clean cup", ""),
        ("put it where it stays cold", "put it where it stays cold", ""),
        ("I want to lie down on the sofa", "I want to lie down on the sofa", ""),
        ("the book on the desk", "the book", ""),
        ("bring", "bring", ""),
    ],
)
def test_words_of_asking_are_left_out(text, wanted, place):
    found = RequestPhrases.of(text)
    assert (found.wanted, found.place) == (wanted, place)


def test_thing_that_is_where_the_request_says_comes_first(recall):
    units = [unit("Apple", "a1", support_class="Fridge"), unit("Apple", "a2", support_class="CounterTop")]
    units += [unit("Fridge"), unit("CounterTop")]
    found = ranked(recall, FindQuery("the apple in the fridge"), units)
    assert [answer.object_id for answer in found.answers] == ["a1", "a2"], "the fridge is not what is wanted"
    assert ranked(recall, FindQuery("the apple on the counter"), units).best.object_id == "a2"


@pytest.mark.parametrize(
    "name", ["the dustpan", "where is my ham?", "a tuba", "the bath robe", "bring me the necklace"]
)
def test_name_of_something_that_no_class_covers_is_not_answered(recall, name):
    units = [unit(n) for n in ("GarbageCan", "LaundryHamper", "BathtubBasin", "Towel", "Watch", "TVStand", "Egg")]
    assert ranked(recall, FindQuery(name), units).status is AnswerStatus.UNKNOWN


def test_class_that_is_spelt_so_is_meant_before_one_that_is_called_so(recall):
    units = [unit("Cup"), unit("Mug"), unit("Fridge")]
    ids = lambda name: [a.object_id for a in ranked(recall, FindQuery(object_class=name), units).answers]  # noqa: E731
    assert ids("Cup") == ids("cup") == ["Cup"]
    assert ids("icebox") == ["Fridge"]
