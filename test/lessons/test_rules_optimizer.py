"""What the deterministic optimizer reads in an attempt, and how its notes grow together."""

from memory_node.domain.step import EpisodeSummary
from memory_node.lessons.lesson import Wording
from memory_node.lessons.optimizer.attempt import Candidate, attempt_of
from memory_node.lessons.optimizer.rules import RulesOptimizer, target_of, whereabouts_of
from memory_node.lessons.whereabouts import Whereabouts, read_whereabouts, written

COOLED = (
    "go to drawer sees spoon",
    "go to shelf sees mug plate",
    "take mug from shelf",
    "cool mug with fridge",
    "put mug in cabinet",
)


def shown(*entries: tuple[str, str]):
    return [written(f"m{n}", Wording(query, value, "e"), "rules") for n, (query, value) in enumerate(entries)]


def test_success_leaves_where_its_thing_was(attempt) -> None:
    note = whereabouts_of(attempt("put a cool mug in cabinet", *COOLED))
    assert note == Whereabouts("mug", ("shelf",), ("drawer",))


def test_thing_that_lay_at_the_goal_says_nothing_of_where_to_look(attempt) -> None:
    note = whereabouts_of(attempt("put a mug in cabinet", "go to cabinet sees mug", *COOLED))
    assert note.found_at == ("shelf",)


def test_failure_leaves_where_the_thing_was_and_no_cause(attempt) -> None:
    seen = attempt("put a mug in cabinet", "go to drawer sees mug", *["open shelf"] * 3, won=False)
    found = RulesOptimizer().propose(seen, ()).candidate
    assert found.value == "Thing: mug. Look first at: drawer. Seldom at: shelf."
    lost = attempt("put a mug in cabinet", *["open drawer"] * 3, won=False)
    assert RulesOptimizer().propose(lost, ()).candidate is None


def test_target_is_what_the_task_names_however_it_is_spelt(attempt) -> None:
    assert (
        target_of(attempt("bring the butter knife", "take cup from bed", "take ButterKnife from bed")) == "ButterKnife"
    )
    assert target_of(attempt("bring two plates", "go to shelf sees plate cup", won=False)) == "plate"
    assert target_of(attempt("clean up", "go to shelf sees plate", won=False)) == ""


def test_note_is_read_as_it_was_written() -> None:
    note = Whereabouts("mug", ("shelf", "drawer"), ("bed",))
    assert read_whereabouts(note.text) == note
    assert read_whereabouts("Look around first.") is None


def test_note_of_an_earlier_program_is_read() -> None:
    said = "Task: cool, move with mug. Way: take mug; cool mug with fridge. Look first at: shelf. Seldom at: bed."
    assert read_whereabouts(said) == Whereabouts("mug", ("shelf",), ("bed",))


def test_place_that_proves_itself_again_moves_up_by_one() -> None:
    note, bed = Whereabouts("mug", ("shelf", "drawer", "bed")), Whereabouts("mug", ("bed",))
    again = note.merged(bed)
    assert again.found_at == ("shelf", "bed", "drawer")
    assert again.merged(bed).found_at == ("bed", "shelf", "drawer")


def test_place_where_it_was_found_after_all_is_not_seldom() -> None:
    note = Whereabouts("mug", vain=("shelf", "bed"))
    assert note.merged(Whereabouts("mug", ("shelf",))).vain == ("bed",)


def test_place_where_it_was_looked_for_in_vain_moves_down_and_the_last_one_out() -> None:
    note, vain = Whereabouts("mug", ("shelf", "drawer")), Whereabouts("mug", vain=("shelf",))
    assert note.merged(vain) == Whereabouts("mug", ("drawer", "shelf"))
    assert note.merged(vain).merged(vain) == Whereabouts("mug", ("drawer",), ("shelf",))


