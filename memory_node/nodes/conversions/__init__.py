"""The one place where a ROS message becomes a domain object or the reverse."""

from memory_node.nodes.conversions.answers import *
from memory_node.nodes.conversions.geometry import *
from memory_node.nodes.conversions.guidance import *
from memory_node.nodes.conversions.past import *
from memory_node.nodes.conversions.scene import *
from memory_node.nodes.conversions.sensors import *
from memory_node.nodes.conversions.skills import *
