"""The parameters of perception."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from memory_node.domain.parameters import Expert, Live, Parameters, parameter

# The layouts of a detector's outputs that are known; detectors/recognition.py says of each what it is.
LayoutName = Literal[
    "auto",
    "yolo_v5",
    "yolo_v8",
    "yolo_v5_seg",
    "yolo_v8_seg",
    "yolox",
    "end_to_end",
    "end_to_end_seg",
    "boxes_scores",
    "rtdetr",
    "rtdetr_chosen",
    "detr_official",
    "detr",
    "detr_softmax",
    "rf_detr",
    "torchvision",
    "owl",
    "grounding_dino",
]


class PerceptionConfig(Parameters):
    """Parameters of the way from masks and depth to oriented boxes."""

    pixel_stride: ClassVar[int] = 2  # every so many rows and columns of the image are looked at
    most_points: ClassVar[int] = 700  # points that a large mask is sampled down to, about
    voxel_points: ClassVar[int] = 500  # points from which the voxel filter runs
    min_depth_m: float = parameter(0.15, "depth below which returns are dropped", 0.0, 100.0)
    max_depth_m: float = parameter(
        8.0, "depth beyond which returns are dropped, because their noise exceeds small objects", 0.1, 100.0
    )
    min_pixels: Live[Expert[int]] = parameter(60, "pixels that a mask must have to be an observation", 1, 1_000_000)
    min_points: ClassVar[int] = 10  # points that must be left of a mask after the filters
    # jump of depth (plus 3 sigma of noise) that separates an object from what lies behind it
    depth_gap_m: ClassVar[float] = 0.025
    voxel_m: ClassVar[float] = 0.01  # edge of the voxel filter
    trim: ClassVar[float] = 0.015  # share of the points that may lie beyond each face of the box
    border_px: ClassVar[int] = 2  # distance from the image's border within which a mask counts as cut
    occlusion_margin_m: ClassVar[float] = 0.04  # how much nearer a neighbouring pixel must be to occlude
    # share of an object's outline that is occluded from which the object counts as partly hidden
    occluded_share: ClassVar[float] = 0.07
    # share of an object's foot or upper edge that is covered from which it counts as partly hidden
    covered_share: ClassVar[float] = 0.3
    depth_sigma_m_at_1m: Expert[float] = parameter(
        0.0015, "depth noise at 1 m; it grows with the square of the distance", 0.00001, 0.5
    )
    pose_sigma_m: Expert[float] = parameter(0.01, "uncertainty of the camera's pose in the map", 0.0, 1.0)
    crop_max_px: Live[int] = parameter(96, "longer side of the stored picture of an object; 0 stores none", 0, 4096)
    crop_quality: ClassVar[int] = 80  # JPEG quality of the stored picture of an object

    @model_validator(mode="after")
    def _check_depths(self) -> PerceptionConfig:
        if self.min_depth_m >= self.max_depth_m:
            raise ValueError(f"expected min_depth_m < max_depth_m, got {self.min_depth_m:g} and {self.max_depth_m:g}")
        return self


class SegmentationConfig(Parameters):
    """Parameters of the geometric segmentation: objects from depth alone, without a detector."""

    working_focal_px: ClassVar[float] = 262.0  # focal length that images are thinned out to, about
    max_depth_m: Expert[float] = parameter(
        4.0, "depth beyond which returns are too noisy for surface normals", 0.1, 100.0
    )
    min_plane_area_m2: ClassVar[float] = 0.2  # visible area from which a plane counts as table, floor or wall
    # how far an object must stand out from a plane (plus noise, which grows with the distance)
    plane_margin_m: ClassVar[float] = 0.006
    min_object_pixels: Expert[int] = parameter(
        125, "pixels of the thinned image that an object must have", 0, 1_000_000
    )
    max_object_m: Expert[float] = parameter(1.2, "largest extent of an object", 0.01, 100.0)
    min_height_m: ClassVar[float] = 0.012  # least height of an object over its plane
    concavity: ClassVar[float] = 0.5  # change of the surface normal that separates two objects; 0.5 is about 30 degrees


class SegmentTrackerConfig(Parameters):
    """Parameters of what becomes of the segments of many views, without a detector."""

    voxel_m: ClassVar[float] = 0.03  # edge of the voxels in which views vote
    most_voxels: ClassVar[int] = 400_000  # voxels that are kept, those that were seen last
    confirmed_views: Expert[int] = parameter(3, "views that must show a thing before it is remembered", 1, 100)
    least_votes: ClassVar[float] = 3.0  # views that must show a place as part of a thing for it to count
    least_voxels: ClassVar[int] = 30  # voxels that a thing must have
    joined_views: ClassVar[int] = 3  # views that must show two things as one, less those that show them as two
    max_thing_m: ClassVar[float] = 1.6  # what is longer is structure
    sheet_thickness_m: ClassVar[float] = 0.08  # what is thinner, and wider than sheet_side_m, is structure
    sheet_side_m: ClassVar[float] = 0.5  # see segment_tracker.sheet_thickness_m
    part_share: ClassVar[float] = 0.5  # share of a thing inside a larger one from which it is a part of that


class OnnxDetectorConfig(Parameters):
    """Parameters of a detector that is an ONNX model."""

    model: str = parameter("", "path of an .onnx file; docs/perception.md lists the known layouts")
    class_names: str = parameter(
        "",
        "path of a text file with the name of one class a line, in the model's order; empty: the names "
        "that the YAML file beside the model or its metadata hold",
    )
    prompts: str = parameter(
        "", "what an open-vocabulary model looks for, separated by commas; empty: the names in class_names"
    )
    layout: LayoutName = parameter("auto", "layout of the outputs; auto: told from names, shapes and metadata")
    min_score: Live[float] = parameter(0.3, "score below which a detection is dropped", 0.0, 1.0)
    max_overlap: Live[Expert[float]] = parameter(
        0.6,
        "intersection over union above which the weaker of two boxes is dropped, where a model leaves that to others",
        0.0,
        1.0,
    )
    input_px: int = parameter(0, "side of the model's input; 0: the model's own, or 640 where it takes any", 0, 4096)
    batch: Expert[int] = parameter(1, "images in one run, where the model takes any number", 1, 64)
    threads: int = parameter(2, "threads of one run on the CPU", 1, 256)
    providers: str = parameter(
        "CPU",
        "what onnxruntime may run the model on, the first choice first, separated by commas: CPU, CUDA, "
        "TensorRT, OpenVINO; `CUDA` alone refuses to start without a GPU, `CUDA, CPU` warns and takes the CPU",
    )
