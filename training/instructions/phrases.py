"""The patterns that augment the training words: x target, y destination, m container, l lamp, o and f others."""

from __future__ import annotations

from memory_node.domain.skill_library import GoalKind

COLOURS: tuple[str, ...] = (
    "red",
    "blue",
    "white",
    "black",
    "green",
    "yellow",
    "brown",
    "small",
    "large",
    "metal",
    "wooden",
    "silver",
)
COLOURS += ("grey", "pink", "round", "dark", "old", "glass", "plastic", "gold", "purple", "orange")

# where a thing or a place is: {o} another thing, {f} a piece of furniture
SITES: tuple[str, ...] = (
    " by the window",
    " to the left of the door",
    " next to the wall",
    " in the corner",
    " across the room",
    " on the right",
    " closest to you",
    " at the back",
    " over there",
    " beside the {f}",
    " under the {f}",
    " to the right of the {f}",
    " left of the {f}",
    " near the {o}",
    " next to the {o}",
)
# where the target is found: as SITES, but it may also lie on or in furniture
SOURCES: tuple[str, ...] = (
    *SITES,
    " from the {f}",
    " on the {f}",
    " in the {f}",
    " that is on the {f}",
    " which lies on the {f}",
    " lying on the {f}",
    " that is beside the {o}",
    " standing behind the {o}",
    " from behind the {f}",
    " found on top of the {f}",
    " between the {o} and the {f}",
    " that somebody left in the {f}",
)

POLITE: tuple[str, ...] = (
    "please {}",
    "could you {}",
    "I need you to {}",
    "can you {} for me",
    "I would like you to {}",
    "robot, {}",
)
POLITE += ("go and {}", "your task is to {}", "it would be great if you could {}", "{}, please", "now {}")

CONNECTORS = (", ", ". ", ", then ", " and ", ", and then ", "; ", ". Then ", " and then ", ", after that ")

# clauses that hang on to the sentence that they stand before or behind
DISTRACTIONS_BEFORE = (
    "although there is a {o} in the {f}, ",
    "even though the {o} is nearby, ",
    "ignore the {o} and ",
    "while the {o} stays on the {f}, ",
    "without touching the {o}, ",
    "despite the {o} near the {f}, ",
    "since the {f} is full, ",
    "as the {f} is out of order, ",
    "when you pass the {f}, leave the {o} alone and ",
    "instead of the {o}, ",
    "rather than the {o}, ",
    "even if the {f} is closer, ",
    "because the {f} has no room left, ",
    "unlike the {o}, which is fine, ",
    "it is not about the {o}: ",
    "apart from the {o}, ",
)
DISTRACTIONS_AFTER = (
    ", not the {o}",
    ", and leave the {o} where it is",
    ", although a {o} lies on the {f}",
    ", never mind the {o}",
    " while the {o} stays on the {f}",
    ", even if you see a {o} first",
    " so that everything is ready for tonight",
    ", no matter where the {o} is",
    " without moving the {o}",
    " because my friends will be here soon",
    ", but keep your hands off the {o}",
    " instead of the {o}",
)
# whole sentences that ask for nothing; {x} is what the instruction is about
REMARKS = (
    "the {o} is on the {f}",
    "there is a {o} in the {f}",
    "somebody left a {o} by the {f}",
    "there is also a {o} near the {f}",
    "the {f} is full",
    "the {f} does not matter",
    "I like how the {f} looks",
    "the {o} is not what I am after",
    "the {o} may stay on the {f}",
    "the {o} is all right as it is",
    "you do not have to wash the {o}",
    "there is no need to heat the {o}",
    "do not move the {o}",
    "don't put the {o} in the {f}",
    "please leave the {o} in peace",
    "pay no attention to the {o}",
    "forget the {o}",
    "I have already taken care of the {o}",
    "I washed the {o} this morning",
    "I just cleaned the {f}",
    "my mother put the {o} on the {f} yesterday",
    "my flatmate cooled the {o} for me",
    "the {o} belongs to a friend",
    "I wanted to clean the {o} but had no time",
    "we bought the {f} last year",
    "the {f} makes a strange noise",
    "guests arrive soon",
    "guests arrive soon and the {f} is tidy",
    "it is a busy evening",
    "lunch was great",
    "I am tired today",
    "I am cooking for my parents tonight",
    "it rains and we stay at home",
    "the room looks untidy",
    "everyone loves the {o}",
    "some {o} was used for breakfast and the {f} is still wet",
    "the {o} next to the {f} is old",
    "I do not know where the {x} is",
    "the {x} is not where it should be",
    "I nearly forgot the {x}",
)
REMARK_BEFORE = ("{r}. ", "{r}; ", "{r}, but ", "{r}, so ", "{r}. So ", "{r}. Anyway, ", "{r}; now ", "{r} and yet, ")
REMARK_AFTER = (". {r}", "; {r}", ", since {r}", " - {r}", ", because {r}")

