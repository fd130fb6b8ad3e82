"""Inputs are put in the order of their stamps, whatever order they come in; what TF does not tell is not guessed."""

import itertools
import threading
import time
from functools import partial

import numpy as np
import pytest
from ros_peer import wait_until

from memory_node.domain.errors import InputSkippedError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.keyframes import Keyframes, OdomJump
from memory_node.nodes.inputs.ordered_inputs import Moment, OrderedInputs, Synchronizer, Timelines
from memory_node.nodes.inputs.transform_history import CorrectionLimits, TransformHistory

MS = 1_000_000
SECOND_NS = 1_000_000_000


def test_stamps_stay_in_order_when_the_clock_is_set_back() -> None:
    timelines = Timelines(("depth",), clock_jump_s=10.0)
    moments = [timelines.moment("depth", stamp_s * SECOND_NS) for stamp_s in (100, 95, 101, 50, 51)]
    assert [moment.run for moment in moments] == [0, 0, 0, 1, 1]
    assert max(moments) == moments[-1]
    assert moments[0].apart_s(moments[1]) == 5.0
    assert moments[0].apart_s(moments[3]) == np.inf


def grouped(order: list[tuple[str, int]]) -> list[tuple[str, str]]:
    synchronizer = Synchronizer(("depth", "color"), slop_s=0.05, depth=10, clock_jump_s=10.0)
    groups = []
    for stream, stamp_ms in order:
        synchronizer.add(stream, stamp_ms * MS, f"{stream}{stamp_ms}")
        groups += [messages for _, messages in synchronizer.settled()]
    return groups


def test_what_belongs_together_does_not_depend_on_which_stream_comes_first() -> None:
    depth = [("depth", stamp) for stamp in (100, 133, 166, 200)]
    color = [("color", stamp) for stamp in (95, 128, 161, 195, 228)]
    expected = [("depth100", "color95"), ("depth133", "color128"), ("depth166", "color161"), ("depth200", "color195")]
    for depth_at in itertools.combinations(range(9), 4):
        streams = [iter(color), iter(depth)]
        assert grouped([next(streams[index in depth_at]) for index in range(9)]) == expected


@pytest.mark.parametrize("stray_ms", [1_000, 900_000])
@pytest.mark.parametrize("stream", ["depth", "color", "masks"])
def test_one_message_from_another_time_does_not_blind(stream: str, stray_ms: int) -> None:
    streams = ("depth", "color", "masks")
    synchronizer = Synchronizer(streams, slop_s=0.05, depth=5, clock_jump_s=10.0)
    groups = []
    for stamp_ms in range(300_000, 310_000, 500):
        for name in streams:
            synchronizer.add(name, stamp_ms * MS, stamp_ms)
        if stamp_ms == 304_000:
            synchronizer.add(stream, stray_ms * MS, stray_ms)
        groups += [messages for _, messages in synchronizer.settled()]
    assert groups[-8:] == [(stamp_ms,) * 3 for stamp_ms in range(306_000, 310_000, 500)]


def test_image_without_partner_is_dropped_and_counted() -> None:
    synchronizer = Synchronizer(("depth", "color"), slop_s=0.05, depth=10, clock_jump_s=10.0)
    for stream, stamp_ms in (("depth", 100), ("depth", 400), ("color", 402)):
        synchronizer.add(stream, stamp_ms * MS, f"{stream}{stamp_ms}")
    assert list(synchronizer.settled()) == [(Moment(0, 400 * MS), ("depth400", "color402"))]
    assert (synchronizer.take_dropped(), synchronizer.take_dropped()) == (1, 0)


def history(longest_gap_s: float = 0.2) -> TransformHistory:
    made = TransformHistory("map", longest_gap_s, clock_jump_s=10.0, limits=CorrectionLimits("odom", 0.1, 0.05))
    made.add_fixed(conversions.transform_to_msg(Pose.planar(0.0, 0.0, 0.0, 1.0), "base", "camera", 0))
    made.add(conversions.transform_to_msg(Pose(), "map", "odom", 0))
    return made


def drive(made: TransformHistory, *stamps_ms: int, x_per_s: float = 1.0) -> None:
    for stamp in stamps_ms:
        made.add(conversions.transform_to_msg(Pose(), "map", "odom", stamp * MS))
        base = Pose.planar(x_per_s * stamp * 1e-3, 0.0, 0.0)
        made.add(conversions.transform_to_msg(base, "odom", "base", stamp * MS))


