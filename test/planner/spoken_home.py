"""Homes as a reader of instructions is told of them: with what is named, with other things, and with nothing."""

from memory_node.planner.reading.home_classes import HomeClasses

EMPTY = HomeClasses()
# What the tests' instructions name; one of each, and three tables.
KNOWN = HomeClasses(
    frozenset(
        [
            "Apple",
            "Book",
            "Bowl",
            "Bread",
            "CellPhone",
            "Cup",
            "Egg",
            "Fork",
            "KeyChain",
            "Knife",
            "Mug",
            "Pen",
            "Pillow",
            "Plate",
            "Potato",
            "Spoon",
            "Tomato",
        ]
    ),
    frozenset(
        [
            "Bed",
            "CoffeeTable",
            "CounterTop",
            "DiningTable",
            "Drawer",
            "FloorLamp",
            "Fridge",
            "Microwave",
            "Shelf",
            "SideTable",
            "SinkBasin",
            "Sofa",
            "StoveBurner",
        ]
    ),
    frozenset({"kitchen", "bedroom"}),
)
# A home that has been seen in part: nothing that the tests' instructions name.
OTHER_THINGS = HomeClasses(
    frozenset(["AlarmClock", "Candle", "Newspaper", "Vase"]), frozenset(["ArmChair", "Dresser", "GarbageCan", "Safe"])
)
HOMES = {"known": KNOWN, "other things known": OTHER_THINGS, "nothing known": EMPTY}
