"""Retreats: what a kernel gives up is named, and the kernel computes the same without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from attention_kernel import GIVEN, attention
from test_hints import hinted
from test_pairs import TYPES, paired
from test_scale_factors import view
from test_warpgroups import check, product
from tile_ir import entry
from xdsl.dialects.builtin import ArrayAttr, StringAttr

import tilewright as tw
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.cuda_tile import budget
from tilewright.lowering.cuda_tile.explain_layouts import explained
from tilewright.lowering.cuda_tile.show_layouts import CudaTileShowLayoutsPass
from tilewright.pipeline import verified
from tilewright.source.parsing import default_context

BRANCH = """
      %yes = cmpi equal %q, %one, signed : tile<i32> -> tile<i1>
      %other = if %yes -> (tile<i32>) {
        yield %q : tile<i32>
      } else {
        yield %one : tile<i32>
      }
"""
"""Behind it MMAs wait for threads."""


def before_products(text: str, added: str) -> str:
    """The kernel of a product, with more in front of its MMAs."""
    at = text.index("      %next = mma")
    return text[:at] + added + text[at:]


def added_by_threads() -> str:
    """Pairs that are given sums anew, twice an iteration, in a loop that a branch is in."""
    text = before_products(paired(), BRANCH)
    return text.replace("%next = mmaf %x, %y, %acc", "%d = mmaf %x, %y, %zero").replace(
        "      continue %next",
        "      %next = addf %acc, %d : tile<256x64xf32>\n      continue %next",
    )


def transposed() -> str:
    """128 KiB of B that threads compute, beside 128 KiB of sums that change layout."""
    shapes = {"a": (128, 128), "b": (128, 256), "c": (256, 128), "d": (128, 256)}
    body, types = "    %o = constant <i32: 0> : tile<i32>\n", dict[str, str]()
    for name, (m, n) in shapes.items():
        text, types[name] = view(name, "f32", (m, n), (n, 1), (m, n))
        body += text
        if name != "d":
            body += f"""
    %{name}0, %{name}1 = load_view_tko weak %{name}[%o, %o] : {types[name]}, tile<i32>
        -> tile<{m}x{n}xf32>, token
    %{name}2 = absf %{name}0 : tile<{m}x{n}xf32>
    %{name}3 = ftof %{name}2 : tile<{m}x{n}xf32> -> tile<{m}x{n}xtf32>
"""
    body += f"""
    %z = constant <f32: 0.0> : tile<128x256xf32>
    %s = mmaf %a3, %b3, %z : tile<128x128xtf32>, tile<128x256xtf32>, tile<128x256xf32>
    %t = permute %c0 [1, 0] : tile<256x128xf32> -> tile<128x256xf32>
    %r = addf %s, %t : tile<128x256xf32>
    %u = store_view_tko weak %r, %d[%o, %o] : tile<128x256xf32>, {types["d"]}, tile<i32> -> token
"""
    text = entry(", ".join(f"%{name}_p: tile<ptr<f32>>" for name in shapes), body)
    return hinted(text, "num_cta_in_cga = 1").replace("<sm_90 =", "<default =")


def states() -> str:
    """128 KiB of sums that a loop carries and multiplies by, and that are stored behind it."""
    tiles = {"q": (64, 256), "k": (64, 256), "v": (64, 128), "s": (256, 128), "w": (64, 128)}
    body, types, loads = "", dict[str, str](), dict[str, str]()
    for name, (m, n) in tiles.items():
        kind = "f32" if name == "s" else "bf16"
        text, types[name] = view(name, kind, (256, n), (n, 1), (m, n))
        body += text
        loads[name] = f"""
    %{name}0, %{name}1 = load_view_tko weak %{name}[%i, %o] : {types[name]}, tile<i32>
        -> tile<{m}x{n}x{kind}>, token
"""
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %z = constant <f32: 0.0> : tile<64x128xf32>
    {loads["s"].replace("%i", "%o")}
    %sums = for %i in (%o to %four, step %one) : tile<i32> iter_values(%sum = %s0)
        -> (tile<256x128xf32>) {{
      {loads["q"]}{loads["k"]}{loads["v"]}
      %h = ftof %sum : tile<256x128xf32> -> tile<256x128xbf16>
      %r = mmaf %q0, %h, %z : tile<64x256xbf16>, tile<256x128xbf16>, tile<64x128xf32>
      %c = ftof %r : tile<64x128xf32> -> tile<64x128xbf16>
      %d = store_view_tko weak %c, %w[%i, %o] : tile<64x128xbf16>, {types["w"]}, tile<i32> -> token
      %t = permute %k0 [1, 0] : tile<64x256xbf16> -> tile<256x64xbf16>
      %next = mmaf %t, %v0, %sum : tile<256x64xbf16>, tile<64x128xbf16>, tile<256x128xf32>
      continue %next : tile<256x128xf32>
    }}
    %e = store_view_tko weak %sums, %s[%o, %o] token = %s1 : tile<256x128xf32>, {types["s"]},
        tile<i32> -> token
"""
    types = {name: "f32" if name == "s" else "bf16" for name in tiles}
    return entry(", ".join(f"%{name}_p: tile<ptr<{kind}>>" for name, kind in types.items()), body)