def test_pose_between_two_samples_is_told_once_the_second_has_come() -> None:
    made = history()
    drive(made, 1000)
    assert made.pose("camera", Moment(0, 1050 * MS)) is None
    drive(made, 1100)
    pose = made.pose("camera", Moment(0, 1050 * MS))
    assert np.allclose(pose.position, [1.05, 0.0, 1.0])


def test_gap_in_tf_is_not_bridged() -> None:
    made = history()
    drive(made, 1000, 1100, 3000, 3100)
    with pytest.raises(InputSkippedError, match=r"silent for 1\.90 s"):
        made.pose("camera", Moment(0, 2000 * MS))
    assert made.pose("camera", Moment(0, 3050 * MS)) is not None
    with pytest.raises(InputSkippedError, match="begins after"):
        made.pose("camera", Moment(0, 900 * MS))


def test_each_run_of_a_clock_that_was_set_back_has_its_own_tf() -> None:
    made = history()
    drive(made, 20_000, 20_100)
    drive(made, 20_000 - 15_000, 5100, x_per_s=-1.0)
    first, second = made.pose("camera", Moment(0, 20_050 * MS)), made.pose("camera", Moment(1, 5050 * MS))
    assert (round(first.position[0], 3), round(second.position[0], 3)) == (20.05, -5.05)
    # A camera that was not set back finds its stamps in the run that covers them.
    assert np.allclose(made.pose_in_any_run("camera", Moment(0, 5050 * MS)).position, second.position)


def test_jump_of_map_to_odom_is_told_and_nothing_is_interpolated_across_it() -> None:
    made = history()
    drive(made, 1000, 1100)
    corrected = Pose.planar(1.0, 0.2, np.radians(10.0))
    small = Pose.planar(0.02, 0.0, 0.0)
    assert made.add(conversions.transform_to_msg(small, "map", "odom", 1150 * MS)) is None
    jump = made.add(conversions.transform_to_msg(corrected, "map", "odom", 1200 * MS))
    assert jump.moment == Moment(0, 1200 * MS)
    assert np.allclose((jump.new_T_old @ small).matrix, corrected.matrix)
    made.add(conversions.transform_to_msg(Pose.planar(1.2, 0.0, 0.0), "odom", "base", 1200 * MS))
    with pytest.raises(InputSkippedError, match="being corrected"):
        made.pose("camera", Moment(0, 1180 * MS))


def upstairs(made: TransformHistory) -> TransformHistory:
    made.add_fixed(conversions.transform_to_msg(Pose.planar(0.0, 0.0, 0.0, 3.2), "map", "map_upstairs", 0))
    return made


def test_odom_that_rises_by_a_storey_is_on_another_floor() -> None:
    made = history()
    drive(made, 1000, 1100)
    ride = made.add(conversions.transform_to_msg(Pose.planar(0.0, 0.0, 0.0, 3.0), "map", "odom", 1200 * MS))
    assert ride.new_T_old is None


class Worked:
    """An ordered queue that a thread takes inputs out of; each is ready when the gate is open."""

    def __init__(self, most: int = 10, behind: int = 10) -> None:
        self.done: list[str] = []
        self.skipped: list[str] = []
        self.gate = threading.Event()
        self.lacking: set[str] = set()
        self.work_s = 0.0
        self.dropped = 0
        self.inputs: OrderedInputs[str, str] = OrderedInputs(
            self._ready, 1.0, most, behind, lambda: None, lambda error: self.skipped.append(error.reason), self._drop
        )
        self._thread = threading.Thread(target=self._work_off)

    def put(self, name: str, stamp_ms: int, droppable: bool = True) -> None:
        self.inputs.put(Moment(0, stamp_ms * MS), name, droppable, name.startswith("frame"))

    def has_done(self, count: int) -> bool:
        return len(self.done) == count

    def start(self) -> None:
        self._thread.start()

    def finish(self, count: int) -> list[str]:
        """Return what was done once it is as many, and all has stopped."""
        wait_until(lambda: len(self.done) == count)
        self.stop()
        return self.done

    def stop(self) -> None:
        self.inputs.stop()
        self._thread.join(5.0)
        assert not self._thread.is_alive()

    def _work_off(self) -> None:
        while not self.inputs.stopped:
            try:
                became = self.inputs.take()
            except InputSkippedError as error:
                self.skipped.append(error.reason)
                continue
            self.done += [became] if became is not None else []
            time.sleep(self.work_s)

    def _drop(self) -> None:
        self.dropped += 1

    def _ready(self, name: str, last_call: bool) -> str | None:
        if name == "broken":
            raise InputSkippedError("broken", "it will never be ready")
        if self.gate.is_set() and name not in self.lacking:
            return name
        return f"{name} late" if last_call else None


