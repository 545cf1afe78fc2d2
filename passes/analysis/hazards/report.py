"""Hazards in words: two accesses, their roles and rounds, and the nearest legal order."""

from dataclasses import dataclass

from xdsl.ir import Operation

from tilewright.source.diagnostic import OpError, messages, named


@dataclass(eq=False)
class Hazard(Exception):
    """A rule that an op breaks, what it breaks it with, what is missing, and where they meet."""

    rule: str
    op: Operation
    other: Operation | None = None
    missing: str = ""
    where: str = ""
    nearest: str = ""

    def error(self) -> OpError:
        """The diagnostic."""
        other = "the kernel" if self.other is None else named(self.other)
        text = _RULES[self.rule].format(other=other, missing=self.missing, nearest=self.nearest)
        where = f"; {self.where}" if self.where else ""
        return OpError(self.op, f"'{self.op.name}' {text}{where}")


WAIT = "cute_nvgpu.mbarrier.wait"
AFTER = "cute_nvgpu.tcgen05.fence.after_thread_sync"
BEFORE = "cute_nvgpu.tcgen05.fence.before_thread_sync"
COMMIT = "cute_nvgpu.tcgen05.commit"

NO_COMMIT = f"no tcgen05.commit follows it; nearest legal: {COMMIT} after it, {WAIT} before this"
NO_WAIT = (
    "no wait for the mbarrier of its tcgen05.commit is before this; nearest legal: "
    f"{WAIT} before it"
)
NO_AFTER = f"no tcgen05.fence.after_thread_sync follows the wait; nearest legal: {AFTER} behind it"
NO_BEFORE = (
    f"no tcgen05.fence.before_thread_sync of its threads follows it; nearest legal: {BEFORE} "
    "behind its wait"
)
NO_PHASE = f"no wait for its phase is before this; nearest legal: {WAIT} before it"
NO_SENT = (
    "no cp.async.bulk.wait_group without read of its thread is before this; nearest legal: "
    "cute_nvgpu.cp.async.bulk.wait_group 0 behind it, and a barrier"
)
NO_LANDING = f"no wait for its mbarrier is before this; nearest legal: {WAIT} before it"
NO_ACQUIRE = f"no wait of scope cluster is before this; nearest legal: {WAIT} ... cluster before it"
NO_ORDER = (
    "no barrier or mbarrier orders them; nearest legal: cute_nvgpu.bar.sync between, or an arrival "
    "after it and a wait before this"
)

