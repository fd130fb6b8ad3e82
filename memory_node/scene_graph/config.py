"""The parameters of the scene graph."""

from __future__ import annotations

from pydantic import Field, model_validator

from memory_node.domain.parameters import Parameters


class SceneGraphConfig(Parameters):
    """Parameters of the scene graph; metres, radians, seconds; probabilities and overlaps from 0 to 1."""

    # association: which observation is which object
    gate_sigma_m: float = Field(
        default=0.03, ge=0.001, le=1.0, description="pose noise between two looks, added to both covariances"
    )
    min_overlap: float = Field(
        default=0.25, ge=0.0, le=1.0, description="least intersection over union of two boxes that may be one thing"
    )
    fragment_overlap: float = Field(
        default=0.55,
        ge=0.0,
        le=1.0,
        description="share of an observation inside a matched object from which it is a part of that object",
    )
    min_thickness_m: float = Field(
        default=0.03, ge=0.001, le=1.0, description="thickness that flat things are given before overlap is measured"
    )
    weight_overlap: float = Field(
        default=1.0,
        ge=0.0,
        le=100.0,
        description="association: cost of one minus the overlap",
    )
    weight_distance: float = Field(
        default=1.0,
        ge=0.0,
        le=100.0,
        description="association: cost of three sigmas of distance",
    )
    weight_size: float = Field(
        default=0.4,
        ge=0.0,
        le=100.0,
        description="association: cost of sides that differ by a factor e",
    )
    weight_class: float = Field(default=1.0, ge=0.0, le=100.0, description="association: cost of another class")
    weight_appearance: float = Field(
        default=0.5,
        ge=0.0,
        le=100.0,
        description="association: cost of one minus the cosine of the appearance embeddings",
    )
    max_cost: float = Field(
        default=2.6,
        ge=0.0,
        le=500.0,
        description="association: an observation and an object that cost more are not the same thing",
    )
    split_views: float = Field(
        default=3.0,
        ge=0.0,
        le=1000.0,
        description="views that showed several things minus views that showed one, from which one box becomes several",
    )

    # fusion
    correlated_sigma_m: float = Field(
        default=0.002,
        ge=0.0,
        le=1.0,
        description="least uncertainty of a face of a box: errors within one drive go together",
    )
    unseen_face_sigma_m: float = Field(
        default=0.3, ge=0.001, le=10.0, description="uncertainty of a face of a box that was never seen"
    )
    class_smoothing: float = Field(
        default=0.05, ge=0.0, le=1.0, description="weight of the class `object` until a detector names the thing"
    )

    # existence
    start_existence: float = Field(
        default=0.8,
        ge=0.001,
        le=0.999,
        description="highest probability of existence after one sighting; a detector's lower score is taken as it is",
    )
    start_existence_doubtful: float = Field(
        default=0.45,
        ge=0.001,
        le=0.999,
        description="the same after one sighting of a small part, or in the place of a known thing",
    )
    sliver_pixels: int = Field(
        default=200, ge=0, le=1_000_000, description="a cut mask with fewer pixels shows only a small part of a thing"
    )
    detection_probability: float = Field(
        default=0.9, ge=0.001, le=0.999, description="probability that the detector finds what is in clear view"
    )
    clutter_probability: float = Field(
        default=0.1, ge=0.001, le=0.999, description="probability that a detection is of nothing"
    )
    miss_likelihood_ratio: float = Field(
        default=0.3,
        ge=0.0,
        le=1.0,
        description="how much likelier a thing in clear view is to be missed if it is there than if it is gone",
    )
    through_likelihood_ratio: float = Field(
        default=0.03,
        ge=0.0,
        le=1.0,
        description="how much likelier a ray is to pass through a thing's place if it is there than if it is gone",
    )
    max_existence: float = Field(
        default=0.995,
        ge=0.5,
        le=0.9999,
        description="highest probability of existence, so that belief can still change",
    )
    removed_existence: float = Field(
        default=0.2, ge=0.001, le=0.999, description="an object with a lower probability of existence counts as removed"
    )
    confirmed_sightings: int = Field(
        default=3, ge=1, le=1000, description="an object with fewer sightings that is then missed counts as never there"
    )
    evidence_range_m: float = Field(
        default=3.5,
        ge=0.1,
        le=100.0,
        description="range beyond which nothing counts as missing, because detectors reach no farther",
    )
    evidence_min_pixels: float = Field(
        default=150.0, ge=0.0, le=1e6, description="a thing that should appear with fewer pixels may be overlooked"
    )
    view_step_m: float = Field(
        default=0.05,
        ge=0.0,
        le=10.0,
        description="a camera that moved less and turned less than view_step_rad repeats its view; that counts a fifth",
    )
    view_step_rad: float = Field(default=0.05, ge=0.0, le=3.15, description="see scene_graph.view_step_m")

    # moved or new
    same_instance_size_ratio: float = Field(
        default=1.6,
        ge=1.0,
        le=10.0,
        description="factor by which the sides of a thing may differ before and after it was moved",
    )
    same_instance_cosine: float = Field(
        default=0.6,
        ge=-1.0,
        le=1.0,
        description="least cosine of a thing's appearance before and after it was moved, where known",
    )

    # relations
    on_gap_m: float = Field(
        default=0.06,
        ge=0.0,
        le=1.0,
        description="relation on: largest gap between a thing's foot and its support",
    )
    hidden_foot_m: float = Field(
        default=0.35,
        ge=0.0,
        le=3.0,
        description="relation on: how far down a thing with a hidden foot may reach to its support",
    )
    near_m: float = Field(
        default=0.6, ge=0.01, le=10.0, description="relation near: largest distance from centre to centre"
    )
    near_neighbours: int = Field(default=3, ge=0, le=100, description="relation near: most neighbours of an object")

    # places
    overlooked: float = Field(
        default=0.3,
        ge=0.001,
        le=1.0,
        description="probability that a thing in an area that was just looked at went unseen",
    )
    area_spacing_m: float = Field(
        default=1.5, ge=0.2, le=20.0, description="distance between the areas that tile the reachable space"
    )
    robot_radius_m: float = Field(
        default=0.2,
        ge=0.0,
        le=5.0,
        description="radius of the robot's footprint; where it cannot stand is not reachable",
    )
    doorway_m: float = Field(default=1.1, ge=0.1, le=10.0, description="widest opening that separates two rooms")
    min_room_m2: float = Field(
        default=2.0,
        ge=0.0,
        le=1000.0,
        description="smallest room; smaller parts join their neighbour",
    )

    # names of rooms that nobody has named
    room_naming_period_s: float = Field(
        default=2.0, ge=0.0, le=3600.0, description="least time between two namings of a room whose contents change"
    )
    room_cosine_slope: float = Field(
        default=10.0,
        ge=0.0,
        le=1000.0,
        description="log-odds between two kinds of room for each unit of cosine that a thing is nearer to one",
    )
    room_name_confidence: float = Field(
        default=0.8, ge=0.0, le=1.0, description="a room gets the name of a kind that is at least this probable"
    )
    room_keep_confidence: float = Field(
        default=0.4, ge=0.0, le=1.0, description="a room loses its name when the kind is less probable than this"
    )

    # time and history
    clock_jump_s: float = Field(
        default=10.0,
        ge=0.1,
        le=1e6,
        description="a stamp that is further back means that the clock was set back; one less far back came late",
    )
    history_places: int = Field(
        default=64,
        ge=1,
        le=100_000,
        description="earlier places that are remembered of each object",
    )

    @model_validator(mode="after")
    def _check_confidences(self) -> SceneGraphConfig:
        if self.room_keep_confidence >= self.room_name_confidence:
            raise ValueError(
                "expected room_keep_confidence < room_name_confidence, got "
                f"{self.room_keep_confidence:g} and {self.room_name_confidence:g}"
            )
        return self