def test_inputs_are_done_in_the_order_of_their_stamps() -> None:
    worked = Worked()
    for name, stamp_ms in (("c", 300), ("a", 100), ("b", 200)):
        worked.put(name, stamp_ms)
    worked.gate.set()
    worked.start()
    assert worked.finish(3) == ["a", "b", "c"]


def test_input_that_lacks_something_gives_up_by_stamps() -> None:
    worked = Worked()
    worked.put("old", 100)
    worked.start()
    worked.put("new", 2000)
    wait_until(lambda: worked.done)
    worked.gate.set()
    worked.inputs.stir()
    assert worked.finish(2) == ["old late", "new"]


def test_oldest_frame_goes_when_the_queue_is_full_but_maps_and_corrections_stay() -> None:
    worked = Worked(most=2)
    worked.put("map", 50, droppable=False)
    for index in range(4):
        worked.put(f"frame {index}", 100 + index)
    worked.gate.set()
    worked.start()
    assert worked.finish(3) == ["map", "frame 2", "frame 3"]
    assert worked.skipped == ["queue_full", "queue_full"]


def test_frames_that_came_while_another_was_worked_on_are_skipped_but_for_the_newest() -> None:
    worked = Worked(most=100, behind=2)
    worked.put("map", 50, droppable=False)
    for index in range(30):
        worked.put(f"frame {index}", 100 + index)
    worked.put("correction", 115, droppable=False)
    worked.gate.set()
    worked.start()
    assert worked.finish(5) == ["map", "correction", "frame 27", "frame 28", "frame 29"]
    assert (worked.dropped, worked.skipped) == (27, [])


@pytest.mark.parametrize(("work_s", "used"), [(0.0, 4), (0.06, 1)], ids=["faster than the camera", "hardly faster"])
def test_frames_that_piled_up_are_used_where_memory_is_clearly_faster_than_the_camera(work_s: float, used: int) -> None:
    worked = Worked(most=100, behind=0)
    worked.work_s = work_s
    worked.gate.set()
    worked.start()
    for index in range(20):
        worked.put(f"frame {index}", 100 + 67 * index)
        wait_until(partial(worked.has_done, index + 1))
    worked.gate.clear()
    for index in range(20, 24):
        worked.put(f"frame {index}", 100 + 67 * index)
    worked.gate.set()
    worked.inputs.stir()
    wait_until(lambda: worked.done[-1] == "frame 23")
    worked.stop()
    assert (len(worked.done), worked.dropped) == (20 + used, 4 - used)


def test_a_frame_is_not_dropped_for_newer_ones_that_still_lack_their_transform() -> None:
    worked = Worked(most=100, behind=0)
    worked.start()
    worked.gate.set()
    worked.lacking = {f"frame {index}" for index in range(1, 5)}
    for index in range(5):
        worked.put(f"frame {index}", 100 + index)
    wait_until(lambda: worked.done)
    worked.lacking = set()
    worked.inputs.stir()
    assert (worked.finish(2), worked.dropped) == (["frame 0", "frame 4"], 3)


def test_frames_that_wait_for_a_transform_are_not_skipped_before_it_comes() -> None:
    worked = Worked(most=100, behind=2)
    worked.start()
    for index in range(8):
        worked.put(f"frame {index}", 100 + index)
    assert worked.skipped == []
    worked.gate.set()
    worked.inputs.stir()
    assert worked.finish(3) == ["frame 5", "frame 6", "frame 7"]


def test_input_that_cannot_be_used_makes_way_for_the_next() -> None:
    worked = Worked()
    worked.gate.set()
    for name, stamp_ms in (("a", 100), ("broken", 150), ("b", 200)):
        worked.put(name, stamp_ms)
    worked.start()
    assert (worked.finish(2), worked.skipped) == (["a", "b"], ["broken"])


def test_input_of_an_earlier_stamp_goes_first_while_another_waits() -> None:
    worked = Worked()
    worked.put("image", 200)
    worked.start()
    worked.put("correction", 100, droppable=False)
    worked.gate.set()
    worked.inputs.stir()
    assert worked.finish(2) == ["correction", "image"]


