"""`red.async` and bulk copies and reductions between CTAs of a cluster, of PTX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import ExecutionError

BYTES = "mbarrier::complete_tx::bytes"
KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) .reqntid 64 .reqnctapercluster 2 {
.reg .pred p, first; .reg .b32 r<12>; .reg .b64 d<6>; .shared .align 16 .b8 words[1024];
.shared .align 8 .b8 bar[8]; mov.u32 r0, %tid.x; mov.u32 r1, words; mov.u32 r2, bar;
mov.u32 r3, %cluster_ctarank; xor.b32 r4, r3, 1; mapa.shared::cluster.u32 r5, r1, r4;
mapa.shared::cluster.u32 r6, r2, r4; ld.param.u64 d0, [in]; cvta.to.global.u64 d0, d0;
ld.param.u64 d1, [out]; cvta.to.global.u64 d1, d1; mad.lo.u32 r7, r3, 64, r0;
mad.wide.u32 d2, r7, SIZE, d0; mad.wide.u32 d3, r7, SIZE, d1; mad.lo.u32 r8, r0, SIZE, r1;
ld.global.bLEN VAL0, [d2]; ld.global.bLEN VAL1, [d2+HALF];
st.shared.bLEN [r8], VAL0; st.shared.bLEN [r8+512], VAL1;
setp.eq.u32 first, r0, 0; @!first bra made; mbarrier.init.shared.b64 [r2], 1;
mbarrier.arrive.expect_tx.shared.b64 _, [r2], TOTAL; fence.mbarrier_init.release.cluster;
made: FENCE barrier.cluster.arrive; barrier.cluster.wait;
BODY
look: mbarrier.try_wait.parity.acquire.cluster.shared.b64 p, [r2], 0; @!p bra look;
ld.shared.bLEN VAL0, [r8+512]; st.global.bLEN [d3], VAL0;
barrier.cluster.arrive; barrier.cluster.wait; ret; }
"""
SEND = f"@!first bra look; cp.KIND.shared::cluster.shared::cta.{BYTES}FORM [r9], [r1], COUNT, [r6];"
REDUCE = SEND.replace("KIND", "reduce.async.bulk")


def kernel(body: str, *, bits: int = 32, fence: bool = True) -> str:
    size = bits // 8
    words = ("d4", "d5") if bits == 64 else ("r10", "r11")
    fills = {
        "BODY": f"add.u32 r9, r5, 512; add.u32 r10, r8, 512; {body}",
        "FENCE": "fence.proxy.async.shared::cta;" if fence else "",
        "COUNT": str(64 * size),
        "TOTAL": str(64 * size),
        "SIZE": str(size),
        "HALF": str(128 * size),
        "LEN": str(bits),
        "VAL0": words[0],
        "VAL1": words[1],
    }
    text = KERNEL
    for name, fill in fills.items():
        text = text.replace(name, fill)
    return text


def result(text: str, given: Any, **options: Any) -> Any:
    out = np.zeros(128, given.dtype)
    args = [given, out]
    return tw.interpret(text, "k", grid=(2,), block=(64,), args=args, arch="sm_90a", **options)[1]


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
    "inc": lambda old, by: np.where(old >= by, 0, old + 1).astype(old.dtype),
    "dec": lambda old, by: np.where((old == 0) | (old > by), by, old - 1).astype(old.dtype),
}  # fmt: skip
FORMS = "add.u32 add.s32 add.u64 min.u32 min.s32 max.u32 max.s32 and.b32 or.b32 xor.b32 inc.u32"


@pytest.mark.covered
@pytest.mark.parametrize("form", [*FORMS.split(), "dec.u32", None])
@pytest.mark.parametrize("kind", ["red", "bulk"])
def test_sums_of_another_cta(form: str | None, kind: str, ptxas: Callable[..., Any]) -> None:
    """The far words become what NumPy makes of them and the own ones."""
    if form is None and kind == "red":
        return
    bits = 64 if form == "add.u64" else 32
    far = (
        f"mad.lo.u32 r9, r0, {bits // 8}, r9; ld.shared.b{bits} VAL0, [r8]; "
        f"red.async.relaxed.cluster.shared::cluster.{BYTES}.{form} [r9], VAL0, [r6];"
    )
    copy = REDUCE if form else SEND.replace("KIND", "async.bulk")
    text = kernel(far if kind == "red" else copy.replace("FORM", f".{form}" if form else ""),
                  bits=bits)  # fmt: skip
    assert ptxas(text, "sm_90a").ok and ptxas(module_text(read_module(text)), "sm_90a").ok
    dtype = f"{'int' if form and '.s' in form else 'uint'}{bits}"
    given = np.random.default_rng(5).integers(-900, 900, 256).astype(dtype)
    own, there = given[:128], given[128:]
    sent = np.roll(own, 64)
    expected = OPERATIONS[form.partition(".")[0]](there, sent) if form else sent
    for seed in (None, 3):
        np.testing.assert_array_equal(result(text, given, schedule=seed), expected)


def test_one_word_of_many() -> None:
    """All threads add to one word: no race, as a phase completes them all."""
    body = f"red.async.relaxed.cluster.shared::cluster.{BYTES}.add.u32 [r9], r0, [r6];"
    given = np.arange(256, dtype=np.uint32)
    assert result(kernel(body, fence=False), given)[0] == 128 + 63 * 32


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (SEND.replace("[r6]", "[r2]"), "expected an mbarrier of the CTA that it stores to"),
        (SEND.replace("COUNT", "24"), "multiple of 16"),
        (SEND.replace("COUNT", "4096"), "out of bounds"),
        (SEND + "st.shared.u32 [r1], 0;", "reads, and no wait for the mbarrier"),
        (f"{SEND.replace('bra look', 'bra sent')} sent: ld.shared.u32 r10, [r8+512];", "race"),
    ],
)
def test_refused(body: str, why: str) -> None:
    body = body.replace("KIND", "async.bulk").replace("FORM", "")
    with pytest.raises((ExecutionError, tw.CompileError), match=why):
        result(kernel(body), np.arange(256, dtype=np.uint32))


def test_unfenced_source() -> None:
    text = kernel(SEND.replace("KIND", "async.bulk").replace("FORM", ""), fence=False)
    with pytest.raises(ExecutionError, match=r"no fence\.proxy\.async"):
        result(text, np.arange(256, dtype=np.uint32))
