"""The parameters of what comes in over topics."""

from __future__ import annotations

from typing import Literal

from memory_node.domain.parameters import Expert, Parameters, parameter

DetectionSource = Literal["boxes", "rectangles", "labels", "segment", "none"]
DepthRegistration = Literal["aligned", "tf"]
ImageTransport = Literal["raw", "compressed"]
Reliability = Literal["best_effort", "reliable"]
CameraReliability = Literal["auto", "best_effort", "reliable"]


class InputParameters(Parameters):
    """Which frames and topics there are, and how long inputs wait for each other."""

    map_frame: str = parameter("map", "frame of the map and of memory (REP-105)")
    odom_frame: str = parameter("odom", "frame whose pose in the map SLAM corrects (REP-105)")
    detections: DetectionSource = parameter(
        "boxes",
        "what comes with the images; boxes: Detection2DArray with an image of instance masks; rectangles: "
        "Detection2DArray alone; labels: an image of instances alone, without classes; segment: nothing, depth is "
        "segmented by geometry; none: no images, only detections_3d",
    )
    corrections: Literal["map_to_odom", "path", "none"] = parameter(
        "map_to_odom",
        "how SLAM reports that it corrected earlier poses; map_to_odom: by a jump of that transform; path: by a "
        "nav_msgs/Path of optimised poses on optimized_path",
    )
    tf_timeout_s: float = parameter(
        0.5, "how long TF may be silent around an image, and how long an image waits for it, by stamps", 0.01, 10.0
    )
    localizer_timeout_s: float = parameter(
        3.0,
        "how long the last pose of odom_frame holds, of a localiser that is slower than tf_timeout_s; 0: not at all",
        0.0,
        60.0,
    )
    image_transport: ImageTransport = parameter(
        "raw",
        "how images come, as image_transport names it; compressed: sensor_msgs/CompressedImage, colour on "
        "TOPIC/compressed and depth on TOPIC/compressedDepth (PNG or RVL)",
    )
    depth_registration: DepthRegistration = parameter(
        "aligned",
        "where depth images lie; aligned: on the colour images, pixel by pixel; tf: they are of a camera of its own, "
        "known by its camera/depth/camera_info and by TF between both cameras' frames",
    )
    camera_reliability: CameraReliability = parameter(
        "auto",
        "QoS reliability of the images; auto: reliable while every publisher is, else best_effort; best_effort loses "
        "images where the kernel's receive buffer is small; reliable hears only a reliable publisher",
    )
    detections_reliability: Reliability = parameter(
        "reliable", "QoS reliability of detections and masks; a best-effort publisher needs best_effort"
    )
    frames_unused_s: Expert[float] = parameter(
        10.0,
        "/diagnostics tells an error when frames come and none is used for so long, and is stale when none comes any "
        "more",
        1.0,
        3600.0,
    )
    still_period_s: float = parameter(
        1.0,
        "time from one frame that is used to the next while the camera stands still and the view does not change; "
        "what is new in a view is looked at within 0.15 s, with each frame; 0: each frame is used",
        0.0,
        10.0,
    )
    queue_size: Expert[int] = parameter(
        20, "frames that may wait for TF or their turn; with more, the oldest is dropped", 1, 10_000
    )
    most_behind: Expert[int] = parameter(
        0,
        "frames that may wait behind one when all are ready; with more, that one is dropped, so that memory keeps up "
        "with a faster camera; 0: one frame is worked on and the newest waits; a replay of which every frame counts "
        "needs as many as it has",
        0,
        10_000,
    )
