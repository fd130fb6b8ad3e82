"""What can be tuned in the scene graph; the shipped values are in config/scene_graph.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_node.domain.config_file import read_section
from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class SceneGraphConfig:
    """Parameters of the scene graph; metres, radians, seconds, probabilities. config/scene_graph.yaml explains each
    one."""

    # association
    gate_sigma_m: float = 0.03
    min_overlap: float = 0.25
    fragment_overlap: float = 0.55
    min_thickness_m: float = 0.03
    weight_overlap: float = 1.0
    weight_distance: float = 1.0
    weight_size: float = 0.4
    weight_class: float = 1.0
    weight_appearance: float = 0.5
    max_cost: float = 2.6
    split_views: float = 3.0
    # fusion
    correlated_sigma_m: float = 0.002
    unseen_face_sigma_m: float = 0.3
    class_smoothing: float = 0.05
    # existence
    start_existence: float = 0.8
    start_existence_doubtful: float = 0.45
    sliver_pixels: int = 200
    detection_probability: float = 0.9
    clutter_probability: float = 0.1
    miss_likelihood_ratio: float = 0.3
    through_likelihood_ratio: float = 0.03
    max_existence: float = 0.995
    removed_existence: float = 0.2
    confirmed_sightings: int = 3
    evidence_range_m: float = 3.5
    evidence_min_pixels: float = 150.0
    view_step_m: float = 0.05
    view_step_rad: float = 0.05
    # moved or new
    same_instance_size_ratio: float = 1.6
    same_instance_cosine: float = 0.6
    # relations
    on_gap_m: float = 0.06
    hidden_foot_m: float = 0.35
    near_m: float = 0.6
    near_neighbours: int = 3
    # places
    area_spacing_m: float = 1.5
    robot_radius_m: float = 0.2
    doorway_m: float = 1.1
    min_room_m2: float = 2.0
    # names of rooms
    room_naming_period_s: float = 2.0
    room_cosine_slope: float = 10.0
    room_name_confidence: float = 0.8
    room_keep_confidence: float = 0.4
    # time and history
    clock_jump_s: float = 10.0
    history_places: int = 64

    def __post_init__(self) -> None:
        for name in ("start_existence", "detection_probability", "clutter_probability", "max_existence"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise InvalidValueError(f"SceneGraphConfig.{name}: expected 0 to 1, got {getattr(self, name)}")
        if not 0.0 <= self.room_keep_confidence < self.room_name_confidence <= 1.0:
            raise InvalidValueError(
                f"SceneGraphConfig: expected 0 <= room_keep_confidence < room_name_confidence <= 1, got "
                f"{self.room_keep_confidence} and {self.room_name_confidence}"
            )
        for name in ("gate_sigma_m", "area_spacing_m", "evidence_range_m", "near_m", "doorway_m", "min_thickness_m"):
            if not getattr(self, name) > 0.0:
                raise InvalidValueError(
                    f"SceneGraphConfig.{name}: expected a positive value, got {getattr(self, name)}"
                )

    @classmethod
    def load(cls, path: Path | None = None) -> SceneGraphConfig:
        """Read a YAML file of parameters (default: the shipped config/scene_graph.yaml)."""
        config: SceneGraphConfig = read_section({"scene_graph": cls}, "scene_graph", "config/scene_graph.yaml", path)
        return config
