"""What compiles loads: names, shared memory, parameters and constants, against ptxas."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import SHARED_MEMORY
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.launch.ptxas import assemble


def kernel(name: str = "k", parameters: str = "", body: str = "") -> str:
    head = f'func.func @"{name}"({parameters}) attributes {{gpu.kernel}}'
    return f"{head} {{\n{body}\nfunc.return\n}}\n"


def shared(size: int) -> str:
    return f"%s = memref.alloc() : memref<{size}xi8, #cute<space smem>>"


def refused(text: str, arch: str = "sm_90a") -> tw.CompileError:
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(text, arch)
    return caught.value


@pytest.mark.parametrize(
    "name, near", [("gemm.v2", "gemm_v2"), ("WARP_SZ", "WARP_SZ_"), ("_", "__"), ("a-b", "a_b")]
)
def test_names_that_ptx_does_not_take(name: str, near: str) -> None:
    """Refused, not mangled: it is by this name that the driver finds the kernel."""
    assert f"got '{name}'; nearest legal: '{near}'" in refused(kernel(name)).message
    assert assemble(tw.compile(kernel(near), "sm_90a").ptx, "sm_90a").clean


def test_names_of_a_module_do_not_clash() -> None:
    text = kernel("k", "%n: i32", shared(256)) + kernel("k_shared", "%n: i32") + kernel("k_n")
    assert assemble(tw.compile(text, "sm_90a").ptx, "sm_90a").clean
    twice = "".join(
        f"gpu.module @{m} {{\n gpu.func @k() kernel {{\n gpu.return\n }}\n}}\n" for m in "ab"
    )
    error = refused(twice)
    assert "expected a name that no other kernel of the PTX has, got 'k'" in error.message
    assert error.line == 7


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
def test_shared_memory_of_a_target(arch: str) -> None:
    limit = SHARED_MEMORY[TARGETS[arch].number].dynamic
    for size in (48 * 1024, 48 * 1024 + 16, limit):
        compiled = tw.compile(kernel(body=shared(size)), arch)
        assert compiled.shared_bytes == size
        assert (compiled.entry().dynamic_shared_bytes == 0) == (size <= 48 * 1024)
        assert assemble(compiled.ptx, arch).clean
    for size in (limit + 1, 400_000_000_000):
        wanted = f"expected at most {limit} bytes of shared memory in a CTA of {arch}, got "
        assert wanted in refused(kernel(body=shared(size)), arch).message


@pytest.mark.parametrize("count, version", [(544, "6.0"), (545, "8.1"), (4095, "8.1")])
def test_parameters_take_the_version_that_they_need(count: int, version: str) -> None:
    text = kernel(parameters=", ".join(f"%p{i}: i64" for i in range(count)))
    ptx = tw.compile(text, "sm_80").ptx
    assert ptx.splitlines()[1] == f".version {version}"
    assert assemble(ptx, "sm_80").clean


def test_parameters_that_no_version_takes() -> None:
    text = kernel(parameters=", ".join(f"%p{i}: i64" for i in range(4096)))
    assert "expected parameters of at most 32764 bytes, got 32768" in refused(text).message


@pytest.mark.usefixtures("unchecked")
def test_constants_that_an_instruction_does_not_take() -> None:
    body = """%b = memref.alloc() : memref<1xi64, #cute<space smem>>
%i = arith.constant 0 : index
%p = arith.constant 65536 : i32
cute_nvgpu.mbarrier.wait %b[%i] parity %p : memref<1xi64, #cute<space smem>>"""
    assert (
        "expected phaseParity as a register, or 0 or 1, got 65536"
        in refused(kernel(body=body)).message
    )


def test_a_copy_fills_no_more_than_it_copies() -> None:
    body = """%s = memref.alloc() : memref<64xf32, #cute<space smem>>
%i = arith.constant 0 : index
%n = arith.constant 32 : i32
cute_nvgpu.cp.async %m[%i] to %s[%i] size 16 cache cg fill %n
  : memref<64xf32> to memref<64xf32, #cute<space smem>>"""
    message = refused(kernel(parameters="%m: memref<64xf32>", body=body)).message
    assert message == "'ptx.cp.async' expected a source size of at most 16, got 32"


def test_resources_are_those_of_ptxas() -> None:
    text = kernel(parameters="%n: i32", body=shared(1024))
    compiled = tw.compile(text, "sm_90a")
    assert compiled.resources == assemble(compiled.ptx, "sm_90a").kernels
    assert compiled.resources is not None and compiled.resources["k"].registers > 0
    assert "ptx" not in repr(compiled) and len(str(compiled.entries[0])) < 200


def test_without_ptxas_resources_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tw.compile(kernel(parameters="%n: i32", body=shared(1024)), "sm_90a")
    monkeypatch.setattr("tilewright.launch.ptxas.assemble", Mock(side_effect=tw.PtxasNotFound))
    assert compiled.resources is None
