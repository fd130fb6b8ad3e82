"""The calls of Cyclone DDS's C API that an RMW layer needs, bound with ctypes to the `cyclonedds` wheel's library.

Sample data crosses this boundary as CDR bytes (dds_takecdr, dds_writecdr), as in rmw_cyclonedds_cpp. The wheel's own
Python classes are not used: they deserialise field by field and hold the interpreter lock while they write. Every
call here releases it.
"""

import ctypes as ct
import importlib.util
import runpy
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ros_embedded.rclpy.exceptions import RCLError

# The layouts of structures below are those of the C headers of this release series.
_RELEASE = "11.0."
if not version("cyclonedds").startswith(_RELEASE):
    raise ImportError(f"ros_embedded is written for cyclonedds {_RELEASE}*, found {version('cyclonedds')}")
# The package itself is not imported: its own classes take as long as all of rclpy's here.
_package = importlib.util.find_spec("cyclonedds")
assert _package is not None, "the wheel whose version was found has the package"
_lib = ct.CDLL(str(runpy.run_path(f"{Path(str(_package.origin)).parent}/__library__.py")["library_path"]))

INFINITE = 0x7FFFFFFFFFFFFFFF
ANY_STATE = 0x7F
BUILTIN_PUBLICATIONS = 0x7FFF0003
BUILTIN_SUBSCRIPTIONS = 0x7FFF0004
_BATCH = 16


class DDSError(RCLError):
    """A call into Cyclone DDS failed."""


class SampleInfo(ct.Structure):
    """dds_sample_info_t."""

    _fields_ = (
        ("sample_state", ct.c_uint),
        ("view_state", ct.c_uint),
        ("instance_state", ct.c_uint),
        ("valid_data", ct.c_bool),
        ("source_timestamp", ct.c_int64),
        ("instance_handle", ct.c_uint64),
        ("publication_handle", ct.c_uint64),
        ("disposed_generation_count", ct.c_uint32),
        ("no_writers_generation_count", ct.c_uint32),
        ("sample_rank", ct.c_uint32),
        ("generation_rank", ct.c_uint32),
        ("absolute_generation_rank", ct.c_uint32),
    )


class IoVector(ct.Structure):
    """struct iovec."""

    _fields_ = (("base", ct.c_void_p), ("length", ct.c_size_t))


class _MetaData(ct.Structure):
    _fields_ = (("data", ct.c_void_p), ("size", ct.c_uint32))


class TopicDescriptor(ct.Structure):
    """dds_topic_descriptor_t."""

    _fields_ = (
        ("size", ct.c_uint32),
        ("align", ct.c_uint32),
        ("flags", ct.c_uint32),
        ("key_count", ct.c_uint32),
        ("type_name", ct.c_char_p),
        ("keys", ct.c_void_p),
        ("op_count", ct.c_uint32),
        ("ops", ct.POINTER(ct.c_uint32)),
        ("meta", ct.c_char_p),
        ("type_information", _MetaData),
        ("type_mapping", _MetaData),
        ("restrict_data_representation", ct.c_uint32),
    )


class BuiltinEndpoint(ct.Structure):
    """dds_builtintopic_endpoint_t."""

    _fields_ = (
        ("key", ct.c_uint8 * 16),
        ("participant_key", ct.c_uint8 * 16),
        ("participant_handle", ct.c_uint64),
        ("topic_name", ct.c_char_p),
        ("type_name", ct.c_char_p),
        ("qos", ct.c_void_p),
    )


def _bind(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_lib, name)
    function.restype, function.argtypes = result, arguments
    return function


_entity, _handle, _duration, _pointer, _status = ct.c_int32, ct.c_uint64, ct.c_int64, ct.c_void_p, ct.c_int32

