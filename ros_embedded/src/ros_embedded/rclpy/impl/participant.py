"""The DDS participant behind a context: one a context, shared by its nodes, as in rmw_cyclonedds_cpp."""

from __future__ import annotations

import itertools

from ros_embedded.interfaces.type_description import type_hash
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.discovery import Graph, NodeEntities
from ros_embedded.rclpy.impl.domain import close_domain, open_domain
from ros_embedded.rclpy.impl.endpoint import Reader, Writer
from ros_embedded.rclpy.impl.lifetime import Lifetime
from ros_embedded.rclpy.impl.typesupport import topic_descriptor
from ros_embedded.rclpy.qos import QoSProfile


class Participant:
    """Creates endpoints and announces to the graph which node owns them."""

    def __init__(self, domain_id: int) -> None:
        self._domain_id = domain_id
        open_domain(domain_id)
        qos = cyclone.create_qos()
        enclave = b"enclave=/;"
        cyclone.qset_userdata(qos, enclave, len(enclave))
        try:
            self.entity = cyclone.check(
                cyclone.create_participant(domain_id, qos, None), f"participant in domain {domain_id}"
            )
        except cyclone.DDSError:
            close_domain(domain_id)
            raise
        finally:
            cyclone.delete_qos(qos)
        self.gid = cyclone.guid(self.entity)
        self.lifetime = Lifetime(self._delete)
        self.graph = Graph(self.entity, self.lifetime)
        self._service_ids = itertools.count(1)
        self.is_ending = False  # shutdown has begun: no new endpoints

    def create_writer(
        self, node: NodeEntities, topic: str, type_name: str, qos: QoSProfile, client_or_service: str = ""
    ) -> Writer:
        """A writer that belongs to `node`; `client_or_service` is the USER_DATA of an endpoint of those."""
        with self.graph.announcement():
            writer = Writer(*self._arguments(topic, type_name, qos, client_or_service))
            node.writers.append(writer.gid)
        return writer

    def create_reader(
        self, node: NodeEntities, topic: str, type_name: str, qos: QoSProfile, client_or_service: str = ""
    ) -> Reader:
        """A reader; see create_writer."""
        with self.graph.announcement():
            reader = Reader(*self._arguments(topic, type_name, qos, client_or_service))
            node.readers.append(reader.gid)
        return reader

    def _arguments(self, topic: str, type_name: str, qos: QoSProfile, mark: str) -> tuple:
        if self.is_ending:
            raise cyclone.DDSError("the context has been shut down")
        user_data = f"{mark}typehash={type_hash(type_name)};".encode()
        return self.entity, self.lifetime, topic, topic_descriptor(type_name, bool(mark)), qos, user_data

    def remove(self, node: NodeEntities, *endpoints: Writer | Reader) -> None:
        if self.lifetime.is_over:
            return
        with self.graph.announcement():
            for endpoint in endpoints:
                gids = node.writers if isinstance(endpoint, Writer) else node.readers
                gids.remove(endpoint.gid)
                endpoint.close()

    def new_service_id(self) -> bytes:
        """Sixteen bytes, unique in the domain, that the two endpoints of a client or service share."""
        return self.gid[:12] + next(self._service_ids).to_bytes(4, "big")

    def close(self) -> None:
        """Leave the domain with all that was created here, at once or when the last call has returned."""
        self.lifetime.end()

    def _delete(self) -> None:
        cyclone.delete(self.entity)
        close_domain(self._domain_id)
