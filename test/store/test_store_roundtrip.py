"""What is appended comes back the same, on both databases."""

import numpy as np
import pytest
from looked_into import seen

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Area, Floor, Place, Relation, RelationKind, Room, SceneEvent, SceneEventKind
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store.errors import RecordRejectedError, StoreInUseError, StoreSiteError


def step(index, **changes):
    values = {
        "episode_id": "e1",
        "index": index,
        "action": SkillCall("PickUp", ("apple", "table")),
        "success": False,
        "reason": FailureReason.TOO_FAR,
        "stamp_ns": 10 + index,
        "message": "0.9 m away",
        "position": (1.5, -2.0, 0.0),
        "visible": ("apple", "bowl"),
        "relations": ("apple on table",),
        "duration_s": 2.5,
        **changes,
    }
    return StepRecord(**values)


def test_object_comes_back_with_every_field(open_at, store_url, make_object):
    place = Place(1_000, 1_500, OrientedBox([0, 1, 2], [0.1, 0.2, 0.3], 0.5), "area1", "shelf")
    mug = make_object(
        states=(StateBelief(ObjectState.DIRTY, 0.8, 1_700),),
        embedding=np.arange(4, dtype=np.float32),
        crop_jpeg=b"\xff\xd8jpeg",
        history=(place,),
        times_seen=7,
        times_missed=2,
        last_missed_ns=1_900,
        area_id="area2",
        support_id="table1",
        inside=True,
        movable=False,
        anchor="key3",
        provenance="skill",
        attributes={"colour": "red", "weight_kg": np.float32(0.5)},
    )
    with open_at(store_url) as store:
        store.append([seen(mug)]).wait()
    back = open_at(store_url).load_scene().objects[0]
    for name in ("id", "class_probabilities", "existence", "first_seen_ns", "last_seen_ns", "last_missed_ns", "states"):
        assert getattr(back, name) == getattr(mug, name), name
    for name in ("times_seen", "times_missed", "area_id", "support_id", "inside", "movable", "anchor", "provenance"):
        assert getattr(back, name) == getattr(mug, name), name
    assert np.array_equal(back.box.center, mug.box.center)
    assert np.array_equal(back.box.size, mug.box.size)
    assert back.box.yaw_rad == mug.box.yaw_rad
    assert np.array_equal(back.covariance, mug.covariance)
    assert np.array_equal(back.embedding, mug.embedding)
    assert back.crop_jpeg == mug.crop_jpeg
    assert back.attributes == {"colour": "red", "weight_kg": 0.5}
    assert back.history[0].area_id == "area1"
    assert np.array_equal(back.history[0].box.center, [0, 1, 2])


def test_only_latest_update_of_an_object_is_kept(open_at, store_url, make_object):
    mug = make_object()
    store = open_at(store_url)
    store.append([seen(mug), *(seen(mug.changed(times_seen=n)) for n in range(2, 50))])
    store.flush()
    assert [o.times_seen for o in store.load_scene().objects] == [49]


def test_removed_object_stays_as_removed_and_merged_one_disappears(open_at, store_url, make_object):
    gone, absorbed, kept = make_object(), make_object(), make_object()
    store = open_at(store_url)
    store.append([seen(o) for o in (gone, absorbed, kept)])
    store.append(
        [SceneEvent(SceneEventKind.REMOVED, 5, gone), SceneEvent(SceneEventKind.MERGED, 6, absorbed, into_id=kept.id)]
    ).wait()
    assert {o.id: o.removed for o in store.load_scene().objects} == {gone.id: True, kept.id: False}


def test_history_grows_by_the_places_that_are_new(open_at, store_url, make_object):
    box = OrientedBox([0, 0, 0], [0.1, 0.1, 0.1])
    places = tuple(Place(since, since + 10, box, f"a{since}") for since in (0, 10, 20))
    mug = make_object(history=places[:1])
    store = open_at(store_url)
    store.append([seen(mug)]).wait()
    store.append([seen(mug.changed(history=places))]).wait()
    (stored,) = store.load_scene().objects
    assert [place.area_id for place in stored.history] == ["a0", "a10", "a20"]


