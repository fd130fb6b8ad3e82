"""What can be tuned in perception; the shipped values are in config/perception.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_node.domain.config_file import read_section
from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class PerceptionConfig:
    """Parameters of the way from masks to boxes; lengths in metres, see config/perception.yaml for each one's
    meaning."""

    pixel_stride: int = 2
    min_depth_m: float = 0.15
    max_depth_m: float = 8.0
    min_pixels: int = 60
    min_points: int = 10
    most_points: int = 700
    voxel_points: int = 500
    depth_gap_m: float = 0.025
    voxel_m: float = 0.01
    trim: float = 0.015
    border_px: int = 2
    occlusion_margin_m: float = 0.04
    occluded_share: float = 0.07
    covered_share: float = 0.3
    depth_sigma_m_at_1m: float = 0.0015
    pose_sigma_m: float = 0.01
    crop_max_px: int = 96
    crop_quality: int = 80

    def __post_init__(self) -> None:
        for name in (
            "pixel_stride",
            "min_pixels",
            "min_points",
            "most_points",
            "depth_gap_m",
            "voxel_m",
            "depth_sigma_m_at_1m",
        ):
            if not getattr(self, name) > 0:
                raise InvalidValueError(
                    f"PerceptionConfig.{name}: expected a positive value, got {getattr(self, name)}"
                )
        if not 0.0 <= self.trim < 0.5:
            raise InvalidValueError(f"PerceptionConfig.trim: expected 0 to 0.5, got {self.trim}")
        if not 0.0 <= self.min_depth_m < self.max_depth_m:
            raise InvalidValueError(f"PerceptionConfig: expected min_depth_m < max_depth_m, got {self}")

    @classmethod
    def load(cls, path: Path | None = None) -> PerceptionConfig:
        """Read a YAML file of parameters (default: the shipped config/perception.yaml)."""
        config: PerceptionConfig = _load("perception", path)
        return config


@dataclass(frozen=True)
class SegmentationConfig:
    """Parameters of the geometric segmentation; lengths in metres. config/perception.yaml explains each one."""

    working_focal_px: float = 262.0
    max_depth_m: float = 4.0
    min_plane_area_m2: float = 0.2
    plane_margin_m: float = 0.006
    min_object_pixels: int = 125
    max_object_m: float = 1.2
    min_height_m: float = 0.012
    concavity: float = 0.5

    def __post_init__(self) -> None:
        for name in (
            "working_focal_px",
            "max_depth_m",
            "min_plane_area_m2",
            "plane_margin_m",
            "max_object_m",
            "concavity",
        ):
            if not getattr(self, name) > 0:
                raise InvalidValueError(
                    f"SegmentationConfig.{name}: expected a positive value, got {getattr(self, name)}"
                )

    @classmethod
    def load(cls, path: Path | None = None) -> SegmentationConfig:
        """Read a YAML file of parameters (default: the shipped config/perception.yaml)."""
        config: SegmentationConfig = _load("segmentation", path)
        return config


def _load(section: str, path: Path | None) -> Any:
    kinds = {"perception": PerceptionConfig, "segmentation": SegmentationConfig}
    return read_section(kinds, section, "config/perception.yaml", path)
