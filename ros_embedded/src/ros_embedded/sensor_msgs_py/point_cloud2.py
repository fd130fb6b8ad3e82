"""Point clouds to and from numpy arrays: the API of Jazzy's sensor_msgs_py.point_cloud2."""

from __future__ import annotations

import array
import sys
from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured

from ros_embedded.interfaces import get_message

PointCloud2 = get_message("sensor_msgs/msg/PointCloud2")
PointField = get_message("sensor_msgs/msg/PointField")
DUMMY_FIELD_PREFIX = "unnamed_field"
_DATATYPES = {
    getattr(PointField, name.upper()): np.dtype(name)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64")
}


def dtype_from_fields(fields: Iterable[Any], point_step: int | None = None) -> np.dtype:
    """The structured dtype of PointFields; one of several counts becomes `name_0`, `name_1`, ..."""
    names, formats, offsets = [], [], []
    for index, field in enumerate(fields):
        assert field.count > 0, "Can't process fields with count = 0."
        datatype, name = _DATATYPES[field.datatype], field.name or f"{DUMMY_FIELD_PREFIX}_{index}"
        for part in range(field.count):
            names.append(name if field.count == 1 else f"{name}_{part}")
            formats.append(datatype.str)
            offsets.append(field.offset + part * datatype.itemsize)
    assert len(set(names)) == len(names), "Duplicate field names are not allowed!"
    layout: Any = {"names": names, "formats": formats, "offsets": offsets}
    if point_step is not None:
        layout["itemsize"] = point_step
    return np.dtype(layout)


def read_points(
    cloud: Any,
    field_names: Iterable[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | None = None,
    reshape_organized_cloud: bool = False,
) -> np.ndarray:
    """The points of a PointCloud2 as a structured array, (points,) or (width, height) if organised.

    `skip_nans` leaves out points with a NaN in a read field unless the cloud says it is dense; `uvs` picks by index.
    """
    assert isinstance(cloud, PointCloud2), "Cloud is not a sensor_msgs.msg.PointCloud2"
    dtype = dtype_from_fields(cloud.fields, cloud.point_step)
    points = np.ndarray(
        (cloud.width * cloud.height,), dtype.newbyteorder(">" if cloud.is_bigendian else "<"), cloud.data
    )
    points = points.astype(dtype, copy=False)
    if field_names is not None:
        names = list(field_names)
        assert set(names) <= set(dtype.names or ()), "Requests field is not in the fields of the PointCloud!"
        points = points[names]
    if skip_nans and not cloud.is_dense:
        points = points[~np.any([np.isnan(points[name]) for name in points.dtype.names or ()], axis=0)]
    if uvs is not None:
        points = points[uvs if isinstance(uvs, np.ndarray) else np.fromiter(uvs, int)]
    return points.reshape(cloud.width, cloud.height) if reshape_organized_cloud and cloud.height > 1 else points


def read_points_numpy(
    cloud: Any,
    field_names: Sequence[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | None = None,
    reshape_organized_cloud: bool = False,
) -> np.ndarray:
    """As read_points, as a plain array (points, fields); all fields must be of one type."""
    kinds = {field.datatype for field in cloud.fields if field_names is None or field.name in field_names}
    assert len(kinds) <= 1, "All fields need to have the same datatype. Use `read_points()` otherwise."
    return structured_to_unstructured(read_points(cloud, field_names, skip_nans, uvs, reshape_organized_cloud))


def read_points_list(
    cloud: Any, field_names: Sequence[str] | None = None, skip_nans: bool = False, uvs: Iterable[int] | None = None
) -> list[Any]:
    """As read_points, as a list of named tuples."""
    names = [field.name for field in cloud.fields] if field_names is None else list(field_names)
    point: Any = namedtuple("Point", names)  # type: ignore[misc]
    return [point._make(values) for values in read_points(cloud, names, skip_nans, uvs)]


def create_cloud(header: Any, fields: Sequence[Any], points: Any, point_step: int | None = None) -> Any:
    """A PointCloud2 of points: tuples, a structured array, or a plain array (..., fields) if all are of one type.

    A two-dimensional array of points makes an organised cloud.
    """
    dtype = dtype_from_fields(fields, point_step)
    if not isinstance(points, np.ndarray):
        points = np.array([tuple(point) for point in points], dtype)
    elif points.dtype.names is None:
        assert len({field.datatype for field in fields}) <= 1, "All fields need to have the same datatype."
        points = unstructured_to_structured(points, dtype)
    else:
        assert points.dtype == dtype, "PointFields and structured NumPy array dtype do not match for all fields!"
    assert points.ndim <= 2, "Points can only be organized in max. two dimensional space"
    width, height = points.shape if points.ndim == 2 else (len(points), 1)
    step = points.dtype.itemsize
    data = array.array("B", points.tobytes())
    size = {"width": width, "height": height, "point_step": step, "row_step": step * width}
    return PointCloud2(
        header=header, fields=fields, data=data, is_bigendian=sys.byteorder == "big", is_dense=False, **size
    )


def create_cloud_xyz32(header: Any, points: Any) -> Any:
    """A PointCloud2 with x, y and z as float32."""
    kind = PointField.FLOAT32
    fields = [PointField(name=name, offset=4 * place, datatype=kind, count=1) for place, name in enumerate("xyz")]
    return create_cloud(header, fields, points)
