"""The detector node: colour images in, Detection2DArray and instance masks of an ONNX detector out."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from robot_memory.srv import SetDetectorClasses
from sensor_msgs.msg import Image
from vision_msgs.msg import Detection2DArray

from memory_node.catalogue.class_name import spoken
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.process import Newest, WorkerThread
from memory_node.nodes import conversions
from memory_node.nodes.diagnostics import Diagnosis, InputCounters, StageGuard
from memory_node.nodes.inputs.camera_topics import COLOR, topic_of
from memory_node.nodes.managed_node import ManagedNode
from memory_node.nodes.node_parameters import DetectorParameters
from memory_node.nodes.qos import OVERRIDABLE
from memory_node.perception.image_decoding import labels_from_masks
from memory_node.perception.onnx_detector import OnnxDetector

_WAIT_S, _STOP_S = 0.5, 10.0


class DetectorNode(ManagedNode):
    """Detects in the newest image; images that come while it is busy are skipped, and counted. Configured, the model
    is open. Where the model gives masks, detection i owns the pixels i + 1 of the image on detections/masks."""

    def __init__(self) -> None:
        super().__init__("detector", DetectorParameters)
        self.start()

    def configure(self) -> None:
        """Open the model."""
        self._detector = _open(self.config)
        self._model_lock = threading.Lock()
        layout, count, running_on = self._detector.layout, len(self._detector.names), self._detector.running_on
        self.get_logger().info(f"{self.config.model}: layout {layout}, detects {count} classes, runs on {running_on}")

    def activate(self) -> None:
        """Detect."""
        self._counters = InputCounters()
        self._guard = StageGuard(self._counters, self.get_logger())
        self._age_ms = 0.0
        self._complained = ""
        self._has_masks = False
        self._publisher = self.create_publisher(Detection2DArray, "detections", 10, qos_overriding_options=OVERRIDABLE)
        self._masks = self.create_publisher(Image, "detections/masks", 10, qos_overriding_options=OVERRIDABLE)
        self._newest = newest = Newest[Any]()
        profile = QoSProfile(depth=1, reliability=qos_profile_sensor_data.reliability)
        kind, topic = topic_of(COLOR, self.config.image_transport)
        self.create_subscription(kind, topic, newest.put, profile, qos_overriding_options=OVERRIDABLE)
        self.create_service(SetDetectorClasses, "~/set_classes", self._set_classes)
        self.publish_diagnostics(self.config.diagnostic_updater, {"images": self._diagnosis})
        self._thread = WorkerThread("detector", partial(self._work_off, newest))
        self._thread.start()

    def deactivate(self) -> None:
        """Finish the image that is being looked at, and take no more."""
        self._newest.end()
        self._thread.join(_STOP_S)

    def _work_off(self, newest: Newest[Any]) -> None:
        while not newest.ended:
            message = newest.take(_WAIT_S)
            if message is not None:
                with self._guard.stage(COLOR):
                    self._on_image(message)

    def _on_image(self, msg: Any) -> None:
        stamp_ns = conversions.stamp_from_msg(msg.header.stamp)
        color = conversions.color_from_msg(msg)
        with self._model_lock:
            found = self._detector.detect(color, None, None)
        self._counters.used("images")
        self._publisher.publish(conversions.detections_to_msg(found, stamp_ns, msg.header.frame_id))
        self._has_masks = self._has_masks or any(one.mask is not None for one in found)
        if self._has_masks:
            shape = (color.shape[0], color.shape[1])
            nothing = np.zeros(shape, bool)
            labels = labels_from_masks([nothing if one.mask is None else one.mask for one in found], shape)
            image = conversions.image_to_msg(labels.astype(np.uint16), "16UC1", stamp_ns, msg.header.frame_id)
            self._masks.publish(image)
        self._age_ms = (self.now_ns() - stamp_ns) * 1e-6
        self._complain()

    def _complain(self) -> None:
        complaint = self._detector.complaint
        if complaint and not self._complained:
            self.get_logger().warning(complaint)
        self._complained = complaint

    def _set_classes(
        self, request: SetDetectorClasses.Request, response: SetDetectorClasses.Response
    ) -> SetDetectorClasses.Response:
        try:
            with self._model_lock:
                self._detector.set_prompts(list(request.classes))
            response.success, response.message = True, f"looking for {len(request.classes)} classes"
        except InvalidValueError as error:
            response.success, response.message = False, str(error)
        return response

    def _diagnosis(self) -> Diagnosis:
        figures: dict[str, object] = {**self._counters.values(), "skipped.busy": self._newest.skipped}
        figures["age_ms"] = round(self._age_ms, 1)
        figures["running_on"] = self._detector.running_on
        problems = [self._complained] if self._complained else []
        return Diagnosis(figures, tuple(problems))


def _open(config: DetectorParameters) -> OnnxDetector:
    """Open the model, which looks at an empty image, so that a model that does not fit is told at the start.

    Raises:
        InvalidValueError: no model is given, or its outputs fit no known layout.
        ResourceMissingError: there is no such file.
    """
    if not config.model:
        raise InvalidValueError(
            "detector: set the parameter model, for example -p model:=/models/yolo.onnx "
            "-p class_names:=/models/names.txt"
        )
    if config.label_space and not config.prompts and not config.class_names:
        names = load_catalogue(config.label_space).names
        prompts = ",".join(dict.fromkeys(spoken(name) for name in names))
        detector = OnnxDetector(config.changed(prompts=prompts))
        detector.config = config  # whose thresholds may change while it runs
        return detector
    return OnnxDetector(config)
