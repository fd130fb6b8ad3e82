"""What a detector gets wrong, or shows in part, does not become a thing of its own; sizes tell a wrong label."""

from dataclasses import replace

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneObject
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ClassSizes

Size = tuple[float, float, float]
CAN: Size = (0.07, 0.07, 0.12)


def seen(name: str, x_m: float, size: Size, part: bool = False, z_m: float = 0.8) -> ObjectObservation:
    """Return a sighting of something that stands at (x_m, 2), its foot at z_m."""
    box = OrientedBox(np.array([x_m, 2.0, z_m + 0.5 * size[2]]), np.array(size))
    return ObjectObservation({name: 0.9}, box, np.eye(3) * 1e-4, 1000, part)


class Watched:
    """A graph and a camera that passes by, so that every look is a view of its own."""

    def __init__(self) -> None:
        self.graph = SceneGraph()
        self._looks = self._stamp_s = 0

    def look(self, *observations: ObjectObservation, times: int = 1, after_s: int = 1) -> None:
        """Take the same frame in some times, a second apart and the first `after_s` later than the last."""
        self._stamp_s += after_s - 1
        for _ in range(times):
            self._looks, self._stamp_s = self._looks + 1, self._stamp_s + 1
            camera = PassingCamera.at(-1.0 + 0.1 * self._looks)
            self.graph.observe(Frame(self._stamp_s * 10**9, camera, None, observations))

    def believed(self) -> list[SceneObject]:
        """Return what is believed to be there, by class."""
        return sorted((f for f in self.graph.objects() if f.existence >= 0.5), key=lambda found: found.class_name)

    def names(self) -> list[str]:
        """Return the classes of what is believed to be there."""
        return [found.class_name for found in self.believed()]


