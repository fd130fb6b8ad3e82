"""What plain sentences ask for, through the reader's public door: goals as effects, or a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from benchmarks.plain_commands import effects
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.reading.conversation import Conversation
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.trained_reader import GoalModel, Prediction
from memory_node.planner.reading.understanding import LONGEST_CHARACTERS, Understander

KINDS = load_catalogue()
READER = Understander(KINDS, None, None)
ASKED = "asks"


def read(text: str, conversation: Conversation | None = None, home: HomeClasses | None = None) -> str:
    """Return the effects of what is read, or that something is asked."""
    found = READER.understand(text, home, conversation=conversation)
    return "; ".join(effects(found.goals)) if found.question is None else ASKED


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Put the mug in the sink.", "Mug at SinkBasin"),
        ("could you please bring me the red mug", "Mug at User"),
        ("fetch the pen", "Pen at User"),
        ("fetch two forks from the drawer", "2 Fork at User"),
        ("fetch the towel and hang it on the towel rail", "Towel at TowelHolder"),
        ("take the pen", "fetch Pen"),
        ("fetch the pen and turn on the desk lamp", "Pen at User; switch_on DeskLamp"),
        ("take the pen and turn on the desk lamp", "examine Pen with DeskLamp"),
        ("Take the pan off the stove and put it on the counter.", "Pan at CounterTop"),
        ("put the vase on the desk next to the lamp", "Vase at Desk"),
        ("put the vase next to the alarm clock on the desk", "Vase near AlarmClock"),
        (
            "put the vase next to the alarm clock and then move both to the desk",
            "Vase near AlarmClock; Vase at Desk; AlarmClock at Desk",
        ),
        (
            "Could you prepare the room by first putting the vase and the candle on the shelf?",
            "Vase at Shelf; Candle at Shelf",
        ),
        ("Set up the shelf by moving the vase and the candle.", "Vase at Shelf; Candle at Shelf"),
        ("Start by moving the phone to the bed.", "CellPhone at Bed"),
        ("put the vase on the sofa/couch", "Vase at Sofa"),
        ("Wash the apple, slice it and put it in the bowl.", "clean Apple; slice Apple; Apple at Bowl"),
        ("wash and slice the tomato", "clean Tomato; slice Tomato"),
        ("wash, slice and heat the tomato", "clean Tomato; slice Tomato; heat Tomato"),
        ("put the fork, the spoon, the knife in the drawer", "Fork at Drawer; Spoon at Drawer; Knife at Drawer"),
        ("put an end slice of the bread on the plate", "slice Bread; Bread at Plate"),
        ("put the phone near the pens", "CellPhone near Pen"),
        ("slice the potato and put the potato slices in the bowl", "slice Potato; Potato at Bowl"),
        ("put two of the tomato's slices on the plate", "slice Tomato; 2 Tomato at Plate"),
        ("put an apple slice on the plate", "slice Apple; Apple at Plate"),
        ("put a hot piece of potato into the fridge", "slice Potato; heat Potato; Potato at Fridge"),
        ("put the bowl with an apple on the desk", "Apple at Bowl; Bowl at Desk"),
        ("bring me the mug with two plates", "Mug at User; 2 Plate at User"),
        ("turn the desk lamp off", "switch_off DeskLamp"),
        ("switch on the TV", "switch_on Television"),
        ("get rid of the newspaper", "Newspaper at GarbageCan"),
        ("bring two forks and a knife", "2 Fork at User; Knife at User"),
        ("put all the mugs in the cabinet", "all Mug at Cabinet"),
        ("fill the vase with water", "fill Vase"),
        ("pour the water out of the bowl", "empty Bowl"),
        ("look at the book under the floor lamp", "examine Book with FloorLamp"),
        ("drive over to the fridge", "find Fridge"),
        ("go to the kitchen", "go kitchen"),
        ("come here", "go User"),
        ("put the pen back where it was", "Pen back"),
        ("let go of the mug", "drop Mug"),
        ("stop", "stop"),
        ("just a moment", "wait"),
        ("can we move the mug to the shelf?", "Mug at Shelf"),
        ("Move the mug and the cup to the shelf. Place them next to each other.", "Mug at Shelf; Cup at Shelf"),
        ("Move the mug and the cup to the shelf, putting them side by side.", "Mug at Shelf; Cup at Shelf"),
        ("put the mug and the cup on the shelf and place them next to each other", "Mug at Shelf; Cup at Shelf"),
        ("open the fridge's door", "open Fridge"),
        ("bring the bowl with the egg in it", "Egg at Bowl; Bowl at User"),
        ("bring the mug to the sink, no, me", "Mug at User"),
        ("when you are done washing the pan, put it in the cabinet", "clean Pan; Pan at Cabinet"),
        ("open the drawer in", ASKED),
        ("go to sleep", ASKED),
    ],
)
def test_plain_commands_are_read(text: str, wanted: str) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I'd like the salt.", "SaltShaker at User"),
        ("can I have two spoons, please", "2 Spoon at User"),
        ("I want the desk lamp on", "switch_on DeskLamp"),
        ("The plates need a rinse.", "clean all Plate"),
        ("the window should be closed", "close Window"),
        ("The vase goes on the shelf.", "Vase at Shelf"),
        ("make sure the fridge is closed", "close Fridge"),
        ("Pillow on the bed, please.", "Pillow at Bed"),
        ("My hands are full, open the door.", "open Door"),
        ("The mug is dirty, wash it.", "clean Mug"),
        ("Before you close the window, open the curtains.", "open Curtains; close Window"),
        ("Close the safe after you put the watch in it.", "Watch at Safe; close Safe"),
        ("Put the phone in the safe and close the door.", "CellPhone at Safe; close Safe"),
    ],
)
def test_wishes_duties_and_remarks_are_read(text: str, wanted: str) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Where is my laptop?", "tell Laptop place"),
        ("do you know where the salt is?", "tell SaltShaker place"),
        ("is the stove still on?", "tell StoveBurner on"),
        ("Is the mug on the desk clean?", "tell Mug clean"),
        ("how many forks are there?", "tell Fork count"),
        ("what's in the fridge?", "tell Fridge contents"),
        ("is there any butter left?", "tell Butter exists"),
        ("did I leave the window open?", "tell Window open"),
        ("check whether the door is closed", "tell Door closed"),
    ],
)
def test_questions_move_nothing(text: str, wanted: str) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Bring me the pen, no, the pencil.", "Pencil at User"),
        ("put the mug in the sink, sorry, on the counter", "Mug at CounterTop"),
        ("Turn on the TV. No, turn on the floor lamp.", "switch_on FloorLamp"),
        ("bring two, I mean three apples", "3 Apple at User"),
        ("put the fork, not the knife, in the drawer", "Fork at Drawer"),
        ("do not touch the clock; put the keys on the shelf", "KeyChain at Shelf"),
    ],
)
def test_what_is_taken_back_is_not_done(text: str, wanted: str) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "put the flumbert on the shelf",
        "bring me my glasses",
        "bring her the pepper instead",
        "bring him an egg",
        "put the mug in the sink at eight",
        "if it rains, close the window",
        "put the mug under the bed",
        "pour the milk from the jug into the bowl",
        "put it in the fridge",
        "wash some cups and a few plates",
        "sing a song",
        "turn the volume up",
        "don't open the window",
        "the mug",
        "turn off the lamp",
        "???",
        "x" * 50,
    ],
)
def test_what_is_not_plain_is_asked_about(text: str) -> None:
    assert read(text) == ASKED


def test_memory_tells_which_lamp_is_meant() -> None:
    home = HomeClasses(frozenset({"Mug"}), frozenset({"FloorLamp", "Sofa"}))
    assert read("turn off the lamp", home=home) == "switch_off FloorLamp"


@pytest.mark.parametrize(
    "turns",
    [
        [("Wash the apple.", "clean Apple"), ("Now slice it.", "slice Apple")],
        [("Put the mug in the sink.", "Mug at SinkBasin"), ("No, the cup.", "Cup at SinkBasin")],
        [("Put the book on the bed.", "Book at Bed"), ("Sorry, I meant the desk.", "Book at Desk")],
        [("Put it in the fridge.", ASKED), ("The apple.", "Apple at Fridge")],
        [("Put the vase.", ASKED), ("On the shelf.", "Vase at Shelf")],
        [("turn off the lamp", ASKED), ("the floor lamp", "switch_off FloorLamp")],
        [("close the window tomorrow", ASKED), ("yes", "close Window")],
        [("Put the tomato in the fridge.", "Tomato at Fridge"), ("And the lettuce too.", "Lettuce at Fridge")],
        [("Slice the potato.", "slice Potato"), ("Do the same with the tomato.", "slice Tomato")],
        # The same is all that was done with the thing, not the last of it.
        [
            ("Wash the fork and put it in the fridge.", "clean Fork; Fork at Fridge"),
            ("Do the same with the spoon.", "clean Spoon; Spoon at Fridge"),
            ("And the knife and the cup, too.", "clean Knife; clean Cup; Knife at Fridge; Cup at Fridge"),
        ],
        [
            ("Open the window, wash the fork and put it in the fridge.", "open Window; clean Fork; Fork at Fridge"),
            ("No, the spoon.", "clean Spoon; Spoon at Fridge"),
            ("No, on the desk.", "Spoon at Desk"),
        ],
        [("Where's the newspaper?", "tell Newspaper place"), ("OK, throw it away.", "Newspaper at GarbageCan")],
        [("I've read the book. Put it next to the other one.", ASKED)],
        [("Slice the apple and bring me a slice in the bowl.", "slice Apple; Apple at Bowl; Bowl at User")],
        [("Slice the apple and bring me two slices in the bowl.", "slice Apple; 2 Apple at Bowl; Bowl at User")],
        [("Put a mug on the desk.", "Mug at Desk"), ("Put the other one in the sink.", "Mug at SinkBasin")],
        [
            ("Put the remote and the tissues on the sofa.", "RemoteControl at Sofa; TissueBox at Sofa"),
            ("Not the tissues, sorry, put those back.", "TissueBox back"),
        ],
        [
            ("Put the fork and the spoon on the desk.", "Fork at Desk; Spoon at Desk"),
            ("Not the fork, put it back.", "Fork back"),
        ],
        # "It" is of the sentence before, also where that was a question, or was not understood or not done.
        [("Fill the mug.", "fill Mug"), ("Can you read the book to me?", ASKED), ("Bring it over.", "Book at User")],
        [("Fill the mug.", "fill Mug"), ("Read the magazine to me.", ASKED), ("Bring it over.", ASKED)],
        [
            ("Put the tomato on the plate.", "Tomato at Plate"),
            ("Which knife was it?", ASKED),
            ("Wash it.", "clean Knife"),
        ],
        [
            ("Wash the mug.", "clean Mug"),
            ("If it rains, bring me the pillow.", ASKED),
            ("OK, bring it.", "Pillow at User"),
        ],
        [("Wash the mug.", "clean Mug"), ("Is Tom on the bed?", ASKED), ("Bring it.", "Mug at User")],
        [("Switch on the coffee machine.", "switch_on CoffeeMachine"), ("Bring it here.", ASKED)],
        # What is put back has no part in the place of the next.
        [("Put the cup back and the apple in the fridge.", "Cup back; Apple at Fridge")],
        [("Put the cup back and the apple.", "Cup back; Apple back")],
        # What is ruled out is left.
        [("Bring two apples.", "2 Apple at User"), ("Put one of them back and the other in the fridge.", ASKED)],
        [("All the cutlery but not the sharp one goes in the drawer.", ASKED)],
        # Another place is no place: the answer tells it.
        [("Move the plate somewhere else.", ASKED), ("In the fridge.", "Plate at Fridge")],
        [("Put the plate elsewhere.", ASKED), ("On the desk.", "Plate at Desk")],
        [("Move the plate to another place.", ASKED), ("In the fridge.", "Plate at Fridge")],
        [("The cup needs another wash.", "clean Cup"), ("The fork could use another rinse.", "clean Fork")],
        [("Put the fork, not the knife, in the sink.", "Fork at SinkBasin")],
    ],
)
def test_a_conversation_goes_on(turns: list[tuple[str, str]]) -> None:
    conversation = Conversation()
    assert [read(text, conversation) for text, _ in turns] == [wanted for _, wanted in turns]


@pytest.mark.parametrize(
    ("asked", "answer", "following", "wanted"),
    [
        ("What is on the bed?", "In or on the bed: book.", "Bring it.", "Book at User"),
        ("What is on the bed?", "In or on the bed: book and pen.", "Bring it.", ASKED),
        ("What is on the bed?", "In or on the bed: book and pen.", "Bring them.", "Book at User; Pen at User"),
        ("What is on the bed?", "I know of nothing in or on the bed.", "Bring it.", ASKED),
        ("What's in the fridge?", "In or on the fridge: egg and apple.", "Close it.", "close Fridge"),
        ("Is the cup dirty?", "Yes, the cup is dirty.", "Wash it.", "clean Cup"),
        ("Have you finished?", "Nothing is left to do.", "Wash it.", "clean Mug"),
    ],
)
def test_what_an_answer_names_has_been_spoken_of(asked: str, answer: str, following: str, wanted: str) -> None:
    conversation = Conversation()
    read("Fill the mug.", conversation)
    read(asked, conversation)
    READER.answered(answer, HomeClasses(), conversation)
    assert read(following, conversation) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Put the bread in the fridge, please. No, wait, on the dining table.", "Bread at DiningTable"),
        ("Put the mug on the desk. Sorry, next to the kettle.", "Mug near Kettle"),
        ("I don't need the mug any more. Put it back where you found it.", "Mug back"),
        ("Is there anything left of the apple?", "tell Apple exists"),
        ("Oh, and my back hurts. Bring me the pillow from the sofa, would you?", "Pillow at User"),
        ("Bring me the cup, my throat hurts.", "Cup at User"),
        ("Morning. Bring me the mug.", "Mug at User"),
        ("Good morning dear. Bring me the mug.", "Mug at User"),
        ("Good evening! Hi there, bring me the mug.", "Mug at User"),
        ("Bring me the fork. I'd like to have breakfast.", "Fork at User"),
        ("The plate's dirty. Give it a wash, but be quick, Mum is coming.", "clean Plate"),
        # A second wish, a ban, a condition or a correction may stand in these; and one without a request asks.
        ("Ana fancies a sandwich. Bring me the pillow.", ASKED),
        ("My doctor says no salt. Bring me the pillow.", ASKED),
        ("Mum hates it when that happens. Close the window.", ASKED),
        ("The kitchen floats away. Close the window.", ASKED),
        ("Just frobnicate. Open the window.", ASKED),
        ("Bring the plates, all but the cracked one.", ASKED),
        ("My back hurts.", ASKED),
        ("I'd like breakfast.", ASKED),
    ],
)
def test_only_what_rests_on_no_unread_sentence_is_done(text: str, wanted: str) -> None:
    assert read(text) == wanted


def test_what_is_taken_for_no_request_is_told() -> None:
    assert READER.understand("My back hurts. Bring me the cup.").notes == ("I take 'my back hurts' for no request.",)


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("If the cup is dirty, wash it.", ["clean Cup if Cup dirty"]),
        ("Wash the cup if it is dirty.", ["clean Cup if Cup dirty"]),
        ("Wash the cup unless it's clean, and bring me the pen.", ["clean Cup unless Cup clean", "place Pen to User"]),
        ("If the oven is not off, turn it off. Open the window.", ["switch_off Oven unless Oven off", "open Window"]),
        ("Is my laptop open? If it is, shut it.", ["tell Laptop open", "close Laptop if Laptop open"]),
        ("If the mug is clean, fill it, otherwise wash it first.", ["clean Mug unless Mug clean", "fill Mug"]),
        ("If the mug is clean, fill it, otherwise wash it.", ["fill Mug if Mug clean", "clean Mug unless Mug clean"]),
        (
            "Get me an apple. If it's dirty, give it a rinse first.",
            ["clean Apple if Apple dirty", "place Apple to User"],
        ),
        ("Take the cup. If it is dirty, wash it.", ["fetch Cup", "clean Cup if Cup dirty"]),
        ("If the cup is dirty, wash it. Wash the cup.", ["clean Cup if Cup dirty", "clean Cup"]),
        ("If there is an egg, bring it to me.", ["place Egg to User"]),
        ("Where are my keys? Bring them if you find them.", ["place KeyChain to User"]),
        # Nothing that memory could tell now, or left open how far it reaches.
        ("If it rains, close the window.", []),
        ("When the oven is hot, put the bread in it.", []),
        ("If there is no egg, bring me the apple.", []),
        ("If the cup is in the sink, wash it.", []),
        ("Wash the cup and put it on the desk if it is dirty.", []),
    ],
)
def test_condition_that_memory_can_tell_of_goes_with_its_goals(text: str, goals: list[str]) -> None:
    def told(goal: Goal) -> str:
        waits = goal.condition
        return "" if waits is None else f" {'if' if waits.holds else 'unless'} {waits.asked.target} {waits.asked.asked}"

    found = READER.understand(text)
    assert [f"{goal}{told(goal)}" for goal in found.goals] == goals
    assert (found.question is None) == bool(goals)


PEOPLE = {name.lower(): Mention(name, (KINDS.recipient,), thing_id=name) for name in ("Nils", "Berta")}


@pytest.mark.parametrize(
    ("turns", "given"),
    [
        (["Nils is hungry. Bring him an egg."], ["Egg Nils"]),
        (["Nils is hungry. Bring him an egg.", "Oh right. An apple, then."], ["Egg Nils", "Apple Nils"]),
        (["Take the mug to Nils.", "Bring Berta the cup now.", "Give him the fork."], ["Mug Nils", "Cup Berta", ASKED]),
        (
            ["Nils is here. Bring him a fork.", "Berta asks for a cup.", "Give him a pen."],
            ["Fork Nils", "Cup Berta", ASKED],
        ),
        (["Find the remote control and give it to Berta."], ["RemoteControl Berta"]),
        (["Nils would like the newspaper."], ["Newspaper Nils"]),
        (["Nils would like some water. Fill the mug and bring it to him."], ["Mug ", "Mug Nils"]),
        (["Bring Nils an egg. The same for Berta."], ["Egg Nils", "another Egg Berta"]),
        (["Bring Nils an egg.", "Same for Berta."], ["Egg Nils", "another Egg Berta"]),
        (["Wash the cup and bring it to Nils.", "Same for Berta."], ["Cup ", "Cup Nils", ASKED]),
        (["Bring her the fork."], [ASKED]),
        (["Put the fork on the desk.", "Frobnicate the fork.", "Same for Berta."], ["Fork desk", ASKED, ASKED]),
    ],
)
def test_who_is_spoken_of_gets_it(turns: list[str], given: list[str]) -> None:
    conversation, home, read_as = Conversation(), HomeClasses(people=PEOPLE), []
    for text in turns:
        found = READER.understand(text, home, conversation=conversation)
        places = [
            (one, one.destination.thing_id or one.destination.text if one.destination else "") for one in found.goals
        ]
        read_as += [f"{'another ' if one.target.another else ''}{one.target} {place}" for one, place in places]
        read_as += [ASKED] if found.question is not None else []
    assert [one.replace("the desk", "desk") for one in read_as] == given


def test_goodbye_ends_the_conversation() -> None:
    conversation = Conversation()
    read("wash the apple", conversation)
    assert read("thanks, that will be all", conversation) == "stop"
    assert read("slice it", conversation) == ASKED


def test_an_endless_text_is_refused() -> None:
    found = READER.understand("put the mug in the sink and " * (LONGEST_CHARACTERS // 20))
    assert not found.goals
    assert found.refused


def test_classes_and_rooms_of_memory_are_named_as_they_are_spelt() -> None:
    home = HomeClasses(frozenset({"GardenGnome"}), frozenset({"Shelf"}), frozenset({"tower room"}))
    assert read("put the garden gnome on the shelf", home=home) == "GardenGnome at Shelf"
    assert read("go to the tower room", home=home) == "go tower room"


def test_open_names_are_classes_of_their_own() -> None:
    reader = Understander(KINDS, None, None, asks=False, open_names=True)
    goals = reader.understand("put the flumbert in the drawer").goals
    assert [str(goal) for goal in goals] == ["place flumbert to Drawer"]


def test_goals_of_a_model_are_held_against_plain_words() -> None:
    mug = READER.understand("put the mug in the sink").goals
    assert READER.objection("put the mug in the sink", mug, HomeClasses()) == ""
    assert "Mug" in READER.objection("put the vase in the sink", mug, HomeClasses())
    assert READER.objection("where is the mug?", mug, HomeClasses()) == "it is a question"
    assert READER.objection("do something nice with it", mug, HomeClasses()) == ""


def test_what_a_model_read_is_taken_over() -> None:
    conversation = Conversation()
    READER.overheard("the apple wants a bath", READER.understand("wash the apple").goals, HomeClasses(), conversation)
    assert read("now slice it", conversation) == "slice Apple"


def test_room_of_a_kind_is_known_by_it() -> None:
    home = HomeClasses(rooms=frozenset({"bedroom 1", "bedroom 2", "kitchen 1"}))
    found = READER.understand("Take the books to the bedroom and put them on the desk.", home)
    (goal,) = found.goals
    assert (goal.destination.object_class, goal.destination.room) == ("Desk", "bedroom")
    assert READER.understand("Take the book to the attic.", home).question is not None


class ScriptedGoals:
    """Stands for the trained reader: what it reads in which words, and which class of several it prefers."""

    def __init__(self, several: float = 1.0) -> None:
        self._several = several

    def fits(self, _sentence: str) -> bool:
        return True

    def predict(self, sentence: str, _home: HomeClasses) -> Prediction:
        if "leafy" in sentence and "," not in sentence:
            return Prediction(Goal(GoalKind.PLACE, Mention("", ("Lettuce",)), Mention("", ("SinkBasin",))), 0.9)
        if "lovely" in sentence and "," not in sentence:
            return Prediction(Goal(GoalKind.FIND, Mention("", ("Cup",))), 0.1, remark=0.9)
        return Prediction(Goal(GoalKind.HEAT, Mention("", ("Egg",))), 0.5, several=self._several)

    def preferred(self, sentence: str, _home: HomeClasses, _slot: str, among: Sequence[str]) -> str:
        return next(name for name in among if name == ("DiningTable" if "plate" in sentence else "SideTable"))


def unasked(text: str, several: float = 1.0) -> str:
    """Return the effects of what is read where nobody can be asked."""
    reader = Understander(KINDS, cast(GoalModel, ScriptedGoals(several)), None, asks=False)
    home = HomeClasses(frozenset({"Mug", "Plate"}), frozenset({"DiningTable", "SideTable"}))
    return "; ".join(effects(reader.understand(text, home).goals))


def test_unasked_only_the_clause_that_is_not_plain_is_guessed() -> None:
    said = "Put the lettuce in the fridge, then maybe the leafy one into something wet, and wash the mug."
    assert unasked(said) == "Lettuce at Fridge; Lettuce at SinkBasin; clean Mug"
    assert unasked(said, several=0.0) == "heat Egg"


def test_unasked_a_clause_that_asks_for_nothing_is_left_out() -> None:
    assert unasked("Lovely light in that corner isn't it; wash the mug") == "clean Mug"


def test_unasked_its_own_clause_tells_which_of_several_is_meant() -> None:
    assert unasked("Put the mug on the table, wash the plate.") == "Mug at SideTable; clean Plate"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("put the vase on a table", ("CoffeeTable", "DiningTable", "SideTable")),
        ("put the vase on any table", ("CoffeeTable", "DiningTable", "SideTable")),
        ("put the vase on the table", ()),
        ("turn on a lamp", ("DeskLamp", "FloorLamp")),
        ("turn on the lamp", ()),
    ],
)
def test_of_several_kinds_any_will_do_where_the_words_say_so(text: str, wanted: tuple[str, ...]) -> None:
    home = HomeClasses(frozenset({"DeskLamp", "FloorLamp", "CoffeeTable", "DiningTable", "Desk", "SideTable", "Vase"}))
    found = READER.understand(text, home)
    assert (found.question is None) is bool(wanted)
    for goal in found.goals:
        assert (goal.destination or goal.target).candidates == wanted


def test_what_is_ruled_out_of_a_group_is_left() -> None:
    home = HomeClasses(frozenset({"Fork", "Spoon", "Knife"}), frozenset({"Drawer"}))
    wanted = "all Fork at Drawer; all Spoon at Drawer"
    assert read("All the cutlery goes in the drawer, except the knife.", home=home) == wanted
    conversation = Conversation()
    read("Wash the fork.", conversation, home)
    assert read("All the cutlery except the knife goes in the drawer.", conversation, home) == wanted


def test_the_one_that_is_ruled_out_is_told_by_its_place_and_stays_so() -> None:
    conversation = Conversation()
    turns = ("Where's the other book, not the one on the desk?", "Put that one on the shelf.", "Bring me the book.")
    goals = [READER.understand(text, conversation=conversation).goals[0] for text in turns]
    assert [goal.target.off for goal in goals] == [("Desk",), ("Desk",), ()]
