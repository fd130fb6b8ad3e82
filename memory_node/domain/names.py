"""Names in plain words: singular and plural of nouns, rooms by their kind, and how many names one call embeds.

Requests, class names and training sentences are brought to one form by the same rules. The library inflect knows more
irregular plurals, but takes many singulars in -s for plurals; docs/dependencies.md compares them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Ends of words, so that compounds follow: bookshelves, butterknives.
_ENDS = {
    **{f"{stem}ves": f"{stem}f" for stem in ("shel", "loa", "lea", "scar", "wol")},
    "knives": "knife",
    "children": "child",
    "people": "person",
    "women": "woman",
    "mice": "mouse",
    "teeth": "tooth",
}
_WHOLE = {
    **{f"{stem}ves": f"{stem}f" for stem in ("cal", "hal", "hoo", "thie")},
    **{f"{stem}ves": f"{stem}fe" for stem in ("li", "wi")},
    **{f"{stem}es": stem for stem in ("bus", "gas", "lens", "canvas", "iris", "cactus")},
    **{f"{stem}s": stem for stem in ("taxi", "ski", "kiwi", "zucchini", "cd", "tv", "pc")},
    "quizzes": "quiz",
    "men": "man",
    "feet": "foot",
    "geese": "goose",
}
# Singulars in -s that neither ss, us nor is tells.
_IN_S = _words("gas lens canvas bias atlas christmas series species news always")
# Singulars in -ie, -oe and -che; other words in -ies lost a y, in -oes an o, in -ches a ch.
_IN_E = _words(
    "beanie birdie brownie calorie cookie cutie foodie genie hoodie hankie lie magpie movie pie pixie rookie selfie "
    "smoothie tie veggie zombie shoe toe canoe hoe oboe tiptoe horseshoe ache headache toothache cache quiche mustache"
)
# Singulars in -o that take -es; most take -s.
_IN_O = _words("potato tomato mango hero echo domino torpedo mosquito volcano")


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """Return the singular of a lower-case noun; what is no plural stays as it is."""
    if word in _WHOLE:
        return _WHOLE[word]
    for end, one in _ENDS.items():
        if word.endswith(end):
            return word.removesuffix(end) + one
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _IN_S:
        return word
    if word[:-1] in _IN_E:
        return word[:-1]
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("oes", "ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1]


def plural(words: str) -> str:
    """Return the plural of a lower-case noun, or of a phrase by its last word; what is a plural stays as it is."""
    before, space, word = words.rpartition(" ")
    return before + space + _plural(word)


def _plural(word: str) -> str:
    for many, one in _WHOLE.items():
        if word == one:
            return many
    for many, one in _ENDS.items():
        if word.endswith(one):
            return word.removesuffix(one) + many
    if singular(word) != word or word in ("series", "species", "news"):
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    hisses = word.endswith(("s", "x", "z", "ch", "sh"))
    return word + ("es" if hisses or word in _IN_O else "s")


# Stands for the kind of a room while that is unknown.
NO_KIND = "room"


def kind_words(name: Sequence[str]) -> list[str]:
    """Return the words of a room's name, lower case, without its number."""
    return [word for word in name if not word.isdigit()]


def lacks_kind(name: Sequence[str]) -> bool:
    """Return whether a room's name, in words, lower case, is a number alone: "room 2"."""
    return kind_words(name) == [NO_KIND]


def is_called(room: str, wanted: str) -> bool:
    """Return whether a room goes by a name: its own, or that of its kind, as each of two bedrooms is "the bedroom"."""
    words = room.lower().split()
    return wanted.lower().split() in (words, kind_words(words))


def may_be_meant(room: str, wanted: str, rooms: Collection[str]) -> bool:
    """Return whether a room may be the one that is wanted: it is called so, or it has no kind of its own and no other
    room is called so.

    room: a name, "" for an unknown one. rooms: the names of all rooms. Case does not count.
    """
    if any(is_called(one, wanted) for one in rooms):
        return is_called(room, wanted)
    return not room or lacks_kind(room.lower().split())


# Names have a few words; a longer text is not embedded and is found by its words (characters).
LONGEST_NAME = 80
# Characters that one call embeds: one or two seconds for the shipped embedder; a thousand ordinary names have fewer.
CHARACTERS_A_CALL = 12_000


def is_embedded(name: str) -> bool:
    """Return whether a name is short enough to be embedded at all."""
    return len(name) <= LONGEST_NAME


def embedded_now(names: Iterable[str]) -> list[str]:
    """Return the names that one call embeds: the first ones of at most 80 characters, up to 12,000 characters."""
    chosen: list[str] = []
    left = CHARACTERS_A_CALL
    for name in filter(is_embedded, names):
        left -= len(name)
        if left < 0:
            break
        chosen.append(name)
    return chosen