class PassingCamera:
    """Cameras in a row before the things."""

    @staticmethod
    def at(x_m: float) -> Pose:
        """Return map_T_camera of a camera that looks along y from 1.3 m up."""
        matrix = np.eye(4)
        matrix[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
        matrix[:3, 3] = [x_m, 0.0, 1.3]
        return Pose.from_matrix(matrix)


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.mark.parametrize("sighting", [seen("mug", 0.01, (0.04, 0.07, 0.05)), seen("mug", 0.0, (0.03, 0.02, 0.1), True)])
def test_another_name_in_the_place_of_a_known_thing_is_believed_at_its_second_sighting(
    watched: Watched, sighting: ObjectObservation
) -> None:
    watched.look(seen("can", 0.0, CAN), times=3)
    watched.look(sighting)
    assert watched.names() == ["can"]
    watched.look(sighting, times=3)
    assert "mug" in watched.names() or watched.believed()[0].class_probabilities["mug"] > 0.3


def test_the_same_thing_beside_a_known_one_is_believed_at_once(watched: Watched) -> None:
    watched.look(seen("can", 0.0, CAN), times=3)
    watched.look(seen("can", 0.0, CAN), seen("mug", 0.12, (0.08, 0.08, 0.1)))
    assert watched.names() == ["can", "mug"]


def test_what_is_larger_than_things_of_its_class_is_doubted(watched: Watched) -> None:
    cans = [seen("can", 0.3 * i, CAN) for i in range(6)]
    watched.look(*cans, times=3)
    watched.look(*cans, seen("can", 3.0, (0.3, 0.3, 0.4)), seen("can", 4.0, (0.07, 0.07, 0.06)))
    assert sorted(round(found.box.center[0], 1) for found in watched.believed()) == [0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 4.0]


def test_a_first_sighting_under_a_wrong_name_joins_what_is_then_seen_there(watched: Watched) -> None:
    watched.look(seen("book", 0.0, (0.25, 0.11, 0.09)))
    watched.look(seen("tissue box", 0.01, (0.12, 0.12, 0.16)), times=3)
    assert watched.names() == ["tissue box"]
    assert len(watched.graph) == 1


def test_a_thing_in_a_bowl_stays_a_thing_when_only_the_bowl_is_seen(watched: Watched) -> None:
    bowl, apple = seen("bowl", 0.0, (0.16, 0.16, 0.07)), seen("apple", 0.0, (0.08, 0.08, 0.07))
    watched.look(bowl, times=3)
    watched.look(bowl, apple)
    watched.look(bowl, times=2)
    assert len(watched.graph) == 2


def test_a_part_seen_from_another_side_joins_its_thing_despite_pose_noise(watched: Watched) -> None:
    watched.look(seen("vase", 0.0, (0.12, 0.12, 0.22)), times=3)
    # The left edge, two centimetres too far to the left.
    watched.look(seen("vase", -0.075, (0.02, 0.05, 0.2), part=True), times=2)
    assert watched.names() == ["vase"]
    watched.look(seen("vase", 0.0, (0.12, 0.12, 0.22)))
    assert len(watched.graph) == 1


def test_an_equal_thing_of_which_a_part_shows_beside_a_known_one_stays_its_own(watched: Watched) -> None:
    mug, behind = seen("mug", 0.0, (0.08, 0.08, 0.1)), seen("mug", 0.075, (0.03, 0.08, 0.1), part=True)
    watched.look(mug, times=3)
    watched.look(mug, behind, times=2)
    watched.look(mug, times=2)
    assert watched.names() == ["mug", "mug"]


def test_a_part_that_is_larger_than_a_known_thing_is_not_of_it(watched: Watched) -> None:
    watched.look(seen("pot", 0.0, (0.2, 0.2, 0.15)), times=3)
    watched.look(seen("lamp", 0.02, (0.15, 0.15, 0.34), part=True))
    assert watched.names() == ["lamp", "pot"]


def test_a_thick_part_is_not_of_a_thing_of_a_flat_class(watched: Watched) -> None:
    books = [seen("book", 0.5 * i, (0.24, 0.17, 0.04)) for i in range(6)]
    watched.look(*books, times=3)
    watched.look(*books[1:], seen("apple", 0.0, (0.09, 0.09, 0.08), part=True))
    assert watched.graph.objects_near((0.0, 2.0, 0.84), 0.05)[0].class_name == "apple"


def test_another_name_beside_a_thing_that_is_seen_itself_is_another_thing(watched: Watched) -> None:
    pot, mug = seen("pot", 0.0, (0.24, 0.16, 0.16)), seen("mug", 0.07, (0.08, 0.08, 0.1), part=True)
    watched.look(pot, times=3)
    watched.look(pot, mug, times=2)
    assert watched.names() == ["mug", "pot"]


def test_a_view_far_smaller_than_its_class_does_not_shrink_a_thing(watched: Watched) -> None:
    vases = [seen("vase", 0.5 * i, (0.12, 0.12, 0.25)) for i in range(6)]
    watched.look(*vases, times=3)
    # The left third, not known to be a part.
    watched.look(*vases[1:], seen("vase", -0.04, (0.04, 0.12, 0.25)), times=5)
    (found,) = watched.graph.objects_near((0.0, 2.0, 0.925), 0.1)
    assert found.box.size == pytest.approx([0.12, 0.12, 0.25], abs=0.01)


def test_a_foot_that_something_hides_stays_where_it_was(watched: Watched) -> None:
    watched.look(seen("lamp", 0.0, (0.15, 0.15, 0.35)), times=4)
    watched.look(seen("lamp", 0.0, (0.15, 0.15, 0.2), z_m=0.95), times=2)
    assert watched.believed()[0].box.bottom_m == pytest.approx(0.8, abs=0.04)
    watched.look(seen("lamp", 0.0, (0.15, 0.15, 0.35), z_m=0.95))
    assert watched.believed()[0].box.bottom_m == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("after_s", "named_so"), [(60, 2), (1, 3)])
def test_a_thing_may_be_swapped_while_nobody_looks(watched: Watched, after_s: int, named_so: int) -> None:
    watched.look(seen("mug", 0.0, (0.09, 0.08, 0.1)), times=5)
    known = watched.believed()[0].id
    for times in range(1, named_so + 1):
        watched.look(seen("can", 0.0, (0.08, 0.08, 0.11)), after_s=after_s if times == 1 else 1)
        assert (known in [found.id for found in watched.believed()]) == (times < named_so)
    assert watched.names() == ["can"]


def test_a_part_of_a_flat_thing_on_a_table_is_believed_at_once(watched: Watched) -> None:
    table = seen("table", 0.0, (1.0, 0.8, 0.7), z_m=0.1)
    watched.look(table, times=3)
    watched.look(table, seen("book", 0.1, (0.2, 0.1, 0.03), part=True))
    assert watched.names() == ["book", "table"]


