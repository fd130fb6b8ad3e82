"""Our nodes keep clear of the attributes in which rclpy's Node keeps its own things (those of Jazzy, listed here)."""

import ast
from pathlib import Path

import memory_node.nodes

RCLPY_NODE_ATTRIBUTES = """
    _allow_undeclared_parameters _clients _clock _context _default_callback_group _descriptors _guards _logger
    _on_set_parameters_callbacks _parameter_event_publisher _parameter_overrides _parameter_service _parameters
    _post_set_parameters_callbacks _pre_set_parameters_callbacks _publishers _rate_group _services _subscriptions
    _time_source _timers _type_description_service
"""


def attributes_set_by_nodes():
    for path in Path(memory_node.nodes.__file__).parent.rglob("*.py"):
        for node_class in ast.walk(ast.parse(path.read_text())):
            if isinstance(node_class, ast.ClassDef) and any(
                ast.unparse(one).endswith("Node") for one in node_class.bases
            ):
                targets = (node for node in ast.walk(node_class) if isinstance(node, ast.Attribute))
                for target in targets:
                    if isinstance(target.ctx, ast.Store) and ast.unparse(target.value) == "self":
                        yield f"{path.name}: {node_class.name}", target.attr


def test_no_node_shadows_an_attribute_of_rclpy():
    found = list(attributes_set_by_nodes())
    assert found, "no node class was found"
    assert [(where, name) for where, name in found if name in RCLPY_NODE_ATTRIBUTES.split()] == []