_K = GoalKind
GOAL_TEMPLATES: dict[str, tuple[str, ...]] = {
    _K.PLACE.value: (
        "put {x} {p} {y}",
        "place {x} {p} {y}",
        "move {x} to {y}",
        "take {x} and set it {p} {y}",
        "{x} belongs {p} {y}, bring it there",
        "find {x} and leave it {p} {y}",
        "I want {x} to be {p} {y}",
        "get {x} over to {y}",
        "store {x} {p} {y}",
        "transfer {x} to {y}",
        "there should be {x} {p} {y}",
    ),
    _K.PLACE_TWO.value: (
        "put two {xs} {p} {y}",
        "place both {xs} {p} {y}",
        "move two {xs} to {y}",
        "gather a couple of {xs} {p} {y}",
        "put a {bare} {p} {y}, then put another {bare} there as well",
        "collect the two {xs} and leave them {p} {y}",
        "I want a pair of {xs} {p} {y}",
        "bring the {xs} to {y}",
        "put the first {bare} {p} {y} and add the second one",
    ),
    _K.STACK.value: (
        "put {x} {q} {m} and place it {p} {y}",
        "put {m} with {x} in it {p} {y}",
        "place {x} {q} {m}, then move {m} to {y}",
        "set {m} holding {x} {p} {y}",
        "I want {m} with {x} inside {p} {y}",
        "move {m} that has {x} on it to {y}",
        "drop {x} into {m} and bring both to {y}",
        "use {m} to carry {x} to {y}",
    ),
    _K.CLEAN.value: (
        "wash {x} and put it {p} {y}",
        "put a clean {bare} {p} {y}",
        "rinse {x} under the tap, then leave it {p} {y}",
        "{x} is dirty, wash it and put it {p} {y}",
        "place the washed {bare} {p} {y}",
        "clean {x} before you put it {p} {y}",
        "I want a spotless {bare} {p} {y}",
        "give {x} a rinse and move it to {y}",
        "get the dirt off {x} and set it {p} {y}",
        "soak {x} in the sink and bring it to {y}",
    ),
    _K.HEAT.value: (
        "heat {x} and put it {p} {y}",
        "put a hot {bare} {p} {y}",
        "warm up {x} in the microwave, then place it {p} {y}",
        "cook {x} and leave it {p} {y}",
        "place the microwaved {bare} {p} {y}",
        "I would like a warm {bare} {p} {y}",
        "serve a cooked {bare} {p} {y}",
        "microwave {x} and move it to {y}",
    ),
    _K.COOL.value: (
        "chill {x} and put it {p} {y}",
        "put a cold {bare} {p} {y}",
        "cool {x} in the fridge, then place it {p} {y}",
        "refrigerate {x} for a moment and leave it {p} {y}",
        "place the chilled {bare} {p} {y}",
        "I would like a cold {bare} {p} {y}",
        "let {x} get cold and move it to {y}",
        "after cooling {x} set it {p} {y}",
    ),
    _K.EXAMINE.value: (
        "look at {x} under {l}",
        "examine {x} by the light of {l}",
        "pick up {x} and turn on {l}",
        "hold {x} and switch {l} on",
        "inspect {x} with {l} lit",
        "take {x} to {l} and turn the light on",
        "turn on {l} while holding {x}",
        "I want to see {x} in the light of {l}",
        "it is too dark to see {x}, use {l}",
        "read {x} next to {l}",
    ),
}
SLICED_TEMPLATES: dict[str, tuple[str, ...]] = {
    _K.PLACE.value: (
        "put a slice of {bare} {p} {y}",
        "cut {x} and place a piece {p} {y}",
        "slice {x}, put a slice {p} {y}",
        "move a piece of {bare} to {y}",
        "chop {x} with a knife and leave a bit {p} {y}",
    ),
    _K.PLACE_TWO.value: (
        "put two slices of {bare} {p} {y}",
        "cut {x} and place two pieces {p} {y}",
        "move two {bare} slices to {y}",
        "slice {x}, put a couple of slices {p} {y}",
    ),
    _K.STACK.value: (
        "put a slice of {bare} {q} {m} and place it {p} {y}",
        "cut {x}, put a piece {q} {m}, move {m} to {y}",
        "place {m} with a {bare} slice in it {p} {y}",
        "serve a slice of {bare} {q} {m} {p} {y}",
    ),
    _K.CLEAN.value: (
        "wash a slice of {bare} and put it {p} {y}",
        "cut {x}, rinse a piece, put it {p} {y}",
        "put a clean slice of {bare} {p} {y}",
        "slice {x}, wash the slice and leave it {p} {y}",
    ),
    _K.HEAT.value: (
        "heat a slice of {bare} and put it {p} {y}",
        "put a cooked slice of {bare} {p} {y}",
        "cut {x}, microwave a piece, place it {p} {y}",
        "slice {x} with a knife, warm a slice and leave it {p} {y}",
        "pick up the knife, slice {x}, put the knife down, heat the slice in the microwave, put the slice {p} {y}",
    ),
    _K.COOL.value: (
        "chill a slice of {bare} and put it {p} {y}",
        "put a cold piece of {bare} {p} {y}",
        "cut {x}, cool a slice in the fridge, place it {p} {y}",
        "slice {x}, refrigerate a slice and leave it {p} {y}",
        "take a knife, cut {x}, lay the knife aside, cool a piece in the fridge, set the piece {p} {y}",
    ),
}