def test_what_a_known_thing_was_already_called_is_believed_when_it_comes_as_a_thing(watched: Watched) -> None:
    watched.look(seen("vase", 0.0, (0.12, 0.12, 0.22)), times=4)
    watched.look(seen("can", 0.0, (0.1, 0.1, 0.17)))
    assert watched.names() == ["vase"]
    watched.look(seen("can", 0.0, (0.06, 0.06, 0.11)))
    assert watched.names() == ["can", "vase"]


@pytest.mark.parametrize(("score", "believed"), [(0.95, 0.8), (0.8, 0.8), (0.6, 0.6), (0.35, 0.35), (0.05, 0.2)])
def test_first_sighting_is_believed_as_much_as_its_detector_says(
    watched: Watched, score: float, believed: float
) -> None:
    watched.look(replace(seen("can", 0.0, CAN), class_scores={"can": score}))
    (found,) = watched.graph.objects()
    assert found.existence == pytest.approx(believed, abs=1e-3)


def test_scores_of_likely_classes_add_up(watched: Watched) -> None:
    watched.look(replace(seen("can", 0.0, CAN), class_scores={"can": 0.4, "mug": 0.3}))
    assert watched.graph.objects()[0].existence == pytest.approx(0.7, abs=1e-3)


@pytest.mark.parametrize("scores", [{}, {"can": 0.0}])
def test_sighting_without_a_score_is_believed(watched: Watched, scores: dict[str, float]) -> None:
    watched.look(replace(seen("can", 0.0, CAN), class_scores=scores))
    assert watched.graph.objects()[0].existence == pytest.approx(0.8, abs=1e-3)


def test_weak_sighting_is_believed_at_its_second_view(watched: Watched) -> None:
    weak = replace(seen("can", 0.0, CAN), class_scores={"can": 0.35})
    watched.look(weak)
    assert watched.names() == []
    watched.look(weak)
    assert watched.names() == ["can"]


@pytest.mark.parametrize("part", [False, True])
def test_graph_of_nothing_but_weak_sightings_is_kept(watched: Watched, part: bool) -> None:
    weak = [replace(seen("can", x_m, CAN, part), class_scores={"can": 0.3}) for x_m in (0.0, 0.5)]
    watched.look(*weak)
    assert watched.names() == []
    assert len(watched.graph.objects()) == 2


def test_doubt_lowers_a_weak_sighting_further(watched: Watched) -> None:
    watched.look(seen("can", 0.0, CAN), times=3)
    watched.look(replace(seen("mug", 0.01, (0.04, 0.07, 0.05)), class_scores={"mug": 0.5}))
    mugs = [found for found in watched.graph.objects() if found.class_name == "mug"]
    assert [found.existence < 0.25 for found in mugs] == [True]


MUG = np.array([0.08, 0.1, 0.09])


@pytest.fixture
def sizes() -> ClassSizes:
    made = ClassSizes()
    for share in (0.95, 1.0, 1.0, 1.05, 1.0):
        made.learn("mug", MUG * share)
    return made


def test_too_few_things_tell_nothing() -> None:
    sizes = ClassSizes()
    sizes.learn("mug", MUG)
    assert sizes.fit("mug", MUG * 5.0, whole=True) == 1.0
    assert sizes.may_be("lamp", MUG)


def test_size_decides_whatever_side_lies_where(sizes: ClassSizes) -> None:
    assert sizes.fit("mug", MUG[[2, 0, 1]] * 1.1, whole=True) == 1.0
    assert not sizes.may_be("mug", np.array([0.17, 0.15, 0.33]))
    assert not sizes.may_be("mug", MUG * 0.3)


def test_part_of_a_thing_may_be_smaller_but_not_larger(sizes: ClassSizes) -> None:
    assert sizes.fit("mug", MUG * 0.3, whole=False) == 1.0
    assert sizes.fit("mug", MUG * 4.0, whole=False) == pytest.approx(0.15)


def test_a_few_wrong_sizes_do_not_widen_what_a_class_may_be() -> None:
    sizes = ClassSizes()
    for index in range(40):
        sizes.learn("mug", np.array([0.3, 0.2, 0.4]) if index % 8 == 7 else np.array([0.08, 0.09, 0.1]))
    assert sizes.may_be("mug", np.array([0.09, 0.09, 0.11]))
    assert not sizes.may_be("mug", np.array([0.2, 0.16, 0.25]))
