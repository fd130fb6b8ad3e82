"""Things that were fused into one object and come apart, and things that are at times seen as one."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from box_world import BoxWorld

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneEvent, SceneEventKind, SceneObject
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.graph import SceneGraph

MIDDLE_Y = 0.30


def as_one(frame: Frame) -> Frame:
    """Return the frame with the two mugs detected as one."""
    mugs = [seen for seen in frame.observations if seen.best_class == "mug"]
    low = np.min([mug.box.center - 0.5 * mug.box.size for mug in mugs], axis=0)
    high = np.max([mug.box.center + 0.5 * mug.box.size for mug in mugs], axis=0)
    both = ObjectObservation({"mug": 0.9}, OrientedBox(0.5 * (low + high), high - low), np.eye(3) * 1e-4, 900)
    return replace(frame, observations=(*(o for o in frame.observations if o not in mugs), both))


class Watch:
    """Looks at two equal mugs side by side: each "1" of a pattern is a view of them as one, each "2" as two."""

    def __init__(self, world: BoxWorld) -> None:
        self.world, self.graph, self.seen = world, SceneGraph(SceneGraphConfig()), 0
        self.views = world.views(14)
        self.noise = np.random.default_rng(5)

    def look(self, pattern: str, standing_still: bool = False) -> list[SceneEvent]:
        events = []
        for one_or_two in pattern:
            self.seen += 1
            camera = self.views[0 if standing_still else self.seen % len(self.views)]
            frame = self.world.frame(0.2 * self.seen, camera)
            frame = as_one(frame) if one_or_two == "1" else frame
            events += self.graph.observe(replace(frame, observations=tuple(map(self.shaken, frame.observations))))
        return events

    def shaken(self, seen: ObjectObservation) -> ObjectObservation:
        box, noise = seen.box, self.noise.normal(0.0, 0.005, (2, 3))
        return replace(seen, box=OrientedBox(box.center + noise[0], box.size + noise[1], box.yaw_rad))

    def mugs(self) -> list[SceneObject]:
        return [found for found in self.graph.objects() if found.class_name == "mug"]

    def counts(self, pattern: str) -> list[int]:
        """Return how many mugs there are after each view."""
        return [len(self.mugs()) for one_or_two in pattern if self.look(one_or_two) is not None]


@pytest.fixture(params=[0.085, 0.10, 0.15], ids=lambda gap: f"{gap} m apart")
def watch(request: pytest.FixtureRequest, world: BoxWorld) -> Watch:
    for name, side in (("mug1", -0.5), ("mug2", 0.5)):
        world.put(name, 1.9, MIDDLE_Y + side * request.param, 0.80, (0.08, 0.08, 0.10))
    return Watch(world)


def changes(counts: Iterable[int]) -> int:
    return int(np.count_nonzero(np.diff(list(counts))))


def test_box_around_two_mugs_becomes_two_after_enough_views(watch: Watch) -> None:
    watch.look("111111")
    (one,) = watch.mugs()
    events = watch.look("22")
    assert [mug.id for mug in watch.mugs()] == [one.id]
    assert watch.mugs()[0].box.size[1] == pytest.approx(one.box.size[1], abs=0.02)
    events += watch.look("222222")
    first, second = watch.mugs()
    at = sorted(mug.box.center[1] for mug in (first, second))
    truth = sorted(watch.world.boxes[name].center[1] for name in ("mug1", "mug2"))
    assert at == pytest.approx(truth, abs=0.01)
    assert all(mug.box.size == pytest.approx([0.08, 0.08, 0.10], abs=0.015) for mug in (first, second))
    assert first.id == one.id
    assert second.attributes == {"split_from": one.id}
    assert [e.object.id for e in events if e.kind is SceneEventKind.APPEARED] == [second.id]
    assert [place.box.size[1] for place in first.history] == [pytest.approx(one.box.size[1], abs=0.02)]


def test_earlier_answers_still_tell_of_the_one_that_was_believed_then(watch: Watch) -> None:
    watch.look("111111")
    (one,) = watch.mugs()
    then_ns = watch.graph.state.now_ns
    watch.look("222222")
    earlier = [found for found in watch.graph.snapshot(then_ns).objects if found.class_name == "mug"]
    assert [found.id for found in earlier] == [one.id]
    assert earlier[0].box.size[1] == pytest.approx(one.box.size[1], abs=0.02)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_old_id_stays_with_the_mug_that_looks_like_it(watch: Watch, side: float) -> None:
    looks, shaken = np.eye(4, dtype=np.float32), watch.shaken

    def painted(seen: ObjectObservation) -> ObjectObservation:
        alike = side * (seen.box.center[1] - MIDDLE_Y) > 0.0 or seen.box.size[1] > 0.12
        return shaken(replace(seen, embedding=looks[0 if alike else 1]))

    watch.shaken = painted  # type: ignore[method-assign]
    watch.look("111111")
    (one,) = watch.mugs()
    watch.look("222222")
    alike = max(watch.mugs(), key=lambda mug: side * mug.box.center[1])
    assert alike.id == one.id


def test_camera_that_stands_still_splits_nothing_soon(watch: Watch) -> None:
    watch.look("111111")
    watch.look("222222", standing_still=True)
    assert len(watch.mugs()) == 1


def test_views_as_one_and_as_two_by_turns_do_not_flap(watch: Watch) -> None:
    watch.look("111")
    assert changes(watch.counts("1212121212121212")) == 0
    assert changes([1, *watch.counts("2212212212222")]) == 1
    assert changes([2, *watch.counts("1211211121112")]) == 0
    sizes = [mug.box.size[1] for mug in watch.mugs()]
    assert sizes == pytest.approx([0.08, 0.08], abs=0.03)


def test_two_mugs_seen_as_one_for_a_while_keep_their_ids_and_boxes(watch: Watch) -> None:
    watch.look("2" * 12)
    before = {mug.id: mug.box.center[1] for mug in watch.mugs()}
    assert changes([2, *watch.counts("1" * 10)]) == 0
    watch.look("22")
    assert {mug.id: pytest.approx(mug.box.center[1], abs=0.01) for mug in watch.mugs()} == before


def test_what_was_hardly_ever_seen_as_two_becomes_one_and_finds_its_id_again(watch: Watch) -> None:
    watch.look("2222")
    ids = {mug.id for mug in watch.mugs()}
    watch.look("1" * 14)
    assert len(watch.mugs()) == 1
    watch.look("2222")
    assert {mug.id for mug in watch.mugs()} == ids


def test_split_survives_a_restart(watch: Watch) -> None:
    watch.look("111111222222")
    ids = {mug.id for mug in watch.mugs()}
    watch.graph = SceneGraph.from_snapshot(watch.graph.snapshot(removed=True), SceneGraphConfig())
    assert changes([2, *watch.counts("2121221")]) == 0
    assert {mug.id for mug in watch.mugs()} == ids
    assert sum("split_from" in mug.attributes for mug in watch.mugs()) == 1