# what can be said of a receptacle that also treats things: only put there, nothing more
PLAIN_TEMPLATES = (
    "put {x} {p} {y}",
    "put {x} {p}to {y}",
    "place {x} {p} {y}",
    "put {x} away {p} {y}",
    "store {x} {p} {y}",
    "leave {x} {p} {y}",
    "set {x} {p}side {y}",
    "move {x} to {y}",
    "bring {x} to {y}",
)
TREATING: tuple[str, ...] = ("Fridge", "Microwave", "SinkBasin")
HOLDING: tuple[str, ...] = (
    "CounterTop",
    "DiningTable",
    "StoveBurner",
    "Shelf",
    "Cabinet",
    "Drawer",
    "GarbageCan",
    "CoffeeMachine",
    "Desk",
)
HOLDING += ("SideTable", "CoffeeTable", "Sofa", "ArmChair", "Bed", "Dresser", "Toilet", "Cart", "TVStand", "Safe")

_FOOD = frozenset({"Apple", "Bread", "Lettuce", "Potato", "Tomato"})
_WARM = frozenset({"Apple", "Bread", "Egg", "Potato", "Tomato", "Mug", "Cup", "Plate"})
_LAMPS = frozenset({"DeskLamp", "FloorLamp"})
_SWITCHED = _LAMPS | {"Faucet", "Microwave", "CoffeeMachine", "Television", "Laptop", "Toaster", "LightSwitch"}
_DOORS = frozenset({"Fridge", "Microwave", "Cabinet", "Drawer", "Safe", "Box", "Laptop", "Blinds"})
_VESSELS = frozenset({"Bowl", "Cup", "Mug", "Pot", "Kettle", "Glassbottle", "WateringCan", "Vase", "WineBottle"})
_FRAGILE = frozenset({"Bowl", "Cup", "Mug", "Plate", "Vase", "Egg", "Glassbottle", "Statue", "CellPhone", "Laptop"})
_ANY: frozenset[str] = frozenset()

# kind -> (patterns, the classes that it makes sense for; empty = whatever can be carried)
COMMANDS: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {
    _K.SLICE.value: (("slice {x}", "cut {x}", "chop {x}", "cut {x} into pieces", "slice {x} with a knife"), _FOOD),
    _K.CLEAN.value: (("wash {x}", "clean {x}", "rinse {x}", "give {x} a wash", "wash the dirty {xs}"), _ANY),
    _K.HEAT.value: (("heat {x}", "cook {x}", "warm {x} up", "microwave {x}", "boil {x}", "mash {x}"), _WARM),
    _K.COOL.value: (("cool {x}", "chill {x}", "make {x} cold", "refrigerate {x}"), _ANY),
    _K.SWITCH_ON.value: (("turn on {x}", "switch {x} on", "toggle {x} on", "turn {x} on", "start {x}"), _SWITCHED),
    _K.SWITCH_OFF.value: (("turn off {x}", "switch {x} off", "toggle {x} off", "turn {x} off", "stop {x}"), _SWITCHED),
    _K.OPEN.value: (("open {x}", "open up {x}"), _DOORS),
    _K.CLOSE.value: (("close {x}", "shut {x}"), _DOORS),
    _K.FETCH.value: (("pick up {x}", "grab {x}", "take {x}", "get {x}", "pick {x} up", "hold {x}"), _ANY),
    _K.FIND.value: (("find {x}", "go to {x}", "look for {x}", "locate {x}", "where is {x}", "search for {x}"), _ANY),
    _K.FILL.value: (("fill {x}", "fill {x} with water", "put water in {x}"), _VESSELS),
    _K.EMPTY.value: (("empty {x}", "pour out {x}", "drain {x}"), _VESSELS),
    _K.BREAK.value: (("break {x}", "smash {x}", "crack {x}"), _FRAGILE),
    _K.THROW.value: (("toss {x} across the room", "throw {x} on the floor", "fling {x} ahead"), _ANY),
}
