"""Effects of ops on memory: none, so that they may be moved and erased, or reading and writing."""

from xdsl.irdl import traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

PURE = traits_def(Pure())
READS = traits_def(MemoryReadEffect())
WRITES = traits_def(MemoryWriteEffect())
READS_AND_WRITES = traits_def(MemoryReadEffect(), MemoryWriteEffect())
