"""The parameters of the scene graph."""

from __future__ import annotations

from typing import ClassVar

from memory_node.domain.parameters import Expert, Live, Parameters, parameter


class SceneGraphConfig(Parameters):
    """Parameters of the scene graph; metres, radians, seconds; probabilities and overlaps from 0 to 1."""

    # association: which observation is which object
    gate_sigma_m: ClassVar[float] = 0.03  # pose noise between two looks, added to both covariances
    min_overlap: ClassVar[float] = 0.25  # least intersection over union of two boxes that may be one thing
    # share of an observation inside a matched object from which it is a part of that object
    fragment_overlap: ClassVar[float] = 0.55
    min_thickness_m: ClassVar[float] = 0.03  # thickness that flat things are given before overlap is measured
    weight_overlap: ClassVar[float] = 1.0  # cost of one minus the overlap
    weight_distance: ClassVar[float] = 1.0  # cost of three sigmas of distance
    weight_size: ClassVar[float] = 0.4  # cost of sides that differ by a factor e
    weight_class: ClassVar[float] = 1.0  # cost of another class
    weight_appearance: ClassVar[float] = 0.5  # cost of one minus the cosine of the appearance embeddings
    max_cost: ClassVar[float] = 2.6  # an observation and an object that cost more are not the same thing
    # views that showed several things minus views that showed one, from which one box becomes several
    split_views: ClassVar[float] = 3.0

    # fusion
    correlated_sigma_m: Expert[float] = parameter(
        0.002, "least uncertainty of a face of a box: errors within one drive go together", 0.0, 1.0
    )
    unseen_face_sigma_m: ClassVar[float] = 0.3  # uncertainty of a face of a box that was never seen
    class_smoothing: ClassVar[float] = 0.05  # weight of the class `object` until a detector names the thing

    # existence
    # highest probability of existence after one sighting; a detector's lower score is taken as it is
    start_existence: ClassVar[float] = 0.8
    # the same after one sighting of a small part, or in the place of a known thing
    start_existence_doubtful: ClassVar[float] = 0.45
    sliver_pixels: ClassVar[int] = 200  # a cut mask with fewer pixels shows only a small part of a thing
    detection_probability: ClassVar[float] = 0.9  # probability that the detector finds what is in clear view
    clutter_probability: ClassVar[float] = 0.1  # probability that a detection is of nothing
    # how much likelier a thing in clear view is to be missed if it is there than if it is gone
    miss_likelihood_ratio: ClassVar[float] = 0.3
    # how much likelier a ray is to pass through a thing's place if it is there than if it is gone
    through_likelihood_ratio: ClassVar[float] = 0.03
    max_existence: ClassVar[float] = 0.995  # highest probability of existence, so that belief can still change
    removed_existence: ClassVar[float] = 0.2  # an object with a lower probability of existence counts as removed
    confirmed_sightings: ClassVar[int] = 3  # an object with fewer sightings that is then missed counts as never there
    evidence_range_m: Live[float] = parameter(
        3.5, "range beyond which nothing counts as missing, because detectors reach no farther", 0.1, 100.0
    )
    evidence_min_pixels: ClassVar[float] = 150.0  # a thing that should appear with fewer pixels may be overlooked
    # a camera that moved less and turned less than view_step_rad repeats its view; that counts a fifth
    view_step_m: ClassVar[float] = 0.05
    view_step_rad: ClassVar[float] = 0.05  # see scene_graph.view_step_m

    # moved or new
    # factor by which the sides of a thing may differ before and after it was moved
    same_instance_size_ratio: ClassVar[float] = 1.6
    # least cosine of a thing's appearance before and after it was moved, where known
    same_instance_cosine: ClassVar[float] = 0.6

    # relations
    on_gap_m: ClassVar[float] = 0.06  # relation on: largest gap between a thing's foot and its support
    # relation on: how far down a thing with a hidden foot may reach to its support
    hidden_foot_m: ClassVar[float] = 0.35
    near_m: Live[Expert[float]] = parameter(0.6, "relation near: largest distance from centre to centre", 0.01, 10.0)
    near_neighbours: ClassVar[int] = 3  # relation near: most neighbours of an object

    # places
    overlooked: Live[Expert[float]] = parameter(
        0.3, "probability that a thing in an area that was just looked at went unseen", 0.001, 1.0
    )
    area_spacing_m: Expert[float] = parameter(
        1.5, "distance between the areas that tile the reachable space", 0.2, 20.0
    )
    robot_radius_m: float = parameter(
        0.2, "radius of the robot's footprint; where it cannot stand is not reachable", 0.0, 5.0
    )
    doorway_m: Expert[float] = parameter(1.1, "widest opening that separates two rooms", 0.1, 10.0)
    min_room_m2: ClassVar[float] = 2.0  # smallest room; smaller parts join their neighbour

    # names of rooms that nobody has named
    room_naming_period_s: ClassVar[float] = 2.0  # least time between two namings of a room whose contents change
    # log-odds between two kinds of room for each unit of cosine that a thing is nearer to one
    room_cosine_slope: ClassVar[float] = 10.0
    room_name_confidence: ClassVar[float] = 0.8  # a room gets the name of a kind that is at least this probable
    room_keep_confidence: ClassVar[float] = 0.4  # a room loses its name when the kind is less probable than this

    # time and history
    clock_jump_s: float = parameter(
        10.0, "a stamp that is further back means that the clock was set back; one less far back came late", 0.1, 1e6
    )
    history_places: ClassVar[int] = 64  # earlier places that are remembered of each object
