"""What people call the states of things: the one table of these words."""

from __future__ import annotations

from memory_node.domain.states import ObjectState

_S = ObjectState
# The first is what answers call the state. Words of deeds ("washed") stand among them where they tell the state, too.
ADJECTIVES: dict[ObjectState, tuple[str, ...]] = {
    _S.CLEANED: ("clean", "cleaned", "washed", "rinsed", "spotless"),
    _S.DIRTY: ("dirty", "unwashed", "soiled", "filthy", "muddy", "greasy", "dusty", "sticky", "stained", "used"),
    _S.SLICED: ("sliced", "cut", "chopped", "cut-up"),
    _S.HEATED: ("hot", "heated", "warm", "warmed", "microwaved"),
    _S.COLD: ("cold", "chilled", "cooled", "cool", "refrigerated"),
    _S.COOKED: ("cooked", "fried", "boiled", "baked", "toasted"),
    _S.FILLED: ("full", "filled"),
    _S.USED_UP: ("empty", "emptied", "used-up", "used_up"),
    _S.OPENED: ("open", "opened"),
    _S.CLOSED: ("closed", "shut"),
    _S.BROKEN: ("broken", "cracked", "smashed", "shattered"),
    _S.WIPED: ("wiped",),
    _S.ON: ("on", "running", "lit", "switched-on"),
    _S.OFF: ("off", "unlit", "switched-off"),
}
STATE_CALLED: dict[str, ObjectState] = {word: state for state, words in ADJECTIVES.items() for word in words}
# These say nothing of the thing before which they stand: "on the table", "running shoes".
_NEVER_BEFORE_A_NOUN = frozenset({"on", "off", "running"})
ATTRIBUTES: dict[str, ObjectState] = {
    word: state for word, state in STATE_CALLED.items() if word not in _NEVER_BEFORE_A_NOUN
}


def adjective_of(state: ObjectState) -> str:
    """Return what people call a thing in that state: "clean" for CLEANED."""
    return ADJECTIVES[state][0]