_TABLE = """
outside: expected a stage of its memory, got the one behind the last, from where its index comes
    back to the first; nearest legal: an index that wraps one earlier
relinquished: expected an allocation before the CTA gives up its permit, got one behind {other};
    nearest legal: it before that (PTX ISA, tcgen05.relinquish_alloc_permit)
permit: expected the permit to be given up behind all allocations, got it beside {other}, and
    {missing} (PTX ISA, tcgen05.relinquish_alloc_permit)
freed: expected tensor memory that is allocated, got what {other} has given back; nearest legal: it
    before that (PTX ISA, tcgen05.dealloc)
unallocated: expected tensor memory that is allocated, got {missing}, which {other} does not give;
    nearest legal: as many columns there (PTX ISA, tcgen05.alloc)
part: expected the {nearest} columns of {other}, got {missing} (an allocation is given back as a
    whole); nearest legal: {nearest} (PTX ISA, tcgen05.dealloc)
fence: expected a wgmma.fence before the first wgmma, got none; nearest legal: wgmma.fence before it
    (PTX ISA 9.7.15.7.1)
leak: expected tensor memory that is given back before the kernel ends, got what nobody does;
    nearest legal: cute_nvgpu.tmem.dealloc behind its last use (PTX ISA, tcgen05.alloc)
accumulator: expected registers that are complete, got those of {other}, which no wgmma.wait_group
    has completed; nearest legal: wgmma.wait_group 0 before it (PTX ISA 9.7.15.7.3)
registers: expected registers that are loaded, got those of {other}, which no tmem.wait_load has
    completed; nearest legal: cute_nvgpu.tmem.wait_load before it (PTX ISA, tcgen05.wait)
stored: expected tensor memory that is stored, got what {other} writes, which no tmem.wait_store has
    completed; nearest legal: cute_nvgpu.tmem.wait_store before it (PTX ISA, tcgen05.wait)
loading: expected tensor memory that nothing reads, got what {other} reads, which no tmem.wait_load
    has completed; nearest legal: cute_nvgpu.tmem.wait_load before it (PTX ISA, tcgen05.wait)
result: expected tensor memory that is complete, got what {other} writes, and {missing} (PTX ISA,
    tcgen05.commit)
read: expected tensor memory that nothing reads, got what {other} reads, and {missing} (PTX ISA,
    tcgen05 memory consistency)
memory: expected shared memory that nothing reads, got what {other} reads, and {missing} (PTX ISA,
    tcgen05.commit)
wgmma: expected memory that no wgmma reads, got that of {other}, {missing} (PTX ISA 9.7.15.7.3)
proxy: expected memory that the async proxy sees, got what {other} wrote; nearest legal:
    cute_nvgpu.fence.proxy.async after it, in the thread that wrote (PTX ISA, {missing})
copied: expected shared memory that is copied, got what {other} writes, and {missing} (PTX ISA,
    cp.async.bulk)
tma.store: expected shared memory that nothing reads, got what {other} reads, {missing} (PTX ISA,
    cp.async.bulk.wait_group)
cp.async: expected shared memory that is copied, got what {other} writes, {missing} (PTX ISA,
    cp.async.wait_group)
race: expected shared memory that other threads are done with, got what {other} {missing}, and
    {no_order} (PTX ISA, memory consistency model)
made: expected an mbarrier that is made, got that of {other}, which no barrier orders before this;
    nearest legal: gpu.barrier after it (PTX ISA, mbarrier.init)
unmade: expected an mbarrier that is made, got one that no mbarrier.init makes before this; nearest
    legal: cute_nvgpu.mbarrier.init and a barrier before it (PTX ISA, mbarrier.init)
again: expected an mbarrier to be made once, by one thread, got {missing}; nearest legal: in a
    branch of one thread (PTX ISA, mbarrier.init)
ended: expected an mbarrier that everybody is done with, got one that {other} may still look at, and
    {missing} (PTX ISA, mbarrier.inval)
begun: expected a CTA of the cluster that has begun, got CTA {missing}, of which nothing is known
    before this; nearest legal: cute_nvgpu.cluster.arrive and cute_nvgpu.cluster.wait before it (PTX
    ISA, barrier.cluster)
unseen: expected an mbarrier that the async proxy sees, got that of {other}, which no
    fence.mbarrier_init follows; nearest legal: cute_nvgpu.fence.mbarrier_init after it (PTX ISA,
    fence.mbarrier_init)
early: expected to arrive behind the phase before, got an arrival that may come while {missing}: its
    thread has not waited for it; nearest legal: cute_nvgpu.mbarrier.wait before it (PTX ISA,
    mbarrier)
count: expected {missing}; nearest legal: {nearest} (PTX ISA, mbarrier.arrive)
missed: expected to see each phase before the next one is over, got a wait that {missing}; nearest
    legal: an arrival behind this wait that the next phase waits for (PTX ISA, mbarrier.try_wait)
deadlock: expected to go on, got a wait that nothing ends: {missing}; nearest legal: {nearest}
elected: expected one thread, got {missing}; nearest legal: in a branch of one thread
    (cute_nvgpu.elect.sync)
read_only: expected memory that is read-only for as long as the kernel runs, got what {other}
    writes; nearest legal: ld.global (PTX ISA, ld.global.nc)
aligned: expected all threads of {missing}; nearest legal: outside of branches that threads of a
    warp take differently (PTX ISA, .sync.aligned)
end: expected to end with no copy in flight, got {other}, {missing} (PTX ISA,
    cp.async.bulk.wait_group)
generation: expected to arrive behind the barrier's last round, got an arrival that may come before
    it is over, so that it counts for that one; nearest legal: another barrier number (PTX ISA, bar)
threads: expected {missing}; nearest legal: {nearest} (PTX ISA, bar)
turns: expected an arrival at the barrier of the cluster before each wait and a wait before the
    next arrival, got {missing} again; nearest legal: {nearest} before it (PTX ISA, barrier.cluster)
leaves: expected to end when other CTAs of the cluster are done with its shared memory, got {other}
    that may still reach it; nearest legal: cute_nvgpu.cluster.arrive and cute_nvgpu.cluster.wait
    before the end (PTX ISA, barrier.cluster)
beside: expected {missing}; nearest legal: {nearest} (PTX ISA, mbarrier)
warps: expected one warp, got {missing}; nearest legal: in a branch of one warp (PTX ISA,
    tcgen05.alloc)
window: expected an access to the warp's own {missing}; nearest legal: lane {nearest} (PTX ISA,
    tcgen05.ld)
nothing: expected shared memory that something has written, got what nothing writes before this;
    nearest legal: what writes it, and a barrier or a wait, before this
array: expected elements of an argument that others are done with, got what {other} {missing} (PTX
    ISA, memory consistency model)
unfenced: expected elements of an argument that the async proxy sees, got what {other} wrote;
    nearest legal: cute_nvgpu.fence.proxy.async behind it and before this (PTX ISA, proxies)
scope: expected a scope that has all threads in it that access these bytes, got {missing} beside
    {other}; nearest legal: the scope {nearest} (PTX ISA, morally strong operations)
published: expected global memory that others are done with, got what {other} accesses, and
    {missing}; nearest legal: {nearest} (PTX ISA, causality order)
pool: expected {missing}; nearest legal: {nearest} (PTX ISA, setmaxnreg)
"""
_RULES = {name: text.replace("{no_order}", NO_ORDER) for name, text in messages(_TABLE).items()}