STAGES, TMA = "stages in all of shared memory", "stages that TMA fills for MMAs of warps"
PAIRS, TURNS = "pairs of CTAs that multiply", "two stages of accumulators"
ISSUE, ANSWER = "threads read or issue", "threads and MMAs do not take turns"
FULL = "shared memory has no room"
CASES: dict[str, tuple[Callable[[], str], str, list[tuple[str, str]]]] = {
    "fits": (paired, "sm_100a", []),
    "stages": (
        lambda: product(("tf32", "f32"), (128, 256, 128)),
        "sm_100a",
        [(STAGES, "tiles that change layout, or are stored, take 49152 bytes")],
    ),
    "nothing by TMA": (
        lambda: product(("f16", "f16"), (256, 256, 128), more=True),
        "sm_120a",
        [
            (STAGES, "tiles that change layout, or are stored, take 65536 bytes"),
            (TMA, f"{FULL} for two beside tiles that change layout"),
        ],
    ),
    "tokens": (
        lambda: before_products(paired(), "      %both = join_tokens %t0, %t1 : token\n"),
        "sm_100a",
        [(PAIRS, ISSUE)],
    ),
    "no answer": (added_by_threads, "sm_100a", [(TURNS, ANSWER), (PAIRS, ANSWER)]),
    "no turns": (
        lambda: before_products(product(TYPES, (64, 64, 32), persistent=True), BRANCH),
        "sm_100a",
        [(TURNS, ANSWER)],
    ),
    "accumulators": (
        transposed,
        "sm_100a",
        [("accumulators in tensor memory", FULL)],
    ),
    "kept": (
        lambda: attention(64, 128, 256, GIVEN),
        "sm_120a",
        [("operands that loops keep in shared memory", "it has no room")],
    ),
    "stores": (
        states,
        "sm_90a",
        [
            (STAGES, "tiles that change layout, or are stored, take 344064 bytes"),
            ("stores by TMA", f"{FULL} for them beside operands"),
            (STAGES, "tiles that change layout, or are stored, take 196608 bytes"),
        ],
    ),
    "parts": (
        transposed,
        "sm_90a",
        [
            (
                "tiles that change layout as a whole",
                "3072 bytes of shared memory are left to them",
            ),
        ],
    ),
}


def expected(name: str) -> Iterator[str]:
    for what, why in CASES[name][2]:
        yield f"the kernel does without {what}: {why}"


@pytest.mark.parametrize("name", CASES)
def test_retreats_are_told(name: str) -> None:
    text, arch, _ = CASES[name]
    remarks = tw.compile(text(), arch).remarks
    said = [remark.text for remark in remarks if remark.kind == "retreat"]
    assert said == list(expected(name))


def test_every_retreat_is_told() -> None:
    names = {what for _, _, retreats in CASES.values() for what, _ in retreats}
    assert names == {retreat.name for retreat, _, _ in budget.RETREATS}


@pytest.mark.parametrize("name", ["tokens", "no answer", "no turns"])
def test_kernels_compute_the_same(name: str) -> None:
    text, arch, _ = CASES[name]
    check(text(), (256, 64, 72), ("bf16", *TYPES), (1, 1), schedule=2, arch=arch)


def test_layouts_are_shown_with_retreats() -> None:
    for name, shown in (("no answer", 2), ("fits", 0)):
        text, arch, _ = CASES[name]
        (kernel,) = [op for op in verified(text())[0].walk() if isinstance(op, EntryOp)]
        lines = [line.strip() for line in explained(kernel, target(arch))]
        assert lines[1 : shown + 1] == list(expected(name))
        assert sum("does without" in line for line in lines) == shown
        module, _ = verified(text())
        CudaTileShowLayoutsPass(arch).apply(default_context(), module)
        (kernel,) = [op for op in module.walk() if isinstance(op, EntryOp)]
        told = ArrayAttr(map(StringAttr, expected(name))) if shown else None
        assert kernel.attributes.get("cute.retreats") == told