def test_map_keeps_what_the_last_call_gave(open_at, store_url):
    areas = [Area("a1", "by the sink", (1.0, 2.0), "f1", "r1", 5), Area("a2", "door", (3.0, 4.0))]
    room = Room("r1", "kitchen", "f1", (1.0, 1.0), 12.5, True)
    floor = Floor("f1", "ground", 0.1)
    ways = [Relation("a1", RelationKind.NAVIGABLE, "a2", 2.8), Relation("r1", RelationKind.CONTAINS, "a1")]
    with open_at(store_url) as store:
        store.put_map(areas, [room], [floor], ways).wait()
        store.put_map(areas[:1], [room], [floor], ways[1:]).wait()
    scene = open_at(store_url).load_scene()
    assert scene.areas == (areas[0],)
    assert scene.rooms == (room,)
    assert scene.floors == (floor,)
    assert scene.relations == (ways[1],)


def test_episodes_and_steps_come_back_in_order(open_at, store_url):
    episode = EpisodeSummary("e1", "bring the apple", "pick_and_place", 10, 99, False, 2, "r7")
    steps = [step(0), step(1, reason=FailureReason.NONE, success=True, held_object="apple"), step(2, room="kitchen")]
    store = open_at(store_url)
    store.append([episode, steps[2], steps[0], steps[1]]).wait()
    assert store.episodes() == [episode]
    assert store.steps() == steps
    assert store.steps("other") == []


def test_documents_keep_sources_and_the_newest_body(open_at, store_url):
    store = open_at(store_url)
    store.put_documents("guideline", [("g1", {"text": "look twice", "utility": 0.1}, [("step", "e1:0")])])
    store.put_documents("guideline", [("g1", {"text": "look twice", "utility": 0.4}, [("step", "e1:2")])]).wait()
    found = store.documents("guideline")
    assert [dict(d.body) for d in found] == [{"text": "look twice", "utility": 0.4}]
    assert found[0].sources == (("step", "e1:0"), ("step", "e1:2"))
    store.remove_documents("guideline", ["g1"]).wait()
    assert store.documents("guideline") == []


def test_bad_records_are_rejected_and_the_others_kept(open_at, store_url, make_object):
    store = open_at(store_url)
    good = make_object()
    bad = store.append([seen(make_object(attributes={"what": object()}))])
    unstorable = store.append([step(0, stamp_ns=2**70)])
    untyped = store.append([step(1, room={"name": "kitchen"})])
    store.append([seen(good)]).wait()
    for ticket in (bad, unstorable, untyped):
        with pytest.raises(RecordRejectedError):
            ticket.wait()
    assert [o.id for o in store.load_scene().objects] == [good.id]
    assert store.diagnostics().rejected == 3
    assert store.diagnostics().outages == 0


def test_numpy_numbers_are_stored_as_plain_ones(open_at, store_url, make_object):
    thing = make_object(last_seen_ns=np.int64(7), existence=np.float32(0.5), removed=np.bool_(True))
    store = open_at(store_url)
    store.append([seen(thing)]).wait()
    back = store.load_scene().objects[0]
    assert (back.last_seen_ns, back.existence, back.removed) == (7, 0.5, True)


def test_state_change_is_kept_as_evidence(open_at, store_url):
    store = open_at(store_url)
    store.append([StateChange("o1", "mug", 5, added=(ObjectState.FILLED,), held=True)]).wait()
    assert store.diagnostics().records == 1


def test_second_writer_of_the_same_robot_is_refused(open_at, store_url):
    open_at(store_url)
    with pytest.raises(StoreInUseError):
        open_at(store_url)


def test_file_of_another_site_is_refused(open_at, tmp_path):
    open_at(str(tmp_path / "m.db"), site="north").close()
    with pytest.raises(StoreSiteError, match="north"):
        open_at(str(tmp_path / "m.db"), site="south")
