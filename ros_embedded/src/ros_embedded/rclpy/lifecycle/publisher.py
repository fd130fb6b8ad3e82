"""Publishers that are silent while their node is not active."""

from __future__ import annotations

from typing import Any

from ros_embedded.rclpy.lifecycle.managed_entity import SimpleManagedEntity
from ros_embedded.rclpy.publisher import Publisher


class LifecyclePublisher(SimpleManagedEntity, Publisher):
    """Made by LifecycleNode.create_lifecycle_publisher."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        SimpleManagedEntity.__init__(self)
        Publisher.__init__(self, *args, **kwargs)

    @SimpleManagedEntity.when_enabled
    def publish(self, msg: Any) -> None:
        Publisher.publish(self, msg)
