"""The DDS domain of this process, configured by ROS 2's environment variables for discovery."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from ros_embedded.rclpy.impl import cyclone

RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")


@dataclass(frozen=True)
class DiscoveryOptions:
    """ROS_AUTOMATIC_DISCOVERY_RANGE and ROS_STATIC_PEERS."""

    automatic_range: str = "SUBNET"
    static_peers: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls) -> DiscoveryOptions:
        """Read them; ROS_LOCALHOST_ONLY, deprecated in ROS 2, wins. Raises ValueError for an unknown range."""
        automatic_range = (os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET").upper()
        if automatic_range not in RANGES:
            raise ValueError(
                f"ROS_AUTOMATIC_DISCOVERY_RANGE is {automatic_range!r}, expected one of {', '.join(RANGES)}"
            )
        if os.environ.get("ROS_LOCALHOST_ONLY") == "1":
            automatic_range = "LOCALHOST"
        peers = os.environ.get("ROS_STATIC_PEERS", "").split(";")
        return cls(automatic_range, tuple(peer.strip() for peer in peers if peer.strip()))


# 64 kB a datagram is faster over loopback than Cyclone's 14 kB, which suits Ethernet.
_LOOPBACK_TRANSPORT = "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize>"
# Holds data while the reading process does not run: 1 MB, Cyclone's default, lost every second image of 1920x1080.
# The kernel gives up to net.core.rmem_max.
_RECEIVE_BUFFER = '<Internal><SocketReceiveBufferSize max="16MB"/></Internal>'
# processes on one host that unicast discovery looks for; rmw_cyclonedds_cpp's value
_MAX_PARTICIPANTS = 32


def domain_configuration(options: DiscoveryOptions) -> str:
    """Cyclone's configuration for `options`, followed by the user's CYCLONEDDS_URI, which wins."""
    general, discovery, peers = "", "", list(options.static_peers)
    if options.automatic_range == "LOCALHOST":
        general = (
            '<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces><AllowMulticast>false</AllowMulticast>'
        )
        general += _LOOPBACK_TRANSPORT
        peers.insert(0, "127.0.0.1")
    elif options.automatic_range == "OFF":
        general = "<AllowMulticast>false</AllowMulticast>"
        discovery = f"<ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_{os.getpid()}</Tag>"
        peers = []
    elif options.automatic_range == "SYSTEM_DEFAULT":
        return os.environ.get("CYCLONEDDS_URI", "")
    if not discovery:
        discovery = "<ParticipantIndex>auto</ParticipantIndex>"
        discovery += f"<MaxAutoParticipantIndex>{_MAX_PARTICIPANTS}</MaxAutoParticipantIndex>"
    if peers:
        discovery += "<Peers>" + "".join(f"<Peer address={quoteattr(peer)}/>" for peer in peers) + "</Peers>"
    built_in = f"<General>{general}</General><Discovery>{discovery}</Discovery>{_RECEIVE_BUFFER}"
    return f"<CycloneDDS><Domain>{built_in}</Domain></CycloneDDS>,{os.environ.get('CYCLONEDDS_URI', '')}"


_lock = threading.RLock()  # a signal's handler may close a domain while its thread opens another
_open: dict[int, tuple[int, int]] = {}  # domain id -> entity, users


def open_domain(domain_id: int) -> None:
    """Join the domain; the environment at the first call configures it."""
    with _lock:
        entity, users = _open.get(domain_id, (0, 0))
        if users == 0:
            configuration = domain_configuration(DiscoveryOptions.from_environment())
            entity = cyclone.check(cyclone.create_domain(domain_id, configuration.encode()), f"domain {domain_id}")
        _open[domain_id] = (entity, users + 1)


def close_domain(domain_id: int) -> None:
    """Leave the domain; the last call ends its threads."""
    with _lock:
        entity, users = _open.pop(domain_id)
        if users > 1:
            _open[domain_id] = (entity, users - 1)
        else:
            cyclone.delete(entity)