class KeyframeMemory:
    def __init__(self) -> None:
        self.poses: dict[str, Pose] = {}
        self.corrected: dict[str, Pose] = {}

    def keyframes(self) -> dict[str, Pose]:
        return dict(self.poses)

    def correct_poses(self, corrected: dict[str, Pose]) -> None:
        self.corrected = dict(corrected)
        self.poses.update(corrected)


def walked(keyframes: Keyframes, memory: KeyframeMemory, *stamps_s: int) -> None:
    for stamp_s in stamps_s:
        pose = Pose.planar(1.0 * stamp_s, 0.0, 0.0)
        memory.poses.setdefault(keyframes.name(stamp_s * SECOND_NS, pose), pose)


def test_jump_soon_after_another_corrects_what_that_one_moved() -> None:
    memory = KeyframeMemory()
    keyframes = Keyframes(memory)
    walked(keyframes, memory, 1, 2)
    start = dict(memory.poses)
    forth, back = Pose.planar(0.3, 0.0, 0.1), Pose.planar(0.3, 0.0, 0.1).inverse()
    keyframes.follow_jump(OdomJump(Moment(0, 3 * SECOND_NS), forth))
    here = forth @ Pose.planar(2.1, 0.0, 0.0)  # the robot has hardly driven on
    memory.poses[keyframes.name(4 * SECOND_NS, here)] = here
    keyframes.follow_jump(OdomJump(Moment(0, 5 * SECOND_NS), back))
    assert all(np.allclose(memory.poses[name].position, pose.position) for name, pose in start.items())
    assert np.allclose(memory.poses[str(4 * SECOND_NS)].position, [2.1, 0.0, 0.0])


def test_what_was_seen_on_another_floor_stays_when_the_robot_is_corrected_on_this_one() -> None:
    memory = KeyframeMemory()
    keyframes = Keyframes(memory)
    walked(keyframes, memory, 1, 2)
    keyframes.follow_jump(OdomJump(Moment(0, 3 * SECOND_NS), None))
    assert memory.corrected == {}
    walked(keyframes, memory, 4)
    keyframes.follow_jump(OdomJump(Moment(0, 5 * SECOND_NS), Pose.planar(0.0, 1.0, 0.0)))
    assert sorted(memory.corrected) == [str(4 * SECOND_NS)]
    downstairs, upstairs = (keyframes.pose_now(Moment(0, stamp_s * SECOND_NS), Pose()) for stamp_s in (2, 4))
    assert np.allclose(downstairs.position, [0.0, 0.0, 0.0])
    assert np.allclose(upstairs.position, [0.0, 1.0, 0.0])


def test_path_moves_each_keyframe_as_far_as_its_part_of_the_way_moved() -> None:
    memory = KeyframeMemory()
    keyframes = Keyframes(memory)
    walked(keyframes, memory, 1, 2, 3)
    way = {stamp_s * SECOND_NS: Pose.planar(1.0 * stamp_s, 0.0, 0.0) for stamp_s in (1, 2, 3)}
    keyframes.follow_path(way)
    assert memory.corrected == {}
    bent = {**way, 3 * SECOND_NS: Pose.planar(3.0, 1.0, 0.0)}
    keyframes.follow_path(bent)
    assert sorted(memory.corrected) == [str(3 * SECOND_NS)]
    assert np.allclose(memory.corrected[str(3 * SECOND_NS)].position, [3.0, 1.0, 0.0])
    with pytest.raises(InputSkippedError, match="stamps"):
        keyframes.follow_path({0: Pose()})


def test_keyframe_between_two_poses_of_the_path_moves_by_some_of_each() -> None:
    memory = KeyframeMemory()
    keyframes = Keyframes(memory)
    walked(keyframes, memory, 1, 2, 3, 4, 5)
    keyframes.follow_path({stamp_s * SECOND_NS: Pose.planar(1.0 * stamp_s, 0.0, 0.0) for stamp_s in (1, 5)})
    keyframes.follow_path({SECOND_NS: Pose.planar(1.0, 0.0, 0.0), 5 * SECOND_NS: Pose.planar(5.0, 0.4, 0.0)})
    aside = [round(float(pose.position[1]), 6) for _, pose in sorted(memory.poses.items())]
    assert aside == [0.0, 0.1, 0.2, 0.3, 0.4]
