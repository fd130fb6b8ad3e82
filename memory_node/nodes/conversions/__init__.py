"""The one place where a ROS message becomes a domain object or the reverse."""

from memory_node.nodes.conversions.answers import (
    answer_from_msg,
    answer_to_msg,
    location_from_msg,
    ranked_area_from_msg,
    ranked_area_to_msg,
    recollection_from_msg,
    status_from_msg,
    status_to_msg,
    unit_from_msg,
    unit_to_msg,
    units_from_msg,
    units_to_msg,
)
from memory_node.nodes.conversions.contexts import (
    context_from_response,
    context_to_response,
    told_context_from_msg,
    told_context_to_msg,
)
from memory_node.nodes.conversions.geometry import (
    header,
    path_from_msg,
    path_to_msg,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    pose_from_numbers,
    pose_to_msg,
    stamp_from_msg,
    stamp_from_parts,
    stamp_to_msg,
    transform_from_msg,
    transform_to_msg,
    vector_to_msg,
)
from memory_node.nodes.conversions.guidance import (
    compiled_from_response,
    compiled_to_msg,
    compiled_to_response,
    observation_from_request,
    observation_to_request,
)
from memory_node.nodes.conversions.knowledge import mode_named, proposition_from_msg, proposition_to_msg
from memory_node.nodes.conversions.past import (
    deed_from_msg,
    deed_to_msg,
    episode_from_msg,
    episode_to_msg,
    lesson_from_msg,
    lesson_to_msg,
    model_cost_from_msg,
    model_cost_to_msg,
    place_from_msg,
    place_to_msg,
)
from memory_node.nodes.conversions.scene import (
    delta_to_msg,
    object_from_msg,
    snapshot_from_msg,
    snapshot_to_msg,
)
from memory_node.nodes.conversions.sensors import (
    camera_from_msg,
    color_from_msg,
    depth_from_msg,
    detections_3d_from_msg,
    detections_from_msg,
    detections_to_msg,
    grid_from_msg,
    grid_to_msg,
    image_to_msg,
    intrinsics_from_msg,
    intrinsics_to_msg,
    labels_from_msg,
)
from memory_node.nodes.conversions.skills import (
    advice_from_msg,
    advice_to_msg,
    call_from_msg,
    call_to_msg,
    change_from_msg,
    change_to_msg,
    changes_from_msg,
    skill_result_from_msg,
    skill_result_to_msg,
    states_named,
    step_from_msg,
    step_to_msg,
)