def test_search_in_vain_is_told_to_the_note_about_its_thing_alone(attempt) -> None:
    failed = attempt("put a mug in cabinet", "go to drawer sees mug", won=False)
    again = attempt("put a mug in cabinet", "go to shelf", "go to bed sees mug", won=False)
    note, said = Whereabouts("mug", ("shelf",)).text, []
    for one in (again, again):
        found = RulesOptimizer().propose(one, shown((failed.query, note))).candidate
        note = found.value
        said.append(note)
    assert said == ["Thing: mug. Look first at: bed, shelf.", "Thing: mug. Look first at: bed. Seldom at: shelf."]
    unknown = attempt("put a mug in cabinet", "go to shelf", won=False)
    assert RulesOptimizer().propose(unknown, shown(("put a cup in cabinet", Whereabouts("cup").text))).candidate is None


def test_first_attempt_adds_and_the_next_of_its_kind_updates(attempt) -> None:
    optimizer = RulesOptimizer()
    first = attempt("put a cool mug in cabinet", *COOLED)
    added = optimizer.propose(first, ()).candidate
    assert added.replaces is None
    entries = shown(("heat an egg", Whereabouts("egg", ("fridge",)).text), (first.query, added.value))
    other = attempt("cool a mug and put it on table", "take mug from bed", "cool mug with fridge", "put mug in table")
    updated = optimizer.propose(other, entries).candidate
    assert updated.replaces == 1
    assert updated.value == "Thing: mug. Look first at: shelf, bed. Seldom at: drawer."


def test_entry_in_other_words_is_left_alone(attempt) -> None:
    candidate = (
        RulesOptimizer().propose(attempt("put a cool mug in cabinet", *COOLED), shown(("cool", "Be quick."))).candidate
    )
    assert candidate.replaces is None


def test_attempt_that_shows_nothing_leaves_nothing(attempt) -> None:
    proposal = RulesOptimizer().propose(attempt("clean up", won=False), ())
    assert proposal.candidate is None
    assert proposal.problem


def test_same_attempt_always_leaves_the_same(attempt) -> None:
    one = attempt("put a cool mug in cabinet", *COOLED)
    assert RulesOptimizer().propose(one, ()) == RulesOptimizer().propose(one, ())


def test_recorded_episode_is_read_over_classes(step) -> None:
    steps = [
        step("GoToObject", "Shelf@1,1,1", visible=("Mug@1,1,1",), relations=("Mug on Shelf",)),
        step("PickupObject", "Mug@1,1,1"),
        step("PutObject", "Mug", "Cabinet@2,2,2", fails="closed"),
        step("OpenObject", "Cabinet@2,2,2"),
        step("PutObject", "Mug", "Cabinet@2,2,2"),
    ]
    summary = EpisodeSummary("e1", "put the mug in the cabinet", "place", 0, 9, True)
    assert whereabouts_of(attempt_of(summary, steps)).found_at == ("Shelf",)


def test_what_a_hand_can_carry_is_no_place_unless_something_was_put_into_it(step) -> None:
    steps = [
        step("GoToObject", "Lettuce@1,1,1"),
        step("PickupObject", "Knife@1,1,1", relations=("Knife on Lettuce",)),
        step("SliceObject", "Lettuce@1,1,1"),
        step("PutObject", "Knife", "Bowl"),
        step("PickupObject", "Bread@2,2,1", relations=("Bread in Bowl",)),
    ]
    summary = EpisodeSummary("e1", "slice the lettuce and bring me the bread", "slice", 0, 9, True)
    places = [deed.place for deed in attempt_of(summary, steps).deeds]
    assert places == ["", "", "", "Bowl", "Bowl"]


def test_candidate_says_its_operation() -> None:
    assert Candidate("v").operation == "ADD"
    assert Candidate("v", 2).operation == "UPDATE 2"


def test_where_other_things_were_fetched_or_brought_nothing_was_looked_for(attempt) -> None:
    done = ("go to table", "take cup from table", "go to sink", "put cup in sink", "go to bed", *COOLED)
    note = whereabouts_of(attempt("put a cool mug in cabinet", *done))
    assert "table" not in note.vain
    assert "sink" not in note.vain
    assert "bed" in note.vain
