"""What releases and acquires order between CTAs, and what does not: PTX ISA, memory consistency
model. Each wrong kernel is one edit away from a correct one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from faults import run
from numpy.testing import assert_array_equal
from run_levels import at_levels
from test_atomics import GET, SET, arrays, flagged
from test_mbarriers import EXPECT, LOAD, MAP, WAIT, made

import tilewright as tw

ADDRESS = "%flags = cute_nvgpu.address %p : memref<?xi32> -> i64\n      "
TURNS = (None, 0, 1)


def store(semantics: str) -> str:
    word = f'semantics "{semantics}" ' if semantics != "weak" else ""
    return f"{ADDRESS}cute_nvgpu.address.store {word}%one to %flags + 0 : i32 to i64 // SET"


def load(semantics: str) -> str:
    word = f'semantics "{semantics}" ' if semantics != "weak" else ""
    return f"{ADDRESS}%flag = cute_nvgpu.address.load {word}%flags + 0 : i64 -> i32 // GET"


@at_levels()
@pytest.mark.parametrize("scope", ["gpu", "sys"])
def test_a_flag_of_stores_and_loads(level: Any, scope: str):
    for set_, get in (
        (store(f"release.{scope}"), load(f"acquire.{scope}")),
        (SET, load(f"acquire.{scope}")),
        (store(f"release.{scope}"), GET),
    ):
        for seed in TURNS:
            got = run(flagged(set_=set_, get=get), level, arrays(), grid=(2,), schedule=seed)
            assert_array_equal(got[2], np.arange(64)[::-1])


def raised(text: str, level: str, **launch: Any) -> str:
    with pytest.raises(tw.ExecutionError, match="race on global memory") as caught:
        for seed in TURNS:
            run(text, level, arrays(), grid=(2,), schedule=seed, **launch)
    return str(caught.value)


@pytest.mark.usefixtures("unchecked")
@at_levels()
@pytest.mark.parametrize(
    "set_, get, legal",
    [
        ("release.gpu", "relaxed.gpu", ["acquire.gpu in GET"]),
        ("relaxed.gpu", "acquire.gpu", ["release.gpu in SET"]),
        ("relaxed.sys", "relaxed.sys", ["release.gpu in SET", "acquire.gpu in GET"]),
        ("release.gpu", "weak", ["acquire.gpu in GET"]),
        ("weak", "acquire.gpu", ["release.gpu in SET"]),
        ("release.cta", "acquire.gpu", ["the scope gpu in SET"]),
        ("release.gpu", "acquire.cta", ["the scope gpu in GET"]),
        ("release.cta", "acquire.cta", ["the scope gpu in SET", "the scope gpu in GET"]),
    ],
)
def test_a_flag_that_orders_nothing(level: str, set_: str, get: str, legal: list[str]):
    """The data's access, or the weak flag's own, is named, with the op that is to order it."""
    text = flagged(set_=store(set_), get=load(get))
    message = raised(text, level)
    lines = {mark: line for mark in ("SET", "GET") for line, code in enumerate(text.splitlines(), 1)
             if f"// {mark}" in code}  # fmt: skip
    head, _, nearest = message.splitlines()[0].partition("nearest legal: ")
    assert "another CTA are ordered by nothing" in head
    for mark in ("SET", "GET"):
        name = "cute_nvgpu.address." + ("store" if mark == "SET" else "load")
        name = {"atom": name, "ptx": "ptx.st" if mark == "SET" else "ptx.ld"}[level]
        where = [word for word in legal if mark in word]
        told = (
            f"{where[0].removesuffix(mark)}'{name}' at faults.mlir:{lines[mark]}" if where else ""
        )
        assert told in nearest and (f":{lines[mark]}" in nearest) is bool(where), message


def fence(semantics: str) -> str:
    return f'cute_nvgpu.fence "{semantics}" // FENCE'


def add(semantics: str, value: str, result: str = "%flag", form: str = "or.b32") -> str:
    """An atomic operation on the flag; one that nobody reads is a `red` of PTX."""
    return (
        f'{ADDRESS}{result} = cute_nvgpu.address.atomic semantics "{semantics}" "{form}" '
        f"%flags + 0, {value} : i64, i32 -> i32 // {'SET' if value == '%one' else 'GET'}"
    )


def after(get: str, fence: str) -> str:
    return f"{get}\n        {fence}"


RELAXED = store("relaxed.gpu"), load("relaxed.gpu")
FENCED = [
    ("acq_rel.gpu", "acq_rel.gpu", *RELAXED),
    ("sc.sys", "acq_rel.gpu", store("relaxed.sys"), load("relaxed.gpu")),
    ("acq_rel.gpu", "sc.gpu", add("relaxed.gpu", "%one", "%was"), add("relaxed.gpu", "%zero")),
    ("acq_rel.gpu", "", store("relaxed.gpu"), load("acquire.gpu")),
    ("acq_rel.gpu", "", store("relaxed.gpu"), add("acquire.gpu", "%zero")),
    ("", "acq_rel.sys", add("release.gpu", "%one", "%was"), load("relaxed.gpu")),
]
"""Fences of who sets a flag and of who waits for it, and how the flag is accessed."""


@pytest.mark.covered
@at_levels()
@pytest.mark.parametrize("before, behind, set_, get", FENCED)
def test_a_flag_between_fences(level: Any, before: str, behind: str, set_: str, get: str):
    """Fences release and acquire with relaxed accesses; without one, or too late, it is a race."""
    first, last = (fence(order) if order else "" for order in (before, behind))
    text = flagged(set_=f"{first}\n      {set_}", get=after(get, last))
    for seed in TURNS:
        got = run(text, level, arrays(), grid=(2,), schedule=seed)
        assert_array_equal(got[2], np.arange(64)[::-1])
    wrong = {
        r"nearest legal: release\.gpu in ": flagged(set_=set_, get=after(get, last)),
        r" ?release\.gpu in ": flagged(set_=f"{set_}\n      {first}", get=after(get, last)),
        r"nearest legal: acquire\.gpu in ": flagged(set_=f"{first}\n      {set_}", get=get),
    }
    for (words, faulty), needed in zip(wrong.items(), (first, first, last), strict=True):
        if needed:
            assert re.search(words, raised(faulty, level))


@at_levels()
@pytest.mark.parametrize("narrow", ["cta", "cluster"])
@pytest.mark.parametrize("setter", [True, False])
def test_a_fence_for_too_few(level: Any, narrow: str, setter: bool):
    """Its scope does not have the other CTA in it, whose line the error names."""
    orders = [f"acq_rel.{scope}" for scope in ((narrow, "gpu") if setter else ("gpu", narrow))]
    set_, get = RELAXED
    text = flagged(set_=f"{fence(orders[0])}\n      {set_}", get=after(get, fence(orders[1])))
    lines = [n for n, line in enumerate(text.splitlines(), 1) if "// FENCE" in line]
    assert f"the scope gpu in 'cute_nvgpu.fence' at faults.mlir:{lines[not setter]}".replace(
        "cute_nvgpu" if level == "ptx" else "-", "ptx" if level == "ptx" else "-"
    ) in raised(text, level)


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_the_scope_of_a_cluster(level: Any):
    """It has two CTAs of a cluster in it, and not those of two."""
    for set_, get in (
        (store("release.cluster"), load("acquire.cluster")),
        (f"{fence('acq_rel.cluster')}\n      {store('relaxed.cluster')}",
         after(load("relaxed.cluster"), fence("sc.cluster"))),
    ):  # fmt: skip
        text = flagged(set_=set_, get=get)
        near = text.replace(
            "{gpu.kernel", "{gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>"
        )
        for seed in TURNS:
            got = run(near, level, arrays(), grid=(2,), schedule=seed)
            assert_array_equal(got[2], np.arange(64)[::-1])
        assert "nearest legal: the scope gpu in" in raised(text, level)


@at_levels()
def test_the_scope_of_a_cta_orders_its_own_threads(level: Any):
    """A warp hands on to another one; without a release the race is between threads."""
    warp = "cute_nvgpu.bar.warp.sync"
    text = flagged(warp, warp, store("release.cta"), load("acquire.cta"))
    text = text.replace("cmpi eq, %b, %c0", "cmpi ult, %t, %c32")
    head, _, tail = text.rpartition("scf.if %first")
    text = head + "%hi = arith.cmpi eq, %t, %c32 : index\n    scf.if %hi" + tail
    for seed in TURNS:
        got = run(text, level, arrays(), schedule=seed)
        assert_array_equal(got[2][32:], np.arange(32)[::-1])
        with pytest.raises(tw.ExecutionError, match=r"nearest legal: release\.gpu in "):
            run(text.replace("release.cta", "relaxed.cta"), level, arrays(), schedule=seed)


# Threads write a box of a tensor, which a copy reads.
HANDED_ON = f"""  memref.store %one, %p[%t] : memref<?xi32>
  BEFORE
  "gpu.barrier"() : () -> ()
  scf.if %first {{
    AFTER
    {EXPECT}
    {LOAD} // HERE
  }}
  {WAIT}"""
PROXY = "cute_nvgpu.fence.proxy.async"


@at_levels()
@pytest.mark.usefixtures("unchecked")
def test_what_threads_wrote_to_global_memory_a_copy_reads_behind_a_fence(level: Any):
    """Of those who wrote, or of the one who copies; one for shared memory alone is none."""

    def over(before: str, after: str) -> None:
        text = made(HANDED_ON.replace("BEFORE", before).replace("AFTER", after))
        for given, part in (("i32>", "pointer"), (f"%m: {MAP}", f"tensor_map<0, 1>, {MAP}")):
            text = text.replace(given, f"{given} {{cute.from = #cute.argument<0, {part}>}}", 1)
        arguments = '"cute.arguments" = [!cute.memref<i32, gmem, "(?,?):(?,1)">]'
        text = text.replace("{gpu.kernel}", f"{{gpu.kernel, {arguments}}}")
        run(text, level, [np.zeros((32, 32), np.int32)])

    over(PROXY, "")
    over("", PROXY)
    for before, after in (("", ""), (f'{PROXY} in "shared::cta"', "")):
        with pytest.raises(
            tw.ExecutionError, match=r"async proxy what .* with no fence\.proxy\.async"
        ):
            over(before, after)
