"""The import hook: `rclpy` and its companions are modules of this package, interface packages come from definitions."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ros_embedded.extras import names_missing_extra
from ros_embedded.interfaces import get_action, get_message, get_service
from ros_embedded.interfaces.lookup import KINDS, interface_names, is_interface_package
from ros_embedded.interfaces.message_class import snake_case
from ros_embedded.interfaces.registry import use_installed_classes

_NAMES = (
    "expand_topic_name", "topic_or_service_is_hidden", "validate_full_topic_name", "validate_namespace",
    "validate_node_name", "validate_parameter_name", "validate_topic_name",
)  # fmt: skip
SERVED = {
    **{f"rclpy.{name}": "ros_embedded.rclpy.names" for name in _NAMES},
    "rclpy._rclpy_pybind11": "ros_embedded.rclpy.exceptions",
    "rclpy.clock_type": "ros_embedded.rclpy.time",
    "rclpy.constants": "ros_embedded.rclpy.duration",
    "rclpy.impl.logging_severity": "ros_embedded.rclpy.impl.logging_output",
    "rclpy.type_hash": "ros_embedded.rclpy.topic_endpoint_info",
    "rclpy.qos_event": "ros_embedded.rclpy.event_handler",
    "launch.events.process": "ros_embedded.launch.events",
    "launch_ros.descriptions": "ros_embedded.launch_ros.parameter_descriptions",
    "rclpy": "ros_embedded.rclpy",
    "tf2_ros": "ros_embedded.tf2_ros",
    "tf2_py": "ros_embedded.tf2_ros.buffer_core",
    "cv_bridge": "ros_embedded.cv_bridge",
    "message_filters": "ros_embedded.message_filters",
    "rosidl_runtime_py": "ros_embedded.rosidl_runtime_py",
    "ament_index_python": "ros_embedded.ament_index_python",
    "launch": "ros_embedded.launch",
    "launch_ros": "ros_embedded.launch_ros",
}
_GETTERS = {"msg": get_message, "srv": get_service, "action": get_action}


def install() -> None:
    """Put the finder before all others, so that what is served here wins over installed packages."""
    if not is_installed():
        sys.meta_path.insert(0, _Finder())


def install_companions() -> None:
    """Beside a real rclpy, serve those of its companions that are not installed; they use the real rclpy, too."""
    if not any(isinstance(finder, _CompanionFinder) for finder in sys.meta_path):
        use_installed_classes()
        sys.meta_path[:0] = [_RealRclpyFinder(), _CompanionFinder()]


def is_installed() -> bool:
    """True if install() has been called."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for the names in SERVED and for interface packages; leaves all else to the usual finders."""

    def __init__(self) -> None:
        self._state = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        served = served_name(fullname)
        if served is not None:
            if importlib.util.find_spec(served) is None:
                return None
            return ModuleSpec(fullname, _AliasLoader(served), is_package=True)
        if fullname in sys.stdlib_module_names or getattr(self._state, "is_looking", False):
            return None
        self._state.is_looking = True  # the search may import modules, which must not come back here
        try:
            return _interface_spec(fullname)
        finally:
            self._state.is_looking = False


class _CompanionFinder(importlib.abc.MetaPathFinder):
    """Answers for the packages in SERVED that are not rclpy's and not installed; a folder without files is none."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = fullname.partition(".")[0]
        served = None if package == "rclpy" else served_name(fullname)
        if served is None or importlib.util.find_spec(served) is None:
            return None
        installed = importlib.machinery.PathFinder.find_spec(package)
        if installed is not None and installed.origin is not None:
            return None
        return ModuleSpec(fullname, _AliasLoader(served), is_package=True)


class _RealRclpyFinder(importlib.abc.MetaPathFinder):
    """Lets our companions' imports of ros_embedded.rclpy find the real rclpy."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if f"{fullname}.".startswith("ros_embedded.rclpy."):
            return ModuleSpec(fullname, _AliasLoader(fullname.removeprefix("ros_embedded.")), is_package=True)
        return None


def _interface_spec(fullname: str) -> ModuleSpec | None:
    package, _, rest = fullname.partition(".")
    kind, _, module = rest.partition(".")
    if (kind and kind not in KINDS) or not is_interface_package(package):
        return None
    if not kind:  # with modules of its own it is found as any other; only its msg, srv and action are served here
        found = importlib.machinery.PathFinder.find_spec(package)
        if found is not None and found.origin is not None:
            return found
    if module and interface_of_module(package, kind, module) is None:
        return None
    return ModuleSpec(fullname, _InterfaceLoader(), is_package=not module)


def served_name(fullname: str) -> str | None:
    """The module of this package that stands for a ROS module; None if there is none."""
    for name, served in SERVED.items():
        if fullname == name or fullname.startswith(name + "."):
            return served + fullname[len(name) :]
    return None


def interface_of_module(package: str, kind: str, module: str) -> str | None:
    """The interface that rosidl's private module defines: `std_srvs.srv._set_bool` -> `SetBool`."""
    names = (name for name in interface_names(package, kind) if f"_{snake_case(name)}" == module)
    return next(names, None)


class _AliasLoader(importlib.abc.Loader):
    """Returns the module that is imported under its name in this package, so that both names are one module."""

    def __init__(self, served: str) -> None:
        self._served = served
        self._own: dict[str, Any] = {}

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        with names_missing_extra():
            module = importlib.import_module(self._served)
        self._own = {key: getattr(module, key, None) for key in ("__spec__", "__loader__", "__package__", "__path__")}
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the attributes that the import system overwrote; the module has run under its own name already."""
        for key, value in self._own.items():
            if value is None and key in module.__dict__:
                delattr(module, key)
            elif value is not None:
                setattr(module, key, value)


class _InterfaceLoader(importlib.abc.Loader):
    """Makes the modules `pkg`, `pkg.msg` and `pkg.msg._name`; each class is made at its first use."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _InterfaceModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is no code to run."""


class _InterfaceModule(ModuleType):
    """A module whose classes are made at the first access."""

    @property
    def __all__(self) -> list[str]:
        package, *rest = self.__name__.split(".")
        if not rest:
            return [kind for kind in KINDS if interface_names(package, kind)]
        names = interface_names(package, rest[0])
        return names if len(rest) == 1 else [name for name in names if f"_{snake_case(name)}" == rest[1]]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})

    def __getattr__(self, name: str) -> Any:
        package, *rest = self.__name__.split(".")
        if not rest and name in self.__all__:  # `import std_msgs` alone leads to std_msgs.msg
            return importlib.import_module(f"{package}.{name}")
        if not rest or name.split("_")[0] not in self.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        made = (get_message if "_" in name or rest[0] == "msg" else _GETTERS[rest[0]])(f"{package}/{rest[0]}/{name}")
        setattr(self, name, made)
        return made
