"""The verbs of instructions and the kinds of goals that they ask for."""

from __future__ import annotations

from memory_node.domain.goal_labels import GoalKind

_K = GoalKind
_WORDS: dict[GoalKind, str] = {
    _K.PLACE: "put place move set bring carry transfer store leave drop lay return relocate serve deposit insert add "
    "keep stow position hang deliver hand pass give",
    _K.CLEAN: "wash clean rinse scrub soak wipe",
    _K.HEAT: "heat warm cook microwave boil bake toast fry mash",
    _K.COOL: "cool chill refrigerate freeze",
    _K.SLICE: "slice cut chop dice",
    _K.OPEN: "open",
    _K.CLOSE: "close shut",
    _K.FETCH: "take grab get fetch retrieve hold collect gather lift pick",
    _K.FIND: "find locate seek approach visit",
    _K.FILL: "fill",
    _K.EMPTY: "empty drain pour",
    _K.BREAK: "break smash crack shatter",
    _K.THROW: "throw toss fling discard trash dispose",
    _K.EXAMINE: "examine inspect view read observe study",
    _K.SWITCH_ON: "activate start light",
    _K.SWITCH_OFF: "deactivate stop extinguish",
}
# Longer forms come first: "turn on" before "turn".
_PHRASES: dict[str, GoalKind] = {
    "get rid of": _K.THROW,
    "dispose of": _K.THROW,
    "throw away": _K.THROW,
    "throw out": _K.THROW,
    "look for": _K.FIND,
    "search for": _K.FIND,
    "go to": _K.FIND,
    "walk to": _K.FIND,
    "drive to": _K.FIND,
    "move to": _K.FIND,
    "look at": _K.EXAMINE,
    "pick up": _K.FETCH,
    "take out": _K.FETCH,
    "turn on": _K.SWITCH_ON,
    "switch on": _K.SWITCH_ON,
    "toggle on": _K.SWITCH_ON,
    "turn off": _K.SWITCH_OFF,
    "switch off": _K.SWITCH_OFF,
    "toggle off": _K.SWITCH_OFF,
    "cut up": _K.SLICE,
    "chop up": _K.SLICE,
    "warm up": _K.HEAT,
    "heat up": _K.HEAT,
    "cool down": _K.COOL,
    "cool off": _K.COOL,
    "pour out": _K.EMPTY,
}
# verb and a particle behind its object: "turn the lamp on", "throw it away"
_SEPARABLE: dict[tuple[str, str], GoalKind] = {
    ("turn", "on"): _K.SWITCH_ON,
    ("switch", "on"): _K.SWITCH_ON,
    ("toggle", "on"): _K.SWITCH_ON,
    ("turn", "off"): _K.SWITCH_OFF,
    ("switch", "off"): _K.SWITCH_OFF,
    ("toggle", "off"): _K.SWITCH_OFF,
    ("throw", "away"): _K.THROW,
    ("throw", "out"): _K.THROW,
    ("take", "out"): _K.FETCH,
    ("pick", "up"): _K.FETCH,
    ("warm", "up"): _K.HEAT,
    ("heat", "up"): _K.HEAT,
    ("cool", "down"): _K.COOL,
    ("put", "away"): _K.PLACE,
    ("put", "back"): _K.PLACE,
    ("put", "down"): _K.PLACE,
}
_VERBS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_BARE = frozenset(verb for verb, _ in _SEPARABLE)  # verbs that only mean something with their particle
# nouns and adjectives that look like verbs when they open a phrase
_NOT_VERBS = frozenset({"light", "clean", "cool", "warm", "open", "empty", "close"})


def base_form(word: str) -> str:
    """Return "put" for "putting", "slice" for "slicing"; other words as they are."""
    if word in _VERBS or word in _BARE or not word.endswith("ing"):
        return word
    stem = word[:-3]
    forms = (stem, stem + "e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)
    return next((form for form in forms if form in _VERBS or form in _BARE), word)


def read_verb(words: list[str]) -> tuple[GoalKind, list[str]] | None:
    """Return the kind that a phrase's opening verb asks for, and the words behind it; None without a verb."""
    if not words:
        return None
    verb = base_form(words[0])
    for length in (3, 2):
        phrase = " ".join([verb, *words[1:length]])
        if len(words) >= length and phrase in _PHRASES:
            return _PHRASES[phrase], words[length:]
    for index, word in enumerate(words[1:], start=1):
        kind = _SEPARABLE.get((verb, word))
        # "turn the lamp on the desk on": a particle has no noun behind it
        if kind is not None and (index + 1 == len(words) or words[index + 1] in _AFTER_PARTICLE):
            return kind, words[1:index] + words[index + 1 :]
    if verb in _VERBS:
        return _VERBS[verb], words[1:]
    return None


_AFTER_PARTICLE = frozenset({"in", "into", "on", "onto", "from", "to", "with", "at", "near", "under", "using"})


def opens_command(words: list[str]) -> bool:
    """Return whether a phrase that follows a comma or "and" starts a command of its own."""
    if read_verb(words) is None:
        return False
    ambiguous = words[0] in _NOT_VERBS
    return not ambiguous or (len(words) > 1 and words[1] in _DETERMINERS)


_DETERMINERS = frozenset({"the", "a", "an", "it", "them", "this", "that", "these", "those", "my", "all", "two", "both"})
