"""Reading a module without garbage collection."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

LARGE = 1 << 16
"""Bytes of a file whose ops are worth a look at the garbage collector's state."""


@contextmanager
def no_collection(size: int) -> Generator[None]:
    """Without garbage collection while a file of so many bytes is read: it would walk the growing
    module again and again, up to half of the time that reading takes, and find nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # What was made counts as old at once, or the next collection of young objects walks
            # all of it. What is frozen stays so; to count it takes as long as to read a kernel.
            if size > LARGE and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
