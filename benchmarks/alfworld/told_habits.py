"""What is remembered of other games, in words: where the things that a task names usually are."""

from __future__ import annotations

from benchmarks.alfworld.sentences import label_of, read_places, read_task
from benchmarks.alfworld.things import classes_of
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.scene_graph.place_habits import PlaceCensus, PlaceHabits

_MOST_PLACES = 4


def told_habits(learnt: PlaceCensus, kinds: ObjectCatalogue, text: str) -> str:
    """Return sentences such as "A mug is often found at: countertop, cabinet.", "" where nothing is known.

    text: a game's first text, which names its places and its task.
    """
    habits = PlaceHabits(kinds)
    habits.add(learnt)
    places = {label_of(place): classes_of(place, kinds)[0] for place in read_places(text)}
    named = dict.fromkeys(name for word in read_task(text).strip(".").split() for name in _movable(word, kinds))
    sentences = []
    for name in named:
        expected = habits.expected(name, places)
        best = sorted(expected, key=lambda label: -expected[label] / habits.effort(places[label]))[:_MOST_PLACES]
        if best:
            sentences.append(f"A {kinds[name].best_name} is often found at: {', '.join(best)}.")
    return " ".join(sentences)


def _movable(word: str, kinds: ObjectCatalogue) -> tuple[str, ...]:
    kind = kinds.find(word)
    return (kind.name,) if kind is not None and kind.pickupable else ()
