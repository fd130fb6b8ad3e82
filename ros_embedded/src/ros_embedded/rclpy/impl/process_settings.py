"""What Python and the C library do by themselves now and then, at the cost of messages that wait meanwhile."""

import ctypes
import gc
import os

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1  # glibc's malloc.h
_MIB = 1 << 20


def settle_process() -> None:
    """Keep full collections off what was imported (11 ms each), and the memory of large messages for the next ones.

    glibc returns a freed block of an image's size to the system and takes fresh pages for the next image, which costs
    ten times what copying does. Blocks up to 16 MiB now come from memory that is kept, of which 32 MiB may be free.
    A user's MALLOC_TRIM_THRESHOLD_ or MALLOC_MMAP_THRESHOLD_ wins.
    """
    gc.freeze()
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt and not os.environ.keys() & {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}:
        mallopt(_MMAP_THRESHOLD, 16 * _MIB)
        mallopt(_TRIM_THRESHOLD, 32 * _MIB)
