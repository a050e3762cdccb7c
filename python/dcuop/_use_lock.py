"""The lock that keeps an entry in the cache while a process has it loaded."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from typing import Optional

# F_OFD_SETLK of Linux's generic fcntl.h (x86_64, aarch64, ...); Python's fcntl names it from 3.9 on.
_F_OFD_SETLK = getattr(fcntl, "F_OFD_SETLK", 37)


# A clean-up holds the byte for as long as a rename takes.
_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.02


def lock_for_use(file: str, offset: int) -> Optional[int]:
    """A shared lock on the byte at `offset`: its descriptor. Held until that is closed or the process ends.

    An open-file-description lock: closing another descriptor of the same file does not drop it, as it would
    drop a classic POSIX lock. None when somebody keeps the byte to himself for longer than a clean-up takes.
    OSError when the file cannot be opened or its file system has no locks.
    """
    # The first to need the file makes it, readable to all, as others may load from a cache that is shared with
    # them; in a cache that is read-only to us it has to be there.
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    # struct flock with 64-bit off_t: l_type, l_whence, l_start, l_len, l_pid (0, as OFD locks demand).
    request = struct.pack("@hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, offset, 1, 0)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            fcntl.fcntl(descriptor, _F_OFD_SETLK, request)
            return descriptor
        except OSError as error:
            busy = error.errno in (errno.EAGAIN, errno.EACCES)
            if not busy or time.monotonic() > deadline:
                os.close(descriptor)
                if busy:
                    return None
                raise
        time.sleep(_POLL_SECONDS)