_strretcode = _bind("dds_strretcode", ct.c_char_p, _status)
create_domain = _bind("dds_create_domain", _entity, ct.c_uint32, ct.c_char_p)
create_participant = _bind("dds_create_participant", _entity, ct.c_uint32, _pointer, _pointer)
create_topic = _bind("dds_create_topic", _entity, _entity, ct.POINTER(TopicDescriptor), ct.c_char_p, _pointer, _pointer)
create_reader = _bind("dds_create_reader", _entity, _entity, _entity, _pointer, _pointer)
create_writer = _bind("dds_create_writer", _entity, _entity, _entity, _pointer, _pointer)
create_readcondition = _bind("dds_create_readcondition", _entity, _entity, ct.c_uint32)
create_guardcondition = _bind("dds_create_guardcondition", _entity, _entity)
set_guardcondition = _bind("dds_set_guardcondition", _status, _entity, ct.c_bool)
create_waitset = _bind("dds_create_waitset", _entity, _entity)
waitset_attach = _bind("dds_waitset_attach", _status, _entity, _entity, ct.c_ssize_t)
waitset_detach = _bind("dds_waitset_detach", _status, _entity, _entity)
waitset_wait = _bind("dds_waitset_wait", _status, _entity, ct.POINTER(ct.c_ssize_t), ct.c_size_t, _duration)
delete = _bind("dds_delete", _status, _entity)
_get_guid = _bind("dds_get_guid", _status, _entity, ct.c_uint8 * 16)
_get_instance_handle = _bind("dds_get_instance_handle", _status, _entity, ct.POINTER(_handle))
_set_status_mask = _bind("dds_set_status_mask", _status, _entity, ct.c_uint32)
assert_liveliness = _bind("dds_assert_liveliness", _status, _entity)
wait_for_acks = _bind("dds_wait_for_acks", _status, _entity, _duration)

_take = _bind("dds_take", _status, _entity, ct.POINTER(_pointer), ct.POINTER(SampleInfo), ct.c_size_t, ct.c_uint32)
_return_loan = _bind("dds_return_loan", _status, _entity, ct.POINTER(_pointer), ct.c_int32)
_takecdr = _bind(
    "dds_takecdr", _status, _entity, ct.POINTER(_pointer), ct.c_uint32, ct.POINTER(SampleInfo), ct.c_uint32
)
_writecdr = _bind("dds_writecdr", _status, _entity, _pointer)
_get_entity_sertype = _bind("dds_get_entity_sertype", _status, _entity, ct.POINTER(_pointer))
_serdata_from_ser_iov = _bind(
    "ddsi_serdata_from_ser_iov", _pointer, _pointer, ct.c_int, ct.c_size_t, ct.POINTER(IoVector), ct.c_size_t
)
_serdata_size = _bind("ddsi_serdata_size", ct.c_uint32, _pointer)
_serdata_to_ser_ref = _bind(
    "ddsi_serdata_to_ser_ref", _pointer, _pointer, ct.c_size_t, ct.c_size_t, ct.POINTER(IoVector)
)
_serdata_to_ser_unref = _bind("ddsi_serdata_to_ser_unref", None, _pointer, ct.POINTER(IoVector))
_serdata_unref = _bind("ddsi_serdata_unref", None, _pointer)
_SERDATA_IS_DATA = 2
_view = ct.PYFUNCTYPE(ct.py_object, _pointer, ct.c_ssize_t, ct.c_int)(("PyMemoryView_FromMemory", ct.pythonapi))
_READ_ONLY = 0x100

create_qos = _bind("dds_create_qos", _pointer)
delete_qos = _bind("dds_delete_qos", None, _pointer)
qset_reliability = _bind("dds_qset_reliability", None, _pointer, ct.c_int, _duration)
qset_durability = _bind("dds_qset_durability", None, _pointer, ct.c_int)
qset_history = _bind("dds_qset_history", None, _pointer, ct.c_int, ct.c_int32)
qset_deadline = _bind("dds_qset_deadline", None, _pointer, _duration)
qset_lifespan = _bind("dds_qset_lifespan", None, _pointer, _duration)
qset_liveliness = _bind("dds_qset_liveliness", None, _pointer, ct.c_int, _duration)
qset_userdata = _bind("dds_qset_userdata", None, _pointer, ct.c_char_p, ct.c_size_t)
qset_writer_data_lifecycle = _bind("dds_qset_writer_data_lifecycle", None, _pointer, ct.c_bool)
qset_data_representation = _bind("dds_qset_data_representation", None, _pointer, ct.c_uint32, ct.POINTER(ct.c_int16))
qset_durability_service = _bind("dds_qset_durability_service", None, _pointer, _duration, ct.c_int, *(ct.c_int32,) * 4)
_qget_history = _bind("dds_qget_history", ct.c_bool, _pointer, ct.POINTER(ct.c_int), ct.POINTER(ct.c_int32))
_qget_reliability = _bind("dds_qget_reliability", ct.c_bool, _pointer, ct.POINTER(ct.c_int), ct.POINTER(_duration))
_qget_durability = _bind("dds_qget_durability", ct.c_bool, _pointer, ct.POINTER(ct.c_int))
_qget_deadline = _bind("dds_qget_deadline", ct.c_bool, _pointer, ct.POINTER(_duration))
_qget_lifespan = _bind("dds_qget_lifespan", ct.c_bool, _pointer, ct.POINTER(_duration))
_qget_liveliness = _bind("dds_qget_liveliness", ct.c_bool, _pointer, ct.POINTER(ct.c_int), ct.POINTER(_duration))
_qget_userdata = _bind("dds_qget_userdata", ct.c_bool, _pointer, ct.POINTER(_pointer), ct.POINTER(ct.c_size_t))
_free = _bind("dds_free", None, _pointer)


