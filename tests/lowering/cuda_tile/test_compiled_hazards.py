"""Compiled kernels have no hazards, at any level, but where an op that orders is left out."""

from __future__ import annotations

import random
import re

import pytest
from attention_kernel import GIVEN, attention
from covering import THOROUGH
from equivalences import rule_for
from hazards import at_levels, hazards
from mutants import mutants
from test_copied_loads import chained
from test_copied_pointers import gathered
from test_pairs import paired
from test_scale_factors import scaled
from test_warpgroups import product
from tile_ir import entry
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cute_nvgpu.ops.sync import WarpSyncOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import FenceProxyAsyncOp
from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.passes.analysis.hazards.launches import FROM_TILE_IR
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context

PRODUCT = product(("f16", "f16"), (128, 64, 64), persistent=True)
WIDE = product(("tf32", "f32"), (128, 64, 32), convert="f32")
CHAIN = chained(64, 32, "f16")
SHARES = entry(
    "%p: tile<ptr<f32>>",
    """
    %i = iota : tile<1024xi32>
    %r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b = broadcast %r : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %at = offset %b, %i : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %x, %t = load_ptr_tko weak %at : tile<1024xptr<f32>> -> tile<1024xf32>, token
    %y = reduce %x dim = 0 identities = [0.0 : f32] : tile<1024xf32> -> tile<f32>
      (%c : tile<f32>, %d : tile<f32>) {
      %e = addf %c, %d : tile<f32>
      yield %e : tile<f32>
    }
    %s = reshape %y : tile<f32> -> tile<1xf32>
    %w = broadcast %s : tile<1xf32> -> tile<1024xf32>
    %q = divf %x, %w : tile<1024xf32>
    %v = store_ptr_tko weak %at, %q token=%t : tile<1024xptr<f32>>, tile<1024xf32> -> token
""",
)
KERNELS = {
    "shares": (SHARES, ("sm_80", "sm_100a")),
    "product": (PRODUCT, ("sm_80", "sm_90a", "sm_100a")),
    "converted": (WIDE, ("sm_90a",)),
    "chain": (CHAIN, ("sm_80", "sm_120a", "sm_90a", "sm_100a")),
    "attention": (attention(64, 64, 64, GIVEN), ("sm_90a", "sm_100a")),
    "pairs": (paired(persistent=True), ("sm_100a",)),
    "adding pairs": (paired(persistent=True, more=True), ("sm_100a",)),
    "gathered rows": (gathered("less_than %cs, %size"), ("sm_90a", "sm_100a")),
    "factors": (scaled("f8E8M0FNU", 32), ("sm_100a",)),
}
"""Kernels whose tiles lie in every kind of memory, and their targets."""


@pytest.mark.parametrize("name, arch", [(name, a) for name, (_, on) in KERNELS.items() for a in on])
def test_no_hazards(name: str, arch: str) -> None:
    for level, module in at_levels(KERNELS[name][0], arch).items():
        assert hazards(module) == [], level


def test_rounds_taken_out_of_loops_wait_too() -> None:
    """Of attention the first round and the last product are not in its loop, which one round alone
    leaves empty."""
    module = at_levels(KERNELS["attention"][0], "sm_90a")["atom"]
    waits = [
        place for place, op in enumerate(module.walk())
        if op.name == "cute_nvgpu.mbarrier.wait"
        and not any(isinstance(above, scf.ForOp) for above in ancestors(op))
    ]  # fmt: skip
    assert len(waits) == 3
    for place in waits:
        less = module.clone()
        list(less.walk())[place].detach()
        assert caught(less), place


ORDERS = re.compile(r".*(barrier|bar\.|fence|wait|commit|arrive)")
NEEDLESS = ("needless warp barrier", "another fence")
"""Rules that prove an op needless."""
REDUNDANT = {
    "product/atom/2:fence.mbarrier_init/remove",
    "product/atom/2:tcgen05.fence.after_thread_sync/remove",
    "product/atom/45:bar.warp.sync/remove",
    "product/atom/30:mbarrier.wait/remove",
    "product/atom/30:bar.warp.sync/remove",
    "product/atom/2:bar.sync/remove",
}
"""Ops that order nothing which no other one does, on sm_100a alone."""


def caught(module: ModuleOp) -> bool:
    if any(check(function)[0] for function in functions(module)):
        return True
    for function in functions(module):
        function.attributes.pop(FROM_TILE_IR, None)
    try:
        CheckTmemPass().apply(default_context(), module)
        CheckHazardsPass("ignore").apply(default_context(), module)
    except OpError:
        return True
    return False


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_what_orders_is_needed(arch: str) -> None:
    """Each barrier, fence, wait, commit and arrival, removed alone."""
    module = at_levels(PRODUCT, arch)["atom"]
    ops = list(module.walk())
    every = [m for m in mutants("product", "atom", module)
             if m.kind == "remove" and ORDERS.match(ops[m.op].name)]  # fmt: skip
    missed: set[str] = set()
    for mutant in random.Random(arch).sample(every, len(every) if THOROUGH else 5):
        mutated = mutant.of(module)
        assert mutated is not None
        if rule_for(mutant, module, mutated) not in NEEDLESS and not caught(mutated):
            missed.add(mutant.name)
    assert missed <= (REDUNDANT if arch == "sm_100a" else set())


@pytest.mark.parametrize("name, arch", [("product of warps", "sm_120a"), ("converted", "sm_90a")])
def test_reads_of_threads_are_over_before_copies(name: str, arch: str) -> None:
    """A stage that threads read is released behind a proxy fence, or a copy may overtake them."""
    kernel = PRODUCT if name == "product of warps" else KERNELS[name][0]
    module = at_levels(kernel, arch)["atom"]
    (function,) = functions(module)
    assert not check(function)[1]
    for op in list(function.walk()):
        behind = op.next_op
        if op.name == FenceProxyAsyncOp.name and isinstance(behind, WarpSyncOp):
            op.detach()
    said = {(op.name, why.partition(" behind")[0]) for op, why in check(function)[1].items()}
    assert said == {("cute_nvgpu.tma.load", "no fence.proxy.async is")}
