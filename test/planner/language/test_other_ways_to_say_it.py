"""What people say in other ways than as a plain command means the plain command."""

import pytest
from plain_reading import read


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("get the grease off the pan", "clean Pan"),
        ("take the peel off the potato", "slice Potato"),
        ("move the kettle off the burner", "fetch Kettle"),
        ("plate out of the sink", "fetch Plate"),
        ("wash the apple and bring it to me on a plate", "clean Apple; Apple at Plate; Plate at User"),
        ("give the plant some water", "fill HousePlant"),
        ("the plant's dry, give it some water", "fill HousePlant"),
        ("pop a bit of bread in to toast", "slice Bread; heat Bread"),
        ("make me a boiled egg", "heat Egg; Egg at User"),
        ("I fancy some toast", "heat Bread; Bread at User"),
        ("I would like a coffee mug", "Mug at User"),
        ("shine the floor lamp on the newspaper", "examine Newspaper with FloorLamp"),
        ("turn on the lamp by pressing the light switch", "switch_on LightSwitch"),
        ("turn both lamps on, the desk lamp and the floor lamp", "switch_on DeskLamp; switch_on FloorLamp"),
        ("forget it, leave it", "stop"),
        ("get the lamp on the desk turned on", "switch_on DeskLamp"),
        ("get the TV switched off", "switch_off Television"),
        ("reach me the salt", "SaltShaker at User"),
        ("give me a hand towel", "HandTowel at User"),
        ("run and get me the remote", "RemoteControl at User"),
        ("fill the bath", "fill BathtubBasin"),
        ("turn on the TV and sit next to me", "switch_on Television; go User"),
        ("drop the keys right here", "drop KeyChain"),
        ("open the box and tell me what's inside", "open Box; tell Box contents"),
        ("bring me either the apple or the potato", "Apple at User"),
        ("hide the box in the wardrobe", "Box at Wardrobe"),
        ("check the desk for my pen and bring it", "Pen at User"),
        ("look in the cabinet and bring me the bowl", "Bowl at User"),
        ("look in the kitchen and bring me a cup", "Cup at User"),
        ("where on earth is the kettle?", "tell Kettle place"),
        ("meet me in the kitchen", "go kitchen"),
        ("stay", "wait"),
        ("open the box and put the watch inside", "open Box; Watch at Box"),
        ("not the fork, the spoon goes in the drawer", "Spoon at Drawer"),
        ("the plates are dirty, wash them", "clean all Plate"),
        ("three mugs are dirty. Wash them", "clean 3 Mug"),
        ("there are plates in the sink, wash one", "clean Plate"),
        ("I want the blinds down", "close Blinds"),
        ("I want the towel down here", "Towel at User"),
        ("has anyone seen my credit card?", "tell CreditCard place"),
        ("run upstairs and get my laptop", "fetch Laptop"),
    ],
)
def test_verb_in_other_company(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("do the washing of the pot", "clean Pot"),
        ("from the desk to the shelf with the book", "Book at Shelf"),
        ("off to the kitchen with you", "go kitchen"),
        ("I want you in the bathroom", "go bathroom"),
        ("it is too loud with the television on, so off with it", "switch_off Television"),
        ("once the egg is boiled, put it on a plate", "heat Egg; Egg at Plate"),
        ("see the cup and the fork? put them both in the sink", "Cup at SinkBasin; Fork at SinkBasin"),
        ("there is no soap bar left, bring me one", "SoapBar at User"),
    ],
)
def test_order_without_a_verb_in_front(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("the window shouldn't be standing open", "close Window"),
        ("somebody left the microwave open", "close Microwave"),
        ("the coffee table needs two books on it", "2 Book at CoffeeTable"),
    ],
)
def test_complaint_asks_for_what_mends_it(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("not the knife but the spoon goes in the drawer", "Spoon at Drawer"),
        ("not the red cup, the green one, put it in the sink", "Cup at SinkBasin"),
        ("mug on the shelf, actually, make that the desk", "Mug at Desk"),
        ("wipe the desk clean, the dog has been at it", "clean Desk"),
        ("rinse the mug its dirty", "clean Mug"),
        ("put the bowl that's got a crack in it in the bin", "Bowl at GarbageCan"),
        ("put the bottle of wine in the fridge", "WineBottle at Fridge"),
    ],
)
def test_words_beside_the_order_do_not_change_it(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("does the plate need a wash?", "tell Plate clean"),
        ("does the plate need a wash or is it clean?", "tell Plate clean"),
        ("you have not seen my watch, have you?", "tell Watch place"),
    ],
)
def test_question_is_no_order(text: str, meant: str) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    "text", ["leave the mug", "move the mug from the desk", "somebody left the lamp off", "onto the shelf with"]
)
def test_what_stays_open_is_asked(text: str) -> None:
    assert read(text).startswith("asks: ")