def check(code: int, what: str) -> int:
    """Return `code`. Raises DDSError if it is negative."""
    if code < 0:
        raise DDSError(f"{what}: {_strretcode(code).decode()}")
    return code


def guid(entity: int) -> bytes:
    """The 16-byte GUID of `entity` on the wire."""
    value = (ct.c_uint8 * 16)()
    check(_get_guid(entity, value), "dds_get_guid")
    return bytes(value)


def instance_handle(entity: int) -> int:
    """The handle under which this process knows `entity`."""
    value = _handle()
    check(_get_instance_handle(entity, ct.byref(value)), "dds_get_instance_handle")
    return value.value


def set_status_mask(entity: int, mask: int) -> None:
    """Choose the statuses (`dds_status_id` bits) that trigger a wait set to which `entity` is attached."""
    check(_set_status_mask(entity, mask), "dds_set_status_mask")


def read_condition(reader: int) -> int:
    """A condition that triggers while `reader` holds samples."""
    return check(create_readcondition(reader, ANY_STATE), "dds_create_readcondition")


def sertype(entity: int) -> int:
    """The type that `entity`'s payloads are checked against."""
    value = _pointer()
    check(_get_entity_sertype(entity, ct.byref(value)), "dds_get_entity_sertype")
    assert value.value is not None
    return value.value


def _address_of(data: bytes | bytearray) -> int | None:
    if isinstance(data, bytearray):
        return ct.addressof(ct.c_char.from_buffer(data))
    return ct.cast(ct.c_char_p(data), _pointer).value


_WORD_OF_ZEROS = ct.c_uint32(0)
_ZEROS = ct.addressof(_WORD_OF_ZEROS)


def write_cdr(writer: int, type_pointer: int, data: bytes | bytearray) -> None:
    """Write one sample, its 4-byte encapsulation header included. Raises DDSError, also if it does not fit the type."""
    padding = -len(data) % 4  # padding to words; without it Cyclone would send whatever memory holds there
    payload = IoVector(_address_of(data), len(data))
    vectors, count = (IoVector * 2)(payload, IoVector(_ZEROS, padding)), 2 if padding else 1
    serdata = _serdata_from_ser_iov(type_pointer, _SERDATA_IS_DATA, count, vectors, len(data) + padding)
    if not serdata:
        raise DDSError("the bytes to write do not fit the topic's type")
    check(_writecdr(writer, serdata), "dds_writecdr")


class Sample(NamedTuple):
    """A received payload as it was read, and its source."""

    data: Any
    source_timestamp: int
    publication_handle: int


def take_cdr(reader: int, read: Callable[[memoryview], Any] = bytes) -> Sample | None:
    """Take the oldest sample with data, or None; `read` gets a view of the payload in Cyclone's memory."""
    serdata, info = (_pointer * 1)(), (SampleInfo * 1)()
    while check(_takecdr(reader, serdata, 1, info, ANY_STATE), "dds_takecdr"):
        try:
            if info[0].valid_data:
                return Sample(_read(serdata[0], read), info[0].source_timestamp, info[0].publication_handle)
        finally:
            _serdata_unref(serdata[0])
    return None


