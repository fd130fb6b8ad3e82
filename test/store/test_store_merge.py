"""Beliefs of several robots become one, the same whatever their order."""

import itertools

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Place
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.store.merge import merge_beliefs
from memory_node.store.records import Belief


def at(x, y, z=0.8):
    return OrientedBox([x, y, z], [0.1, 0.1, 0.12])


def facts(merged):
    o = merged.object
    numbers = (o.box.center.tobytes(), o.covariance.tobytes(), tuple(sorted(o.class_probabilities.items())))
    return numbers, o.states, o.times_seen, o.existence, o.removed, len(o.history), merged.merged_into


def test_merge_is_the_same_in_every_order(make_object):
    rng = np.random.default_rng(3)
    beliefs = [
        Belief(
            f"r{number}",
            make_object(
                id="m",
                box=at(*rng.normal(1.0, 0.01, 2)),
                class_probabilities={"mug": p, "cup": 1.0 - p},
                times_seen=number + 1,
                last_seen_ns=2_000 + 7 * (number % 2),
                states=(StateBelief(list(ObjectState)[number], 0.5, 10 + number % 2),),
                history=(Place(number, 100, at(0, 0), f"a{number % 2}"),),
            ),
        )
        for number, p in enumerate(rng.uniform(0.1, 0.9, 4))
    ]
    results = {facts(merge_beliefs(order)) for order in itertools.permutations(beliefs)}
    assert len(results) == 1


def test_agreeing_positions_are_fused_conservatively(make_object):
    # Elongated at 45 degrees to each other, as from two viewpoints.
    along, across = 0.04, 0.0004
    spin = np.array([[1, -1, 0], [1, 1, 0], [0, 0, np.sqrt(2)]]) / np.sqrt(2)
    one, other = np.diag([along, across, across]), spin @ np.diag([along, across, across]) @ spin.T
    objects = [make_object(id="m", box=at(1.0, 2.0), covariance=one, last_seen_ns=5)]
    objects.append(make_object(id="m", box=at(1.1, 2.1), covariance=other, last_seen_ns=6))
    merged = merge_beliefs([Belief(f"r{n}", o) for n, o in enumerate(objects)]).object
    # Along x the second view knows more, along y the first: each coordinate follows the better view.
    assert np.trace(merged.covariance) < min(np.trace(one), np.trace(other))
    best = min(np.linalg.eigvalsh(one)[0], np.linalg.eigvalsh(other)[0])
    assert np.linalg.eigvalsh(merged.covariance)[0] >= best, "shared evidence is not counted twice"
    assert 1.0 <= merged.box.center[0] <= 1.1
    assert merged.box.center[1] == pytest.approx(2.0, abs=0.03)


def test_moved_object_is_where_it_was_seen_last(make_object):
    old = make_object(id="m", box=at(0.0, 0.0), last_seen_ns=5, area_id="kitchen")
    new = make_object(id="m", box=at(3.0, 1.0), last_seen_ns=9, area_id="hall")
    merged = merge_beliefs([Belief("r1", new), Belief("r2", old)]).object
    assert merged.box.center.tolist() == [3.0, 1.0, 0.8]
    assert merged.area_id == "hall"
    assert np.array_equal(merged.covariance, new.covariance)


def test_last_confirmed_of_opposite_states_holds(make_object):
    opened = (StateBelief(ObjectState.OPENED, 0.9, 20), StateBelief(ObjectState.DIRTY, 0.6, 5))
    closed = (StateBelief(ObjectState.CLOSED, 0.7, 30),)
    beliefs = [Belief("r1", make_object(id="m", states=opened)), Belief("r2", make_object(id="m", states=closed))]
    states = {b.state: b.confirmed_ns for b in merge_beliefs(beliefs).object.states}
    assert states == {ObjectState.CLOSED: 30, ObjectState.DIRTY: 5}


def test_newest_look_decides_whether_it_exists_and_counts_add_up(make_object):
    seen = make_object(id="m", last_seen_ns=50, existence=0.9, times_seen=4)
    missed = make_object(id="m", last_seen_ns=40, last_missed_ns=60, existence=0.1, times_missed=2, removed=True)
    merged = merge_beliefs([Belief("r1", seen), Belief("r2", missed)]).object
    assert (merged.existence, merged.removed) == (0.1, True)
    assert (merged.times_seen, merged.times_missed, merged.last_missed_ns) == (5, 2, 60)
    assert merged.last_seen_ns == 50


def test_classes_are_weighted_by_sightings(make_object):
    often = make_object(id="m", class_probabilities={"mug": 1.0}, times_seen=3)
    once = make_object(id="m", class_probabilities={"bowl": 1.0}, times_seen=1)
    merged = merge_beliefs([Belief("r1", once), Belief("r2", often)]).object
    assert merged.class_probabilities == {"bowl": 0.25, "mug": 0.75}


def test_merged_into_another_is_not_undone(make_object):
    absorbed = Belief("r1", make_object(id="m"), merged_into="n")
    assert merge_beliefs([absorbed, Belief("r2", make_object(id="m", last_seen_ns=99))]).merged_into == "n"
