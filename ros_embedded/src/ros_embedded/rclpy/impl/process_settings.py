"""Settings of Python and the C library that keep pauses out of message handling."""

import ctypes
import functools
import gc
import os

_MMAP_THRESHOLD, _TRIM_THRESHOLD, _ARENA_MAX = -3, -1, -8  # glibc's malloc.h
_MIB = 1 << 20
# Of memory for all threads. One thread of an interpreter runs at a time, so more of them would save little waiting.
_ARENAS = 2


@functools.cache
def settle_process() -> None:
    """Keep imported objects out of garbage collection (11 ms a pass), and freed memory for the next large message.

    glibc returns a freed block of an image's size to the system and takes fresh pages for the next image, which costs
    ten times what copying it costs. With these settings blocks up to 16 MiB come from memory that the process keeps,
    of which up to 32 MiB may be free.
    A user's MALLOC_TRIM_THRESHOLD_ or MALLOC_MMAP_THRESHOLD_ wins.

    glibc gives nearly every new thread an arena of its own, and each keeps what its largest work needed. A process that
    computed images in six threads, and a goal each in a new one, grew for minutes. So all threads share two; a user's
    MALLOC_ARENA_MAX wins.

    Later calls do nothing: a process that starts communication often would keep the garbage of each time for ever.
    """
    gc.freeze()
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt is None:
        return
    if not os.environ.keys() & {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}:
        mallopt(_MMAP_THRESHOLD, 16 * _MIB)
        mallopt(_TRIM_THRESHOLD, 32 * _MIB)
    if "MALLOC_ARENA_MAX" not in os.environ:
        mallopt(_ARENA_MAX, _ARENAS)
