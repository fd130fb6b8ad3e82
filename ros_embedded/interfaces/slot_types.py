"""The types in SLOT_TYPES of a message class, served as `rosidl_parser.definition`."""

from __future__ import annotations

from dataclasses import dataclass

from ros_embedded.interfaces.definitions import PRIMITIVES, FieldType


class AbstractType:
    """Any type."""


class AbstractNestableType(AbstractType):
    """A type that can be an element of an array."""


@dataclass(frozen=True)
class BasicType(AbstractNestableType):
    """A number, boolean or octet by its IDL name."""

    typename: str


@dataclass(frozen=True)
class NamespacedType(AbstractNestableType):
    """A message by its namespaces such as ('std_msgs', 'msg') and its name."""

    namespaces: tuple[str, ...]
    name: str

    def namespaced_name(self) -> tuple[str, ...]:
        """The namespaces and the name in one tuple."""
        return (*self.namespaces, self.name)


class AbstractGenericString(AbstractNestableType):
    """A string of any kind."""

    def has_maximum_size(self) -> bool:
        """True for bounded strings."""
        return hasattr(self, "maximum_size")


class AbstractString(AbstractGenericString):
    """A string of 8-bit characters."""


class AbstractWString(AbstractGenericString):
    """A string of wide characters."""


@dataclass(frozen=True)
class BoundedString(AbstractString):
    """A string of at most maximum_size characters."""

    maximum_size: int


@dataclass(frozen=True)
class UnboundedString(AbstractString):
    """A string of any length."""


@dataclass(frozen=True)
class BoundedWString(AbstractWString):
    """A wide string of at most maximum_size characters."""

    maximum_size: int


@dataclass(frozen=True)
class UnboundedWString(AbstractWString):
    """A wide string of any length."""


@dataclass(frozen=True)
class AbstractNestedType(AbstractType):
    """An array or sequence of value_type."""

    value_type: AbstractNestableType


@dataclass(frozen=True)
class Array(AbstractNestedType):
    """Exactly size elements."""

    size: int

    def has_maximum_size(self) -> bool:
        """An array's size is fixed."""
        return True


class AbstractSequence(AbstractNestedType):
    """A varying number of elements."""


@dataclass(frozen=True)
class BoundedSequence(AbstractSequence):
    """At most maximum_size elements."""

    maximum_size: int

    def has_maximum_size(self) -> bool:
        """A bounded sequence has one."""
        return True


@dataclass(frozen=True)
class UnboundedSequence(AbstractSequence):
    """Any number of elements."""

    def has_maximum_size(self) -> bool:
        """An unbounded sequence has none."""
        return False


def slot_type(kind: FieldType) -> AbstractType:
    """The rosidl type of a field."""
    element: AbstractNestableType
    if kind.is_message:
        *namespaces, name = kind.name.split("/")
        element = NamespacedType(tuple(namespaces), name)
    elif kind.name == "string":
        element = BoundedString(kind.string_bound) if kind.string_bound else UnboundedString()
    elif kind.name == "wstring":
        element = BoundedWString(kind.string_bound) if kind.string_bound else UnboundedWString()
    else:
        element = BasicType(PRIMITIVES[kind.name].idl_name)
    if not kind.array:
        return element
    if kind.array == "unbounded":
        return UnboundedSequence(element)
    return (Array if kind.array == "fixed" else BoundedSequence)(element, kind.size)