def _read(serdata: int | None, read: Callable[[memoryview], Any]) -> Any:
    size, vector = _serdata_size(serdata), IoVector()
    reference = _serdata_to_ser_ref(serdata, 0, size, ct.byref(vector))
    try:
        with _view(vector.base, size, _READ_ONLY) as payload:
            return read(payload)
    finally:
        _serdata_to_ser_unref(reference, ct.byref(vector))


class EndpointQos(NamedTuple):
    """The policies of a discovered endpoint; durations in nanoseconds, kinds as in dds.h."""

    history: int
    depth: int
    reliability: int
    durability: int
    liveliness: int
    deadline: int
    lifespan: int
    lease_duration: int
    user_data: bytes


class Endpoint(NamedTuple):
    """A discovered reader or writer; `alive` is False once it is gone."""

    alive: bool
    gid: bytes
    participant_gid: bytes
    instance_handle: int
    topic: str
    type_name: str
    qos: EndpointQos | None


def take_endpoints(reader: int) -> list[Endpoint]:
    """Take all news from a reader of BUILTIN_PUBLICATIONS or BUILTIN_SUBSCRIPTIONS."""
    news: list[Endpoint] = []
    while True:
        loans, infos = (_pointer * _BATCH)(), (SampleInfo * _BATCH)()
        count = check(_take(reader, loans, infos, _BATCH, _BATCH), "dds_take")
        if count == 0:
            return news
        for address, info in zip(loans[:count], infos):
            sample = BuiltinEndpoint.from_address(address or 0)
            alive = bool(info.valid_data) and info.instance_state == 16
            news.append(
                Endpoint(
                    alive,
                    bytes(sample.key),
                    bytes(sample.participant_key),
                    info.instance_handle,
                    sample.topic_name.decode() if alive else "",
                    sample.type_name.decode() if alive else "",
                    _read_qos(sample.qos) if alive else None,
                )
            )
        _return_loan(reader, loans, count)


def _read_qos(qos: int) -> EndpointQos:
    history, depth, reliability, durability, liveliness = (ct.c_int() for _ in range(5))
    deadline, lifespan, lease, blocking = (_duration(INFINITE) for _ in range(4))
    _qget_history(qos, ct.byref(history), ct.byref(depth))
    _qget_reliability(qos, ct.byref(reliability), ct.byref(blocking))
    _qget_durability(qos, ct.byref(durability))
    _qget_liveliness(qos, ct.byref(liveliness), ct.byref(lease))
    _qget_deadline(qos, ct.byref(deadline))
    _qget_lifespan(qos, ct.byref(lifespan))
    data, size, user_data = _pointer(), ct.c_size_t(), b""
    if _qget_userdata(qos, ct.byref(data), ct.byref(size)) and data.value:
        user_data = ct.string_at(data.value, size.value)
        _free(data)
    numbers = (history, depth, reliability, durability, liveliness, deadline, lifespan, lease)
    return EndpointQos._make((*(number.value for number in numbers), user_data))


_get_matched_subscriptions = _bind("dds_get_matched_subscriptions", _status, _entity, ct.POINTER(_handle), ct.c_size_t)
_get_matched_publications = _bind("dds_get_matched_publications", _status, _entity, ct.POINTER(_handle), ct.c_size_t)


def matched(entity: int, is_writer: bool) -> list[int]:
    """Instance handles of the remote and local endpoints that match `entity`."""
    call = _get_matched_subscriptions if is_writer else _get_matched_publications
    count = check(call(entity, None, 0), "matched endpoints")
    if count == 0:
        return []
    handles = (_handle * count)()
    return list(handles[: min(count, check(call(entity, handles, count), "matched endpoints"))])


_status_words = ct.c_int32 * 12  # enough for every `dds_*_status`


@cache
def _status_call(name: str) -> Any:
    return _bind(f"dds_get_{name}_status", _status, _entity, ct.POINTER(_status_words))


def take_status(entity: int, name: str) -> list[int]:
    """Read and reset `dds_get_<name>_status` of `entity`, as its 32-bit words."""
    words = _status_words()
    check(_status_call(name)(entity, ct.byref(words)), f"dds_get_{name}_status")
    return list(words)
