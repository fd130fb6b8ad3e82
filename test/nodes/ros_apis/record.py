"""Records, from the sources of a ROS distribution, the part of its Python API that robot_memory uses:

    python test/nodes/ros_apis/record.py FOLDER_OF_PACKAGES ... > test/nodes/ros_apis/DISTRIBUTION.txt

The folders hold the packages rclpy, launch, launch_ros, ament_index_python. A line is a name that is imported, and for
classes and functions the names of their parameters; for rclpy's Node also the methods. `**` takes keywords of any name.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("rclpy", "launch", "launch_ros", "ament_index_python")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def imported_names() -> set[tuple[str, str]]:
    """Return what memory_node and the launch files import of the packages: (module, name)."""
    found = set()
    for path in (*(ROOT / "memory_node").rglob("*.py"), *(ROOT / "launch").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES:
                found |= {(str(node.module), alias.name) for alias in node.names}
    return found | {("rclpy.node", "Node")}


class Sources:
    """The modules below some folders, parsed."""

    def __init__(self, folders: list[Path]) -> None:
        self._paths = {}
        for folder in folders:
            for path in folder.rglob("*.py"):
                name = ".".join(path.relative_to(folder).with_suffix("").parts)
                self._paths[name.removesuffix(".__init__")] = path
        self._trees: dict[str, ast.Module] = {}

    def find(self, module: str, name: str) -> tuple[str, ast.AST] | None:
        """Return where a name is defined, through imports, and its definition; None if the module has no such name."""
        if f"{module}.{name}" in self._paths:
            return f"{module}.{name}", ast.Module(body=[], type_ignores=[])
        for node in ast.walk(self._tree(module)) if module in self._paths else ():
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return module, node
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if name == (alias.asname or alias.name):
                        return self.find(self._source(module, node), alias.name) or (module, node)
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    return module, node
        return None

    def parameters(self, module: str, node: ast.AST) -> list[str]:
        """Return the names that a call may use; of classes those of the bases, too, where `**` passes them on."""
        if isinstance(node, ast.ClassDef):
            inits = [item for item in node.body if isinstance(item, Function) and item.name == "__init__"]
            names = _names(inits[-1])[1:] if inits else ["**"]  # those before are overloads
            if "**" not in names:
                return names
            bases = [self.find(module, base.id) for base in node.bases if isinstance(base, ast.Name)]
            of_bases = [name for base in bases if base is not None for name in self.parameters(*base)]
            own = [name for name in names if name != "**"]
            return list(dict.fromkeys([*own, *of_bases])) if of_bases else names
        return _names(node) if isinstance(node, Function) else []

    def _tree(self, module: str) -> ast.Module:
        if module not in self._trees:
            self._trees[module] = ast.parse(self._paths[module].read_text())
        return self._trees[module]

    def _source(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return str(node.module)
        is_package = self._paths[module].name == "__init__.py"
        parts = module.split(".")
        parts = parts[: len(parts) - node.level + is_package]
        return ".".join([*parts, *([node.module] if node.module else [])])


def _names(function: Function) -> list[str]:
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [*names, *(["**"] if arguments.kwarg else [])]


def _is_overload(method: Function) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "overload" for decorator in method.decorator_list)


def main(folders: list[str]) -> None:
    """Print the record."""
    sources = Sources([Path(folder) for folder in folders])
    for module, name in sorted(imported_names()):
        found = sources.find(module, name)
        if found is None:
            continue
        where, node = found
        print(f"{module}.{name}({', '.join(sources.parameters(where, node))})")
        if (module, name) == ("rclpy.node", "Node") and isinstance(node, ast.ClassDef):
            for method in sorted(
                (item for item in node.body if isinstance(item, Function)), key=lambda item: item.name
            ):
                if not method.name.startswith("_") and not _is_overload(method):
                    print(f"{module}.{name}.{method.name}({', '.join(_names(method)[1:])})")


if __name__ == "__main__":
    main(sys.argv[1:])
