"""Rooms that get their names from what stands in them."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from plain_search import find

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.scene import Room, SceneObject
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.marker_shapes import scene_markers
from memory_node.scene_graph.room_naming import RoomClassifier
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

SECOND_NS = 1_000_000_000
ROOM_TYPES = {"Kitchen": "kitchen", "LivingRoom": "living room", "Bedroom": "bedroom", "Bathroom": "bathroom"}
# The words of another detector than AI2-THOR's, for the kinds of rooms that it does not have as well.
OTHER_ROOMS = {
    "kitchen": ("refrigerator", "oven", "sink", "microwave", "bowl", "knife"),
    "living room": ("couch", "tv", "remote", "potted plant", "chair"),
    "bedroom": ("bed", "wardrobe", "alarm clock", "book", "teddy bear"),
    "bathroom": ("toilet", "sink", "toothbrush", "hair drier"),
    "office": ("office chair", "keyboard", "mouse", "monitor", "printer", "book"),
    "dining room": ("dining table", "chair", "wine glass", "napkin", "chandelier"),
    "laundry room": ("washing machine", "laundry basket", "detergent", "iron"),
    "hallway": ("coat rack", "umbrella", "shoe rack", "doormat", "mirror"),
    "garage": ("car", "bicycle", "toolbox", "ladder", "drill"),
}


@pytest.fixture(scope="module")
def embedder() -> CachingEmbedder:
    return CachingEmbedder(MiniLmEmbedder())


@pytest.fixture(scope="module")
def classifier(embedder: CachingEmbedder) -> RoomClassifier:
    return RoomClassifier(load_catalogue(), embedder, SceneGraphConfig().room_cosine_slope)


class House:
    """Two rooms of 5 x 5 m side by side, and things put into them."""

    def __init__(self, embedder: CachingEmbedder) -> None:
        self.graph = SceneGraph(SceneGraphConfig(), embedder=embedder)
        cells = np.zeros((50, 100), np.int8)
        cells[:, 49:51] = 100
        cells[20:28, 49:51] = 0
        self.graph.set_map(cells, 0.1, Pose(), robot=(1.0, 1.0))
        self.stamp_ns = 0
        self.count = 0

    def room(self, left: bool = True) -> Room:
        return min(self.graph.places.rooms.values(), key=lambda room: room.center[0] * (1 if left else -1))

    def put(self, classes: Iterable[str], left: bool = True) -> None:
        for name in classes:
            self.count += 1
            at = np.array([(0.5 if left else 5.5) + 0.3 * (self.count % 13), 0.5 + 0.3 * (self.count % 11), 0.5])
            box = OrientedBox(at, np.full(3, 0.1), 0.0)
            area_id = self.graph.places.area_at(*at.tolist())
            found = SceneObject(
                f"{name} {self.count}", {name: 1.0}, box, np.eye(3) * 1e-4, 0.9, 1, 1, times_seen=5, area_id=area_id
            )
            self.graph.add_object(found)

    def look(self, seconds: int = 3, left: bool = True) -> None:
        """See what is there, some seconds on."""
        self.stamp_ns += seconds * SECOND_NS
        self.graph._naming.touch([self.graph.places.area_at(2.0 if left else 8.0, 2.0, 0.5)])
        away = Pose.planar(50.0, 50.0, 0.0)
        self.graph.observe(Frame(self.stamp_ns, away, Intrinsics(100.0, 100.0, 50.0, 50.0, 100, 100), (), None))


@pytest.fixture
def house(embedder: CachingEmbedder) -> House:
    return House(embedder)


def homes(shared_dir: Path) -> Iterator[tuple[list[str], str]]:
    with gzip.open(shared_dir / "data/alfred_home/scenes.json.gz", "rt") as file:
        for scene in json.load(file).values():
            yield scene["object_types"], ROOM_TYPES[scene["room_type"]]


def best(chances: dict[str, float]) -> str:
    return max(chances, key=lambda kind: chances[kind])


def test_kind_of_every_known_home_is_told_by_its_contents(shared_dir: Path, classifier: RoomClassifier) -> None:
    chances = [(classifier.probabilities(classes), kind) for classes, kind in homes(shared_dir)]
    sure = SceneGraphConfig().room_name_confidence
    assert len(chances) == 120
    assert np.mean([best(found) == kind and found[kind] >= sure for found, kind in chances]) > 0.95


def test_few_things_give_no_name_rather_than_a_wrong_one(shared_dir: Path, classifier: RoomClassifier) -> None:
    rng, sure = np.random.default_rng(0), SceneGraphConfig().room_name_confidence
    named, wrong = 0, 0
    for classes, kind in homes(shared_dir):
        for _ in range(5):
            chances = classifier.probabilities(rng.choice(classes, 4, replace=False).tolist())
            named += max(chances.values()) >= sure
            wrong += max(chances.values()) >= sure and best(chances) != kind
    assert named > 100
    assert wrong < 0.05 * 600


@pytest.mark.parametrize("kind", OTHER_ROOMS)
def test_kinds_are_told_by_the_words_of_other_detectors(kind: str, classifier: RoomClassifier) -> None:
    assert best(classifier.probabilities(OTHER_ROOMS[kind])) == kind


def test_what_stands_everywhere_tells_nothing(classifier: RoomClassifier) -> None:
    chances = classifier.probabilities(["Window", "Box", "Book"])
    assert max(chances.values()) < 0.5


def test_room_takes_its_name_everywhere_once_it_is_sure(house: House) -> None:
    assert house.room().name == "room 1"
    house.put(["Toilet", "ShowerCurtain", "Towel", "SoapBar"])
    house.look()
    assert house.room().name == "bathroom"
    assert not house.room().named_by_user
    assert house.room(left=False).name == "room 2"
    assert find(house.graph, FindQuery(object_class="Toilet")).answers[0].room_name == "bathroom"
    assert '"type": "bathroom"' in "\n".join(house.graph.in_words(2000).lines)
    assert "bathroom" in {marker.text for marker in scene_markers(house.graph.snapshot())}
    assert house.graph.take_renamed_rooms() == (house.room(),)
    assert house.graph.take_renamed_rooms() == ()


def test_second_room_of_a_kind_is_numbered(house: House) -> None:
    for left in (True, False):
        house.put(["Bed", "AlarmClock", "Pillow", "TeddyBear"], left)
        house.look(left=left)
    assert [house.room().name, house.room(left=False).name] == ["bedroom", "bedroom 2"]


def test_name_stays_while_it_still_fits_and_goes_when_it_does_not(house: House) -> None:
    names = []
    house.put(["Bed", "Pillow", "AlarmClock"])
    house.look()
    for number in range(6):
        house.put([["Sofa", "TeddyBear", "DeskLamp", "Television", "Dresser", "CoffeeTable"][number]])
        house.look()
        names.append(house.room().name)
    changes = sum(one != other for one, other in pairwise(names))
    assert changes <= 1
    for found in house.graph.objects():
        house.graph.state.drop(house.graph.state.table.row(found.id))
    house.look()
    assert house.room().name == "room 1"
    house.put(["Fridge", "StoveBurner", "Pan", "SaltShaker", "Kettle"])
    house.look()
    assert house.room().name == "kitchen"


def test_name_that_a_person_gave_wins_and_stays(house: House) -> None:
    house.graph.places.name_room(house.room().id, "the den", by_user=True)
    house.put(["Toilet", "ShowerCurtain", "Towel", "SoapBar"])
    house.look()
    assert house.room().name == "the den"


def test_names_stay_over_a_restart_and_are_read_again(house: House, embedder: CachingEmbedder) -> None:
    house.put(["Toilet", "ShowerCurtain", "Towel", "SoapBar"])
    house.look()
    again = SceneGraph.from_snapshot(house.graph.snapshot(removed=True), SceneGraphConfig(), embedder=embedder)
    assert again.places.rooms[house.room().id].name == "bathroom"
    house.graph = again
    for found in again.objects():
        again.state.drop(again.state.table.row(found.id))
    house.put(["Fridge", "StoveBurner", "Pan", "SaltShaker", "Kettle"])
    house.look()
    assert house.room().name == "kitchen"


class Counting:
    """Counts what the embedder is asked; fails when told to."""

    def __init__(self, embedder: CachingEmbedder) -> None:
        self.embedder, self.asked, self.broken = embedder, 0, False
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise RobotMemoryError("no embedder now")
        self.asked += len(texts)
        return self.embedder.embed(texts)


def test_nothing_is_embedded_while_no_new_kind_of_thing_comes(embedder: CachingEmbedder) -> None:
    counting = Counting(embedder)
    house = House(counting)  # type: ignore[arg-type]
    house.put(["shampoo", "toothpaste"])
    house.look()
    asked = counting.asked
    house.put(["shampoo", "toothpaste"], left=False)
    house.look(left=False)
    house.look()
    assert counting.asked == asked > 0


def test_broken_embedder_costs_a_name_and_no_frame(embedder: CachingEmbedder) -> None:
    counting = Counting(embedder)
    house = House(counting)  # type: ignore[arg-type]
    house.put(["shampoo", "bath mat", "toothpaste", "shower gel"])
    counting.broken = True
    house.look()
    assert house.graph.counters["room_naming_failed"] == 1
    assert house.room().name == "room 1"
    counting.broken = False
    house.look()
    assert house.room().name == "bathroom"


def test_changes_within_a_period_wait_for_its_end(house: House) -> None:
    house.put(["Towel"])
    house.look()
    house.put(["Toilet", "ShowerCurtain", "SoapBar"])
    house.look(seconds=1)
    assert house.room().name == "room 1"
    house.look(seconds=1)
    assert house.room().name == "bathroom"


def test_one_kind_of_room_is_no_choice(embedder: CachingEmbedder) -> None:
    catalogue = replace(load_catalogue(), rooms={"kitchen": ("cooking",)})
    with pytest.raises(InvalidValueError, match="two or more"):
        RoomClassifier(catalogue, embedder, 10.0)
