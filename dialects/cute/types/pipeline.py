"""The type of a pipeline: stages of shared memory that producers fill and consumers empty.

!cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152>    mbarriers
!cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152, ctas = 2>
!cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 49152>              with tcgen05.mma
!cute.pipeline<umma_async, stages = 2, consumers = 4>                           of accumulators
!cute.pipeline<cp_async, stages = 3>                                            groups of cp.async
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.data_movement import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.mbarrier import (
    MBARRIER_ARRIVE_EXPECT_TX,
    MBARRIER_BYTES,
)
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import SHARED_MEMORY
from tilewright.dialects.cute_nvgpu.lattice.targets import InstructionFacts, Requirement
from tilewright.dialects.cute_nvgpu.lattice.tmem import TMEM_COMMIT
from tilewright.dialects.labelled import Bracketed, parse_label, parse_natural, parse_word

_COUNTS = ("stages", "producers", "consumers", "bytes")
_COUNTS_OF: dict[str, tuple[str, ...]] = {
    "tma": _COUNTS,
    "tma_umma": ("stages", "producers", "bytes"),
    "umma_async": ("stages", "consumers"),
    "cp_async": ("stages",),
}
"""The counts in the type of each kind of pipeline."""

MAX_STAGES = max(row.dynamic for row in SHARED_MEMORY.values()) // (2 * MBARRIER_BYTES)
"""Each stage has an mbarrier that says it is full, and one that says it is empty."""

_COMPLETED_BY: dict[str, InstructionFacts] = {
    "tma": MBARRIER_ARRIVE_EXPECT_TX,
    "tma_umma": TMEM_COMMIT,
    "umma_async": TMEM_COMMIT,
    "cp_async": CP_ASYNC,
}
"""The instruction of each kind of pipeline that needs most of its target."""


@irdl_attr_definition
class PipelineType(Bracketed, TypeAttribute):
    """A pipeline.

    `tma`: each of `stages` has an mbarrier that says it is full, on which `producers` threads
    arrive and each of them announces `bytes`, and one that says it is empty, on which one thread
    of each of `consumers` warps arrives. With `ctas = 2` the producers of two CTAs, a cluster, fill
    stages of both, and consumers release theirs in both; producers, consumers and bytes are those
    of one CTA. `tma_umma`: a stage is empty when the MMAs that read it are complete. `umma_async`:
    it is full when the MMAs that write it are. With `ctas = 2` the MMAs are those of a pair of
    CTAs, which that of rank 0 issues and commits in both: a thread of either CTA waits for its own
    half of a `tma_umma` stage, that of rank 0 for both; consumers release `umma_async` stages in
    both. `cp_async`: a stage is full when its group of copies is complete.
    """

    name = "cute.pipeline"

    kind: StringAttr
    stages: IntAttr
    producers: IntAttr
    consumers: IntAttr
    bytes: IntAttr
    ctas: IntAttr

    @classmethod
    def get(
        cls,
        kind: str,
        stages: int,
        producers: int = 0,
        consumers: int = 0,
        bytes: int = 0,
        ctas: int = 1,
    ) -> PipelineType:
        """The type of a pipeline. Raises VerifyException."""
        counts = map(IntAttr, (stages, producers, consumers, bytes, ctas))
        return cls(StringAttr(kind), *counts)

    @property
    def arrivals(self) -> tuple[int, int]:
        """How many arrivals make a stage full, and empty: a commit of MMAs is one."""
        return max(self.producers.data, 1), max(self.consumers.data * self.ctas.data, 1)

    @property
    def pairs(self) -> bool:
        """True where its MMAs are those of a pair of CTAs."""
        return self.kind.data != "tma" and self.ctas.data == 2

    def requirement(self) -> Requirement:
        """That of the instructions that fill and empty its stages."""
        return Requirement.of(_COMPLETED_BY[self.kind.data])

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        kind = parse_word(parser, _COUNTS_OF, "kind of pipeline")
        counts: dict[str, int] = dict.fromkeys(_COUNTS, 0)
        for name in _COUNTS_OF[kind]:
            parser.parse_punctuation(",")
            parse_label(parser, name)
            counts[name] = parse_natural(parser)
        ctas = 1
        if kind != "cp_async" and parser.parse_optional_punctuation(","):
            parse_label(parser, "ctas")
            ctas = parse_natural(parser)
        return [StringAttr(kind), *map(IntAttr, (*counts.values(), ctas))]

    def print_inside(self, printer: Printer) -> None:
        printer.print_string(self.kind.data)
        for name in _COUNTS_OF[self.kind.data]:
            printer.print_string(f", {name} = {getattr(self, name).data}")
        if self.ctas.data != 1:
            printer.print_string(f", ctas = {self.ctas.data}")

    def verify(self) -> None:
        for name in (*_COUNTS_OF[self.kind.data], "ctas"):
            count = getattr(self, name).data
            least = 2 if (name, self.kind.data) == ("stages", "cp_async") else 1
            if count < least:
                raise VerifyException(
                    f"pipeline expected at least {least} {name}, got {count}; "
                    f"nearest legal: {least}"
                )
        if self.stages.data > MAX_STAGES:
            raise VerifyException(
                f"pipeline expected at most {MAX_STAGES} stages, whose mbarriers shared memory "
                f"holds, got {self.stages.data}"
            )
