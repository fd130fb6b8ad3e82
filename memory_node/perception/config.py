"""The parameters of perception."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator

from memory_node.domain.parameters import Expert, Live, Parameters
from memory_node.perception.detectors.layout_names import LayoutName


class PerceptionConfig(Parameters):
    """Parameters of the way from masks and depth to oriented boxes."""

    pixel_stride: ClassVar[int] = 2  # every so many rows and columns of the image are looked at
    most_points: ClassVar[int] = 700  # points that a large mask is sampled down to, about
    voxel_points: ClassVar[int] = 500  # points from which the voxel filter runs
    min_depth_m: float = Field(default=0.15, ge=0.0, le=100.0, description="depth below which returns are dropped")
    max_depth_m: float = Field(
        default=8.0,
        ge=0.1,
        le=100.0,
        description="depth beyond which returns are dropped, because their noise exceeds small objects",
    )
    min_pixels: Live[Expert[int]] = Field(
        default=60, ge=1, le=1_000_000, description="pixels that a mask must have to be an observation"
    )
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
    depth_sigma_m_at_1m: Expert[float] = Field(
        default=0.0015, ge=0.00001, le=0.5, description="depth noise at 1 m; it grows with the square of the distance"
    )
    pose_sigma_m: Expert[float] = Field(
        default=0.01, ge=0.0, le=1.0, description="uncertainty of the camera's pose in the map"
    )
    crop_max_px: Live[int] = Field(
        default=96, ge=0, le=4096, description="longer side of the stored picture of an object; 0 stores none"
    )
    crop_quality: ClassVar[int] = 80  # JPEG quality of the stored picture of an object

    @model_validator(mode="after")
    def _check_depths(self) -> PerceptionConfig:
        if self.min_depth_m >= self.max_depth_m:
            raise ValueError(f"expected min_depth_m < max_depth_m, got {self.min_depth_m:g} and {self.max_depth_m:g}")
        return self


class SegmentationConfig(Parameters):
    """Parameters of the geometric segmentation: objects from depth alone, without a detector."""

    working_focal_px: ClassVar[float] = 262.0  # focal length that images are thinned out to, about
    max_depth_m: Expert[float] = Field(
        default=4.0, ge=0.1, le=100.0, description="depth beyond which returns are too noisy for surface normals"
    )
    min_plane_area_m2: ClassVar[float] = 0.2  # visible area from which a plane counts as table, floor or wall
    # how far an object must stand out from a plane (plus noise, which grows with the distance)
    plane_margin_m: ClassVar[float] = 0.006
    min_object_pixels: Expert[int] = Field(
        default=125, ge=0, le=1_000_000, description="pixels of the thinned image that an object must have"
    )
    max_object_m: Expert[float] = Field(default=1.2, ge=0.01, le=100.0, description="largest extent of an object")
    min_height_m: ClassVar[float] = 0.012  # least height of an object over its plane
    concavity: ClassVar[float] = 0.5  # change of the surface normal that separates two objects; 0.5 is about 30 degrees


class SegmentTrackerConfig(Parameters):
    """Parameters of what becomes of the segments of many views, without a detector."""

    voxel_m: ClassVar[float] = 0.03  # edge of the voxels in which views vote
    most_voxels: ClassVar[int] = 400_000  # voxels that are kept, those that were seen last
    confirmed_views: Expert[int] = Field(
        default=3, ge=1, le=100, description="views that must show a thing before it is remembered"
    )
    least_votes: ClassVar[float] = 3.0  # views that must show a place as part of a thing for it to count
    least_voxels: ClassVar[int] = 30  # voxels that a thing must have
    joined_views: ClassVar[int] = 3  # views that must show two things as one, less those that show them as two
    max_thing_m: ClassVar[float] = 1.6  # what is longer is structure
    sheet_thickness_m: ClassVar[float] = 0.08  # what is thinner, and wider than sheet_side_m, is structure
    sheet_side_m: ClassVar[float] = 0.5  # see segment_tracker.sheet_thickness_m
    part_share: ClassVar[float] = 0.5  # share of a thing inside a larger one from which it is a part of that


class OnnxDetectorConfig(Parameters):
    """Parameters of a detector that is an ONNX model."""

    model: str = Field(default="", description="path of an .onnx file; docs/perception.md lists the known layouts")
    class_names: str = Field(
        default="",
        description="path of a text file with the name of one class a line, in the model's order; empty: the names "
        "that the YAML file beside the model or its metadata hold",
    )
    prompts: str = Field(
        default="",
        description="what an open-vocabulary model looks for, separated by commas; empty: the names in class_names",
    )
    layout: LayoutName = Field(
        default="auto", description="layout of the outputs; auto: told from names, shapes and metadata"
    )
    min_score: Live[float] = Field(default=0.3, ge=0.0, le=1.0, description="score below which a detection is dropped")
    max_overlap: Live[Expert[float]] = Field(
        default=0.6,
        ge=0.0,
        le=1.0,
        description="intersection over union above which the weaker of two boxes is dropped, where a model leaves that "
        "to others",
    )
    input_px: int = Field(
        default=0,
        ge=0,
        le=4096,
        description="side of the model's input; 0: the model's own, or 640 where it takes any",
    )
    batch: Expert[int] = Field(
        default=1, ge=1, le=64, description="images in one run, where the model takes any number"
    )
    threads: int = Field(default=2, ge=1, le=256, description="threads of one run on the CPU")
    providers: str = Field(
        default="CPU",
        description="what onnxruntime may run the model on, the first choice first, separated by commas: CPU, CUDA, "
        "TensorRT, OpenVINO; `CUDA` alone refuses to start without a GPU, `CUDA, CPU` warns and takes the CPU",
    )
