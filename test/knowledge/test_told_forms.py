"""Told sentences become facts, whole or not at all."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.clock import part_of_day
from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.extraction import told_propositions
from memory_node.knowledge.standard_step import StandardStep
from memory_node.knowledge.told.fact import Relation, Term, ToldFact, until_of
from memory_node.knowledge.told.forms import TellingReader

AUCKLAND = ZoneInfo("Pacific/Auckland")
READER = TellingReader(load_catalogue(), AUCKLAND)


def stamp(text: str, zone: ZoneInfo = AUCKLAND) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()) * 10**9


MONDAY = stamp("2026-03-02 08:00")


def read(text: str) -> tuple[ToldFact, ...]:
    return READER.read(text, MONDAY).facts


@pytest.mark.parametrize(
    ("text", "relation", "subject", "object_"),
    [
        ("The lamp in the hall must never be moved.", None, "", ""),
        ("The lamp should be off.", None, "", ""),  # now; it must not stay so for ever
        ("The lamp must stay off.", Relation.NEVER, "lamp", ""),
        ("The safe must be kept locked.", Relation.NEVER, "safe", ""),
        ("Our cat Mimi likes to lie on the laptop, so keep it closed.", Relation.NEVER, "laptop", ""),
        ("Ida can eat anything, but not before dinner.", None, "", ""),
        ("Ben may have anything but it must be warm.", None, "", ""),
        ("Correction: Ben must not have nuts.", Relation.AVOIDS, "Ben", "nuts"),
        ("Do not throw away the newspaper from Saturday.", None, "", ""),  # the one of Saturday, or from then on
        ("The milk from Monday is off.", None, "", ""),
        ("The vase is old, so nobody may move it.", Relation.NEVER, "vase", ""),
        ("The ring lies in the dish... no, in the bowl, so nobody should wash that bowl.", Relation.NEVER, "bowl", ""),
        ("Leo may have anything except bread.", Relation.AVOIDS, "Leo", "bread"),
        ("It's Tom who is allergic to eggs.", Relation.AVOIDS, "Tom", "eggs"),
        ("Dad usually takes a nap after lunch.", Relation.DOES, "Dad", "takes a nap after lunch"),
        ("Ida plays chess on Sundays.", Relation.DOES, "Ida", "plays chess on Sundays"),
        ("Ida usually takes the blue mug when she is sad.", None, "", ""),
        ("The statue must never be moved.", Relation.NEVER, "statue", ""),
        ("The bread must not be put in the microwave.", Relation.NEVER, "bread", "microwave"),
        ("The laptop must never be in the kitchen.", Relation.NEVER, "laptop", "kitchen"),
        ("The laptop must stay out of the kitchen.", Relation.NEVER, "laptop", "kitchen"),
        ("Keep the laptop out of the bathroom.", Relation.NEVER, "laptop", "bathroom"),
        ("The laptop is not allowed on the dining table.", Relation.NEVER, "laptop", "dining table"),
        ("The laptop must not be left on the dining table.", Relation.NEVER, "laptop", "dining table"),
        ("The laptop may be in the kitchen again.", Relation.NEVER, "laptop", "kitchen"),
        ("Nobody may touch the laptop.", Relation.NEVER, "laptop", ""),
        ("The oven is out of order until Friday.", Relation.BROKEN, "oven", ""),
        ("The sink in the kitchen is out of order.", Relation.BROKEN, "sink in the kitchen", ""),
        ("The mug on the desk belongs in the cabinet.", Relation.BELONGS, "mug on the desk", "cabinet"),
        ("The mug on the desk is my brother's.", Relation.OWNED, "mug on the desk", "brother"),
        ("Vera must never get wine.", Relation.AVOIDS, "Vera", "wine"),
        ("There are peanuts in the bread.", Relation.CONTAINS, "bread", "peanuts"),
        ("There are eggs in the fridge.", None, "", ""),
        ("There is nothing in the bread.", None, "", ""),
        ("Actually, Vera eats eggs.", Relation.AVOIDS, "Vera", "eggs"),
        ("Vera is not vegan any more.", Relation.AVOIDS, "Vera", "not vegan"),
        ("Vera is no longer vegan.", Relation.AVOIDS, "Vera", "not vegan"),
        ("The oven is no longer broken.", Relation.BROKEN, "oven", ""),
        ("The oven no longer works.", Relation.BROKEN, "oven", ""),
        ("The books belong on the shelf.", Relation.BELONGS, "books", "shelf"),
        ("The cup on the desk is Jonas's.", Relation.OWNED, "cup on the desk", "Jonas"),
        ("Vera is my aunt.", Relation.CALLED, "aunt", "Vera"),
        ("My aunt is called Vera.", Relation.CALLED, "aunt", "Vera"),
        ("Vera is allergic to eggs.", Relation.AVOIDS, "Vera", "eggs"),
        ("Vera is vegan.", Relation.AVOIDS, "Vera", "vegan"),
        ("The wine must not be given to Vera.", Relation.AVOIDS, "Vera", "wine"),
        ("Vera sleeps in the bedroom.", Relation.SLEEPS, "Vera", "bedroom"),
        ("Vera is a teacher.", Relation.IS, "Vera", "a teacher"),
        ("Mrs Lund keeps her watch in the drawer of the bedroom.", Relation.BELONGS, "watch", "drawer of the bedroom"),
        ("The box is for old newspapers.", Relation.BELONGS, "old newspapers", "box"),
        ("Cups are to be stored in the cabinet.", Relation.BELONGS, "Cups", "cabinet"),
        ("Vera is too young for wine.", Relation.AVOIDS, "Vera", "wine"),
        ("Eggs make Mrs Lund sick.", Relation.AVOIDS, "Mrs Lund", "Eggs"),
        ("Vera is fond of apples.", Relation.LIKES, "Vera", "apples"),
        ("Vera's favourite fruit is the apple.", Relation.LIKES, "Vera", "apple"),
        ("We call the teddy bear Bruno.", Relation.CALLED, "bruno", "teddy bear"),
        ("When Vera says breakfast she means an egg.", Relation.CALLED, "breakfast", "egg"),
        ("Vera's seat is the armchair.", Relation.AT, "Vera", "armchair"),
        ("I've put my keys on the TV stand.", Relation.AT, "keys", "TV stand"),
        ("By the way, I left the book on the shelf.", Relation.AT, "book", "shelf"),
        ("Vera has put Vera's keys on the desk.", Relation.AT, "Vera's keys", "desk"),
        ("The dishwasher leaks.", Relation.BROKEN, "dishwasher", ""),
        ("The toaster has stopped working.", Relation.BROKEN, "toaster", ""),
        ("There is something wrong with the oven.", Relation.BROKEN, "oven", ""),
        ("The repairman fixed the oven.", Relation.BROKEN, "oven", ""),
        ("Hands off the statue.", Relation.NEVER, "statue", ""),
        ("I'd rather you didn't use the microwave.", Relation.NEVER, "microwave", ""),
        ("Under no circumstances may the vase be moved.", Relation.NEVER, "vase", ""),
        ("Make sure that the laptop never gets into the kitchen.", Relation.NEVER, "laptop", "kitchen"),
        ("Vera has an egg allergy.", Relation.AVOIDS, "Vera", "egg"),
        ("Please don't give Vera any wine.", Relation.AVOIDS, "Vera", "wine"),
        ("The wine isn't for Vera.", Relation.AVOIDS, "Vera", "wine"),
        ("You'll find the keys in the bowl.", Relation.BELONGS, "keys", "bowl"),
        ("The towels should always hang in the bathroom.", Relation.BELONGS, "towels", "bathroom"),
        ("The watch is a present for Vera.", Relation.OWNED, "watch", "Vera"),
        ("Ever since the flu Vera isn't supposed to have wine.", Relation.AVOIDS, "Vera", "wine"),
        ("Vera stays off wine.", Relation.AVOIDS, "Vera", "wine"),
        ("Keep eggs out of reach of Vera.", Relation.AVOIDS, "Vera", "eggs"),
        ("Eggs don't agree with Vera.", Relation.AVOIDS, "Vera", "Eggs"),
        ("The kettle's place is the shelf.", Relation.BELONGS, "kettle", "shelf"),
        ("Once they're dry, the mugs go back in the cabinet.", Relation.BELONGS, "mugs", "cabinet"),
        ("I'd like the mugs to be on the shelf from now on.", Relation.BELONGS, "mugs", "shelf"),
        ("The mugs live on the desk, no, sorry, in the cabinet.", Relation.BELONGS, "mugs", "cabinet"),
        ("The mugs should end up in the cabinet.", Relation.BELONGS, "mugs", "cabinet"),
        ("The oven has conked out.", Relation.BROKEN, "oven", ""),
        ("We are having problems with the oven.", Relation.BROKEN, "oven", ""),
        ("The lamp won't turn on.", Relation.BROKEN, "lamp", ""),
        ("I don't want anybody fiddling with the statue.", Relation.NEVER, "statue", ""),
        ("The statue stays where it is.", Relation.NEVER, "statue", ""),
        ("The laptop is not to leave the desk.", Relation.NEVER, "laptop", "desk"),
        ("Grandpa gave the watch to Vera for her birthday.", Relation.OWNED, "watch", "Vera"),
        ("Vera got the watch from her aunt.", Relation.OWNED, "watch", "Vera"),
        ("The cup used to be mine, but I gave it to Vera.", Relation.OWNED, "cup", "Vera"),
        ("Everybody here refers to the armchair as the throne.", Relation.CALLED, "throne", "armchair"),
        ("If Vera wants a snack, give her an apple.", Relation.LIKES, "Vera", "apple"),
        ("You'll find Vera at the desk most of the day.", Relation.AT, "Vera", "desk"),
        ("The laptop may leave the kitchen again.", Relation.NEVER, "laptop", "kitchen"),
        ("Never let anybody touch the vase.", Relation.NEVER, "vase", ""),
        ("Don't let Vera have wine.", Relation.AVOIDS, "Vera", "wine"),
        ("Lily's bed is the sofa.", Relation.OWNED, "sofa", "Lily"),
        ("Vera's allergic to nuts.", Relation.AVOIDS, "Vera", "nuts"),
        ("Vera avoids wine.", Relation.AVOIDS, "Vera", "wine"),
        ("Vera must stay away from wine.", Relation.AVOIDS, "Vera", "wine"),
        ("No wine for Vera, please.", Relation.AVOIDS, "Vera", "wine"),
        ("Vera should not be given wine.", Relation.AVOIDS, "Vera", "wine"),
        ("Vera gets sick from eggs.", Relation.AVOIDS, "Vera", "eggs"),
        ("Vera reacts badly to eggs.", Relation.AVOIDS, "Vera", "eggs"),
        ("Vera has coeliac disease.", Relation.AVOIDS, "Vera", "coeliac"),
        ("Vera became vegan.", Relation.AVOIDS, "Vera", "vegan"),
        ("My aunt's name is Ines.", Relation.CALLED, "aunt", "Ines"),
        ("Bruno is our name for the teddy bear.", Relation.CALLED, "bruno", "teddy bear"),
        ("The throne is what Vera calls the armchair.", Relation.CALLED, "throne", "armchair"),
        ("Stay away from the vase.", Relation.NEVER, "vase", ""),
        ("The vase must be left alone.", Relation.NEVER, "vase", ""),
        ("The vase has to stay where it is.", Relation.NEVER, "vase", ""),
        ("It is best not to touch the vase.", Relation.NEVER, "vase", ""),
        ("The oven was repaired.", Relation.BROKEN, "oven", ""),
        ("The dishwasher needs to be fixed.", Relation.BROKEN, "dishwasher", ""),
        ("The place for the keys is the bowl.", Relation.BELONGS, "keys", "bowl"),
        ("The keys have their place in the bowl.", Relation.BELONGS, "keys", "bowl"),
        ("The sofa is where Lily sleeps.", Relation.SLEEPS, "Lily", "sofa"),
        ("The vase has been moved to the bedroom.", Relation.AT, "vase", "bedroom"),
        ("The mug was given to Ben as a present.", Relation.OWNED, "mug", "Ben"),
        ("Vera is not allowed on the sofa.", Relation.AVOIDS, "Vera", "sofa"),
        ("The dog is allowed on the sofa again.", Relation.AVOIDS, "dog", "sofa"),
        ("No kids on the sofa.", Relation.AVOIDS, "kids", "sofa"),
        ("Keep the dog off the sofa.", Relation.AVOIDS, "dog", "sofa"),
        ("Never feed the dog chocolate.", Relation.AVOIDS, "dog", "chocolate"),
        ("Kids are not to handle knives.", Relation.AVOIDS, "Kids", "knives"),
        ("The baby mustn't get hold of the pen.", Relation.AVOIDS, "baby", "pen"),
        ("Keep the knives away from the kids.", Relation.AVOIDS, "kids", "knives"),
        ("Vera must be vegan.", Relation.AVOIDS, "Vera", "vegan"),
        ("Vera eats halal.", Relation.AVOIDS, "Vera", "halal"),
        ("Vera suffers from coeliac disease.", Relation.AVOIDS, "Vera", "coeliac"),
        ("Anything with nuts makes Vera ill.", Relation.AVOIDS, "Vera", "nuts"),
        ("The butter has gone off.", Relation.BROKEN, "butter", ""),
        ("The eggs expired last week.", Relation.BROKEN, "eggs", ""),
        ("The knife is too blunt to cut anything.", Relation.BROKEN, "knife", ""),
        ("No plates on the bed.", Relation.NEVER, "plates", "bed"),
        ("The lamp needs no repair.", None, "", ""),
        ("Vera needs fixing.", None, "", ""),
        ("Vera's called the doctor.", None, "", ""),
        ("Ben should be given the mug.", None, "", ""),
        ("Some of the milk turned sour.", None, "", ""),
        ("Vera got an apple from the fridge.", None, "", ""),
        ("Vera can not run.", None, "", ""),
        ("The dishwasher does not start at night.", None, "", ""),
        ("There is something wrong with Vera.", None, "", ""),
        ("We are saving the candle for the anniversary.", None, "", ""),
        ("Vera wants nothing.", None, "", ""),
        ("Don't give me any apples.", Relation.AVOIDS, "I", "apples"),
        ("Vera likes her bread burnt.", None, "", ""),
        ("We are having problems with nuts.", None, "", ""),
        ("Jonas has not fixed the oven yet.", None, "", ""),
        ("Vera has a new mug.", None, "", ""),
        ("Vera got the mug for Jonas.", None, "", ""),
        ("Vera's problem is the oven.", None, "", ""),
        ("The keys do not belong to Vera.", None, "", ""),
        ("The keys used to be in the bowl.", None, "", ""),
        ("The knife is for the bread.", None, "", ""),
        ("The vase does not have to be moved.", None, "", ""),
        ("You do not have to wash the mug.", None, "", ""),
        ("Vera does not have a mug.", None, "", ""),
        ("Vera gets her mail from the dresser.", None, "", ""),
        ("Vera does not work at the desk.", None, "", ""),
        ("Vera never puts her keys in the bowl.", None, "", ""),
        ("We eat in ten minutes.", None, "", ""),
        ("The mug belonged to Vera.", None, "", ""),
        ("Nobody likes the statue.", None, "", ""),
        ("Bring me the fork, I mean the spoon.", None, "", ""),
        ("Where is my laptop?", None, "", ""),
        ("This is my mug.", None, "", ""),
        ("I would like to sit on the sofa.", None, "", ""),
        ("The mug isn't Vera's.", None, "", ""),
        ("The laptop is not in the kitchen.", None, "", ""),
        ("The apple was not washed.", None, "", ""),
        ("Never on a chair.", None, "", ""),
        ("It rained all night, which nobody had expected.", None, "", ""),
    ],
)
def test_plain_sentence_is_read_by_what_it_says(
    text: str, relation: Relation | None, subject: str, object_: str
) -> None:
    facts = read(text)
    if relation is None:
        assert facts == ()
        return
    assert [(fact.relation, fact.subject.words, fact.object.words) for fact in facts] == [(relation, subject, object_)]
    assert facts[0].text == text


def test_fact_of_several_things_or_verbs_is_one_for_each() -> None:
    broken = read("The oven and the microwave are out of order until Friday.")
    assert [(fact.subject.classes[0], fact.until_ns) for fact in broken] == [
        ("Oven", stamp("2026-03-06 00:00")),
        ("Microwave", stamp("2026-03-06 00:00")),
    ]
    assert [fact.verb for fact in read("The apple must not be heated or sliced.")] == ["heat", "slice"]
    assert read("The oven and the frobnicator are out of order.") == ()


@pytest.mark.parametrize(
    "text",
    [
        "The bread does not contain nuts.",
        "The bread contains no nuts.",
        "There aren't any nuts in the bread.",
        "There are no nuts in the bread.",
    ],
)
def test_what_food_is_said_not_to_contain_takes_back_that_it_does(text: str) -> None:
    (without,), (within,) = read(text), read("The bread contains nuts.")
    assert not without.holds
    assert without.replaces(within)


def test_person_named_with_a_role_has_that_role_too() -> None:
    called, avoids = read("My niece Vera, is vegan at the moment.")
    assert (called.relation, called.subject.words, called.object.words) == (Relation.CALLED, "niece", "Vera")
    assert (avoids.relation, avoids.subject.words) == (Relation.AVOIDS, "Vera")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("The watch? That's Vera's.", "The watch is Vera's."),
        ("Oh, the mug on the desk - it's mine.", "Oh, the mug on the desk is mine."),
        ("Never touch the oven - it is hot.", "Never touch the oven - it is hot."),
        ("The keys are in the drawer - they are Vera's.", "The keys are in the drawer - they are Vera's."),
    ],
)
def test_topic_is_what_the_rest_is_said_of(said: str, kept: str) -> None:
    step = StandardStep("told:x:0", state="told", action=said, stamp_ns=MONDAY)
    assert [one.text for one in told_propositions(step, lambda _said, _step: ())] == [kept]


@pytest.mark.parametrize("text", ["Do not handle the vase.", "You must not handle the vase."])
def test_what_must_not_be_handled_is_not_forbidden_to_be_eaten(text: str) -> None:
    assert [(one.relation, one.verb) for one in read(text)] == [(Relation.NEVER, "handle")]
    (fact,) = read("Vera can not handle eggs.")
    assert (fact.relation, fact.object.words) == (Relation.AVOIDS, "eggs")


@pytest.mark.parametrize("text", ["Vera has her apple sliced.", "Vera only eats an apple sliced."])
def test_how_somebody_likes_a_thing_is_kept_with_what_is_liked(text: str) -> None:
    (liked,) = read(text)
    assert (liked.relation, liked.object.classes, liked.object.attributes) == (Relation.LIKES, ("Apple",), "sliced")


def test_things_that_are_shared_are_of_each() -> None:
    assert [fact.object.words for fact in read("Vera and Jonas share the armchair.")] == ["Vera", "Jonas"]


def test_ban_may_hold_at_a_time_of_the_day() -> None:
    (ban,) = read("The television must not be turned on in the evening.")
    assert (ban.verb, ban.part_of_day, ban.object.words) == ("turn on", "evening", "")


@pytest.mark.parametrize(
    ("ban", "end"),
    [
        ("The laptop must never be in the kitchen.", "The laptop may be in the kitchen again."),
        ("The mug must not be put in the microwave.", "Actually, the mug can go in the microwave."),
        ("The statue must never be moved.", "The statue may be moved again."),
    ],
)
def test_ban_of_a_deed_or_a_place_ends_when_it_is_allowed_again(ban: str, end: str) -> None:
    (never,), (allowed,), (elsewhere,) = read(ban), read(end), read("The laptop may be put on the bed.")
    assert allowed.replaces(never)
    assert not elsewhere.replaces(never)


def test_what_somebody_eats_after_all_ends_that_they_do_not() -> None:
    (avoids,), (eats,) = read("Vera doesn't eat eggs."), read("Actually, Vera eats eggs.")
    assert eats.replaces(avoids)
    (vegan,), (not_vegan,) = read("Vera is vegan."), read("Vera is not vegan any more.")
    assert not_vegan.replaces(vegan)


def test_fact_of_several_people_is_one_for_each() -> None:
    assert [fact.subject.words for fact in read("Vera, Jonas and Kim don't eat bread or eggs.")] == [
        "Vera",
        "Vera",
        "Jonas",
        "Jonas",
        "Kim",
        "Kim",
    ]
    both = read("Both Vera and Kim are allergic to eggs."), read("Vera and Kim are both allergic to eggs.")
    assert [[(one.relation, one.subject.words) for one in facts] for facts in both] == [
        [(Relation.AVOIDS, "Vera"), (Relation.AVOIDS, "Kim")]
    ] * 2


@pytest.mark.parametrize("opening", ["", "Actually, ", "Remember that ", "Please, ", "From now on "])
def test_openings_and_fillers_change_nothing(opening: str) -> None:
    (fact,) = read(f"{opening}the keys now belong in the bowl.")
    assert (fact.relation, fact.object.classes) == (Relation.BELONGS, ("Bowl",))


def test_stored_fact_reads_back_whole_and_a_broken_one_is_an_error() -> None:
    for text in ("In the evening the laptop belongs on the desk.", "The blue mug on the desk is Kim's."):
        for fact in read(text):
            assert ToldFact.from_json(fact.to_json()) == fact
    for broken in ("", "[]", "{}", '{"relation": "nonsense"}', '{"relation": "is", "subject": 3}'):
        with pytest.raises(InvalidValueError):
            ToldFact.from_json(broken)


def test_later_fact_replaces_only_what_has_one_value() -> None:
    (belongs,), (elsewhere,) = read("The keys belong in the bowl."), read("The keys belong on the dresser.")
    (evening,) = read("In the evening the keys belong on the dresser.")
    (eggs,), (bread,) = read("Kim is allergic to eggs."), read("Kim is allergic to bread.")
    (broken,), (works) = read("The oven is broken."), read("The oven works again.")
    assert elsewhere.replaces(belongs)
    assert not evening.replaces(belongs)
    assert not bread.replaces(eggs)
    assert works[0].replaces(broken)
    assert not works[0].true_at(MONDAY)


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        ("Tuesday", "2026-03-03 00:00"),
        ("Monday", "2026-03-09 00:00"),
        ("tomorrow", "2026-03-03 00:00"),
        ("tomorrow evening", "2026-03-03 17:00"),
        ("noon", "2026-03-02 12:00"),
        ("tonight", "2026-03-02 17:00"),
        ("7:30", "2026-03-03 07:30"),
        ("6 pm", "2026-03-02 18:00"),
        ("2026-03-20", "2026-03-20 00:00"),
    ],
)
def test_until_is_counted_in_local_time(words: str, ends: str) -> None:
    assert until_of(words, MONDAY, AUCKLAND) == stamp(ends)


def test_until_across_the_end_of_summer_time_keeps_the_clock() -> None:
    saturday = stamp("2026-04-04 18:30")  # clocks go back on the 5th at 3:00
    assert until_of("Monday", saturday, AUCKLAND) == stamp("2026-04-06 00:00")
    assert until_of("Monday", saturday, AUCKLAND) != saturday + round(29.5 * 3600) * 10**9


def test_unreadable_until_is_no_fact() -> None:
    assert until_of("the cows come home", MONDAY, AUCKLAND) is None
    assert read("The oven is broken until the cows come home.") == ()


def test_part_of_day_is_local() -> None:
    evening = stamp("2026-03-02 18:30", ZoneInfo("America/Los_Angeles"))
    assert part_of_day(evening, ZoneInfo("America/Los_Angeles")) == "evening"
    assert part_of_day(evening, ZoneInfo("UTC")) == "night"


def test_thing_with_an_adjective_is_told_apart() -> None:
    (fact,) = read("The blue mug is Kim's.")
    assert fact.subject == Term("blue mug", ("Mug",), "blue")


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Never turn the lamp off in the kitchen.", "turn off"),
        ("The lamp in the kitchen must stay on.", "turn off"),
        ("Leave the lamp in the kitchen on.", "turn off"),
        ("Keep the fridge in the kitchen shut.", "open"),
        ("The fridge in the kitchen must be kept shut.", "open"),
        ("The fridge in the kitchen stays closed because the power is out.", "open"),
    ],
)
def test_what_is_to_stay_as_it_is_must_not_be_changed(text: str, verb: str) -> None:
    [fact] = read(text)
    assert (fact.relation, fact.verb, fact.subject.room) == (Relation.NEVER, verb, "kitchen")


@pytest.mark.parametrize(
    "text",
    ["You left the fridge open.", "I left the lamp on.", "Vera left the fridge open.", "Vera kept the window open.",
     "I put the lamp on.", "The window may be open.", "The lamp can stay on."],
)  # fmt: skip
def test_how_a_thing_was_left_or_may_be_is_no_rule_and_no_place(text: str) -> None:
    assert not [one for one in read(text) if one.holds]


@pytest.mark.parametrize(
    "text",
    ["Vera is vegan and Jonas is too.", "Vera is vegan and so is Jonas.", "Vera is vegan, so no eggs for her."],
)
def test_second_clause_says_of_another_or_of_the_same_what_it_leaves_out(text: str) -> None:
    first, second = read(text)
    assert (first.subject.words, first.object.words) == ("Vera", "vegan")
    assert (second.subject.words, second.object.words) in (("Jonas", "vegan"), ("Vera", "eggs"))


def test_each_clause_of_a_sentence_is_read_with_its_subject() -> None:
    both = [
        (one.relation, one.subject.words, one.object.words) for one in read("Vera is vegan and sleeps on the sofa.")
    ]
    assert both == [(Relation.AVOIDS, "Vera", "vegan"), (Relation.SLEEPS, "Vera", "sofa")]
    thing = [(one.relation, one.subject.words) for one in read("The oven is broken, so never use the oven.")]
    assert thing == [(Relation.BROKEN, "oven"), (Relation.NEVER, "oven")]


def test_clause_under_a_condition_is_not_taken_for_a_fact_of_its_own() -> None:
    assert read("The oven is hot when it works and must never be opened then.") == ()


def test_sentence_that_is_read_in_part_says_so() -> None:
    assert [one.is_part for one in read("The watch is Kim's and is worth a fortune.")] == [True]
    assert [one.is_part for one in read("The watch is Kim's and belongs on the desk.")] == [False, False]


@pytest.mark.parametrize(
    "said", ["Do not give nuts to Ida.", "Don't offer Ida any nuts.", "Ida isn't allowed any nuts."]
)
def test_what_is_not_to_be_given_to_somebody_is_avoided(said: str) -> None:
    [fact] = read(said)
    assert (fact.relation, fact.subject.words, fact.object.words) == (Relation.AVOIDS, "Ida", "nuts")


@pytest.mark.parametrize(
    "said",
    [
        "Ida must not be woken before nine.",
        "Ida must be in bed by nine.",
        "The vase must never be sold.",
        "The lamp is off.",
        "Wen cannot hold heavy things.",
        "Vera wants the towels folded in the dresser, not in the cabinet.",
        "We are out of butter.",
    ],
)
def test_rule_that_would_hold_the_robot_to_nothing_is_not_read(said: str) -> None:
    assert read(said) == ()


def test_thing_is_named_by_what_stands_before_one() -> None:
    [fact] = read("Actually, Lena's mug is the blue one.")
    assert (fact.relation, fact.subject.words, fact.object.words) == (Relation.OWNED, "blue mug", "Lena")


def test_left_is_no_verb_behind_the() -> None:
    leaks, banned = read("The left tap leaks, don't use it.")
    assert (leaks.relation, banned.verb, leaks.is_part) == (Relation.BROKEN, "use", False)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("For the next two days nobody may use the microwave.", 48),
        ("Nobody may use the oven for the next three hours.", 3),
        ("The oven is out of order for another week.", 7 * 24),
    ],
)
def test_what_holds_for_so_long_ends_then(text: str, hours: int) -> None:
    (one,) = read(text)
    assert one.until_ns - MONDAY == hours * 3600 * 10**9


@pytest.mark.parametrize(
    "text", ["Neither Klara nor Kurt likes tomatoes.", "Neither Klara nor Kurt can have tomatoes."]
)
def test_neither_nor_is_of_both(text: str) -> None:
    assert [(one.relation, one.subject.words) for one in read(text)] == [
        (Relation.AVOIDS, "Klara"),
        (Relation.AVOIDS, "Kurt"),
    ]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("From Thursday on the safe must stay locked.", 3),
        ("Starting tomorrow nobody may use the oven.", 1),
        ("The oven is out of order from Thursday until Friday.", 3),
        ("The oven is out of order from Sunday until Tuesday.", 6),
    ],
)
def test_what_holds_from_a_day_on_does_not_before(text: str, days: int) -> None:
    (one,) = read(text)
    begin = stamp("2026-03-02 00:00") + days * 24 * 3600 * 10**9
    assert not one.true_at(begin - 1)
    assert one.true_at(begin + 1)


def test_what_is_said_aside_of_somebody_is_a_fact_of_its_own() -> None:
    role, avoids = read("Ulla, our guest, doesn't touch alcohol.")
    assert (role.relation, role.object.words) == (Relation.IS, "our guest")
    assert (avoids.relation, avoids.subject.words, avoids.object.classes) == (Relation.AVOIDS, "Ulla", ("WineBottle",))


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("The vase stands on the table, do not touch it.", "Vase"),
        ("My watch is in the drawer and nobody may touch it.", "Watch"),
        ("Anna put the vase on the shelf, do not move it.", "Vase"),
        ("Ben keeps his pen in the drawer, do not touch it.", "Pen"),
        ("Ida sleeps on the sofa, so do not move it.", "Sofa"),
    ],
)
def test_it_is_the_first_thing_and_not_where_that_is(text: str, thing: str) -> None:
    assert [one.subject.classes for one in read(text) if one.relation is Relation.NEVER] == [(thing,)]


@pytest.mark.parametrize(
    "text", ["Robot, the vase, do not touch it.", "Today, the oven, the microwave and the fridge fail."]
)
def test_what_is_called_to_the_robot_is_no_role(text: str) -> None:
    assert Relation.IS not in {one.relation for one in read(text)}


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (
            "In the evening the laptop belongs on the desk, in the morning on the shelf.",
            [("belongs", "desk", "evening", True), ("belongs", "shelf", "morning", True)],
        ),
        (
            "The laptop belongs on the desk at night and on the shelf in the morning.",
            [("belongs", "desk", "night", True), ("belongs", "shelf", "morning", True)],
        ),
        ("I've changed my mind, the vase lives on the shelf now.", [("belongs", "shelf", "", True)]),
        ("I take that back, the spoon may go into the sink.", [("never", "sink", "", False)]),
        ("The paint is dry, the vase can be moved again.", [("never", "", "", False)]),
        ("The toaster is out of action.", [("broken", "", "", True)]),
        (
            "The mug on the shelf is Paul's, mine is in the drawer.",
            [("owned", "Paul", "", True), ("owned", "I", "", True)],
        ),
    ],
)
def test_second_clause_says_when_where_or_that_it_is_over(said: str, facts: list[tuple[str, str, str, bool]]) -> None:
    found = read(said)
    assert [(str(one.relation), one.object.words, one.part_of_day, one.holds) for one in found] == facts


@pytest.mark.parametrize(("words", "hours"), [("four in the afternoon", 16), ("six in the morning", 30), ("9 pm", 21)])
def test_hour_is_of_the_part_of_the_day_that_is_said(words: str, hours: int) -> None:
    noon = 12 * 3600 * 10**9
    assert until_of(words, noon, ZoneInfo("UTC")) == hours * 3600 * 10**9
