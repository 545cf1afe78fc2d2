"""Boxes that several threads store or reduce: refused or warned of before the kernel runs, and only
where it is certain that there are several."""

from __future__ import annotations

import warnings

import pytest

import tilewright as tw
from tilewright.pipeline import PIPELINE, run_pipeline, verified

BOX = "memref<4x16xi32, #cute<space smem>>"
MAP = "!cute_nvgpu.tma_descriptor<4x16xi32>"
SIZE = "gpu.known_block_size = array<i32: 64, 1, 1>"


def kernel(body: str, attributes: str = SIZE) -> str:
    """A kernel of 64 threads in which `ISSUE` reduces the box at row %row, `OWN` that at %h."""
    issue = f"cute_nvgpu.tma.reduce add %s[%c0, %c0] to %to[%row, %c0] : {BOX} to {MAP}"
    return f"""func.func @k(%to: {MAP}, %n: index, %m: memref<?xi32>)
    attributes {{gpu.kernel, {attributes}}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %b = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %row = arith.constant 4 : index
  %s = memref.alloc() : {BOX}
  {body.replace("ISSUE", issue).replace("OWN", issue.replace("%row", "%h"))}
  func.return
}}"""


def check(text: str) -> None:
    """The stage of the pipeline alone."""
    module, source = verified(text)
    stages = [stage for stage in PIPELINE if stage.name == "cute-nvgpu-check-issue"]
    run_pipeline(module, "sm_90a", source, stages=stages)
    assert stages


def under(condition: str) -> str:
    return f"{condition}\n  scf.if %p {{\n    ISSUE\n  }}"


SEVERAL = {
    "everybody": ("ISSUE", (0, 1)),
    "a warp": (under("%p = arith.cmpi ult, %t, %c32 : index"), (0, 1)),
    "all but one": (under("%p = arith.cmpi ne, %t, %c1 : index"), (0, 2)),
    "one of each warp": (under("%p = cute_nvgpu.elect.sync"), (0, 32)),
    "even ones": (
        under("%h = arith.remui %t, %c2 : index\n  %p = arith.cmpi eq, %h, %c1 : index"), (1, 3),
    ),
    "everybody of a block": (under("%p = arith.cmpi eq, %b, %c0 : index"), (0, 1)),
    "a warp of a block": (
        under(
            "%q = arith.cmpi eq, %b, %c0 : index\n  %r = arith.cmpi uge, %t, %c32 : index\n"
            "  %p = arith.andi %r, %q : i1"
        ),
        (32, 33),
    ),
    "those of an else": (
        "%p = arith.cmpi eq, %t, %c0 : index\n  scf.if %p {\n  } else {\n    ISSUE\n  }", (1, 2),
    ),
    "in a loop of an argument": (
        "scf.for %k = %c0 to %n step %c1 {\n    ISSUE\n  }", (0, 1),
    ),
    "behind branches of blocks": (
        "%p = arith.cmpi eq, %b, %c0 : index\n  cf.cond_br %p, ^a, ^b\n^a:\n  ISSUE\n"
        "  cf.br ^b\n^b:", (0, 1),
    ),
    "pairs of one row": (
        "%h = arith.divui %t, %c2 : index\n  OWN", (0, 1),
    ),
}  # fmt: skip
ONE = {
    "the first": under("%p = arith.cmpi eq, %t, %c0 : index"),
    "one of a warp": under(
        "%w = arith.divui %t, %c32 : index\n  %q = arith.cmpi eq, %w, %c1 : index\n"
        "  %e = cute_nvgpu.elect.sync\n  %p = arith.andi %q, %e : i1"
    ),
    "one of a warp's branch": (
        "%q = arith.cmpi ult, %t, %c32 : index\n  scf.if %q {\n"
        "  %p = cute_nvgpu.elect.sync\n  scf.if %p {\n    ISSUE\n  }\n  }"
    ),
    "boxes of their own": "%h = arith.muli %t, %c2 : index\n  OWN",
    "one that memory names": under(
        "%e = memref.load %m[%t] : memref<?xi32>\n  %w = arith.index_cast %e : i32 to index\n"
        "  %p = arith.cmpi eq, %w, %c0 : index"
    ),
    "one that an argument names": under("%p = arith.cmpi eq, %t, %n : index"),
    "as many turns as its number": "scf.for %k = %c0 to %t step %c1 {\n    ISSUE\n  }",
    "behind a branch of threads": (
        "%p = arith.cmpi eq, %t, %c0 : index\n  cf.cond_br %p, ^a, ^b\n^a:\n  ISSUE\n"
        "  cf.br ^b\n^b:"
    ),
    "another one": under("%p = arith.cmpi eq, %t, %row : index"),
}


@pytest.mark.parametrize("who", SEVERAL)
def test_several_threads_are_refused(who: str):
    body, (first, second) = SEVERAL[who]
    with pytest.raises(tw.CompileError) as caught:
        check(kernel(body))
    words = f"one thread to reduce (add) a box, got threads {first} and {second} "
    assert words in caught.value.message and "nearest legal:" in caught.value.message
    assert "  cute_nvgpu.tma.reduce add" in str(caught.value)


@pytest.mark.parametrize("who", ONE)
def test_one_thread_or_who_knows_is_not(who: str):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(kernel(ONE[who]))


@pytest.mark.parametrize("instruction", ["tma.reduce or", "tma.reduce and", "tma.store"])
def test_what_may_be_done_again_is_warned_of(instruction: str):
    text = kernel("ISSUE").replace("tma.reduce add", instruction)
    with pytest.warns(UserWarning, match=r"<string>:11:3: warning: .* expected one thread to "):
        check(text)


def test_a_block_of_no_known_size_is_warned_of():
    with pytest.warns(UserWarning, match="threads 0 and 1 and others .* if there are so many"):
        check(kernel("ISSUE", "a = 1"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(kernel("ISSUE", "gpu.known_block_size = array<i32: 1, 1, 1>"))


TILES = """func.func @k(%y: !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">)
    attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>} {
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %c0 = arith.constant 0 : i32
  %out, %my = cute.make_tma_copy<#cute_nvgpu.tma<reduce, add>, tile = "[64;32]",
    smem = "(64,32):(32,1)"> (%y)
  %tiler = cute.static : !cute.shape<"(64,32)">
  %at = cute.make_coord(%c0, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %gy = cute.local_tile(%my, %tiler, %at)
  %s = cute.memref.alloc() : !cute.memref<f32, smem, align<128>, "(64,32):(32,1)">
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {
    cute.copy(%out, %s, %gy)
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }
  func.return
}"""


def test_copies_of_tiles():
    check(TILES)
    every = TILES.replace("arith.cmpi eq, %t, %c0", "arith.cmpi sge, %t, %c0")
    with pytest.raises(tw.CompileError, match=r"'cute.copy' expected one thread to reduce") as it:
        check(every)
    assert "cute.copy(%out" in str(it.value)
    own = TILES.replace("arith.cmpi eq, %t, %c0", "arith.cmpi sge, %t, %c0").replace(
        "make_coord(%c0, %c0)", "make_coord(%t, %c0)"
    )
    check(own)
