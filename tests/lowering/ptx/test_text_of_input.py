"""What a module calls things reaches PTX as identifiers and comments, or is refused: ptxas reads
the text whatever the names."""

from __future__ import annotations

import re

import pytest

import tilewright as tw
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import lower
from tilewright.source.parsing import parse_module

NAMES = (
    "",
    "a b;",
    "WARP_SZ",
    "1a",
    "_",
    ".str",
    "\u00e9\u6f22",
    "a\\0A.b",
    "$x",
    "%r1",
    "x" * 3000,
)


def variable(name: str) -> str:
    return (
        f'"memref.global"() <{{sym_name = "{name}", sym_visibility = "private", '
        "type = memref<2xi8>, initial_value = dense<[7, 9]> : tensor<2xi8>}> : () -> ()\n"
    )


def reads(*names: str, kernel: str = "k") -> str:
    """A kernel that reads a byte of each variable."""
    body = "".join(
        f'%g{i} = memref.get_global @"{name}" : memref<2xi8>\n'
        f"%x{i} = memref.load %g{i}[%one] : memref<2xi8>\n"
        f"memref.store %x{i}, %out[%one] : memref<2xi8>\n"
        for i, name in enumerate(names)
    )
    return (
        f"func.func @{kernel}(%out: memref<2xi8>) attributes {{gpu.kernel}} {{\n"
        f"%one = arith.constant 1 : index\n{body}func.return\n}}\n"
    )


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:8])
def test_variables_of_any_name(name: str) -> None:
    compiled = tw.compile(variable(name) + reads(name), "sm_90a")
    assert assemble(compiled.ptx, "sm_90a").clean


def test_variables_of_a_gpu_module_are_its_own() -> None:
    text = f"gpu.module @m {{\n{variable('g')}{reads('g')}}}\n"
    assert ".global .align 1 .b8 g[2]" in tw.compile(text, "sm_90a").ptx
    with pytest.raises(tw.CompileError, match=r"expected a memref\.global @g, got none"):
        tw.compile(f"{variable('g')}gpu.module @m {{\n{reads('g')}}}\n", "sm_90a")


@pytest.mark.parametrize("name", ["a b", "a_b"])
def test_variables_that_ptx_calls_alike(name: str) -> None:
    with pytest.raises(tw.CompileError, match="no other variable of the PTX has, got 'a_b'"):
        tw.compile(variable("a.b") + variable(name) + reads("a.b", name), "sm_90a")


@pytest.mark.parametrize("function", ["malloc", "free", "vprintf"])
def test_names_of_functions_that_are_called(function: str) -> None:
    calls = {
        "malloc": "%p = cute_nvgpu.address.allocate 16",
        "free": "%p = arith.constant 0 : i64\ncute_nvgpu.address.free %p",
        "vprintf": 'gpu.printf "x"',
    }
    text = (
        f"func.func @{function}() attributes {{gpu.kernel}} {{\n{calls[function]}\nfunc.return\n}}"
    )
    with pytest.raises(
        tw.CompileError, match=f"no other function of the PTX has, got '{function}'"
    ):
        tw.compile(text, "sm_90a")
    assert assemble(tw.compile(text.replace(f"@{function}", "@k"), "sm_90a").ptx, "sm_90a").ok


@pytest.mark.parametrize(
    "name", ["a\0b", "a\nadd.bogus;", "a\r\x0c\x85\u2028b", "\udcff", "\u00e9\\"]
)
def test_files_of_any_name(name: str) -> None:
    module, _ = lower(variable("g") + reads("g"), "sm_90a", name=f"{name}.mlir")
    text = module_text(module)
    assert len(re.findall(r"// memref.load .*\.mlir:5\n", text)) == 1
    assert assemble(text, "sm_90a").clean


@pytest.mark.parametrize("text", ["a\\00b", "a\\0A\\22;"])
def test_formats_are_bytes(text: str) -> None:
    kernel = f'func.func @k() attributes {{gpu.kernel}} {{\ngpu.printf "{text}"\nfunc.return\n}}'
    if "00" in text:
        with pytest.raises(tw.CompileError, match="a format without NUL, which ends it"):
            tw.compile(kernel, "sm_90a")
    else:
        assert assemble(tw.compile(kernel, "sm_90a").ptx, "sm_90a").ok


def test_blocks_called_as_a_way_to_another() -> None:
    """A label of our own is none of the module's."""
    module = parse_module("""ptx.entry @k(%n: u32, %p: u64) {
  %one = ptx.const 1 : !ptx.reg<b32>
  %c = ptx.setp lt.u32 %one, %n
  ptx.cond_bra %c, ^x (%one : !ptx.reg<b32>), ^x_from0 (%n : !ptx.reg<b32>)
^x_from0(%m: !ptx.reg<b32>):
  ptx.bra ^x (%m : !ptx.reg<b32>)
^x(%v: !ptx.reg<b32>):
  ptx.st "global" "b32" %p, 0, %v : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.st "global" "b32" %p, 4, %n : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.ret
}""")
    text = module_text(module)
    labels = re.findall(r"^(\$\w+):", text, re.MULTILINE)
    assert len(labels) == len(set(labels)) > 2
    assert assemble(text, "sm_90a").clean


@pytest.mark.parametrize("count", ["0 : i32", "-1 : i32", "4294967296 : i64", "unit"])
def test_counts_of_ctas(count: str) -> None:
    kernel = (
        f"ptx.entry @k() reqntid(32, 1, 1) attributes {{nvvm.minctasm = {count}}} {{\nptx.ret\n}}"
    )
    with pytest.raises(tw.CompileError, match=r"nvvm\.minctasm as a count of 31 bits from 1"):
        tw.compile(kernel, "sm_90a")


def test_shared_memory_that_a_kernel_has_not() -> None:
    text = "ptx.entry @k() {\n%s = ptx.shared_address 0\nptx.ret\n}"
    with pytest.raises(tw.CompileError, match="a kernel with shared memory, got @k without"):
        tw.compile(text, "sm_90a")
    assert assemble(
        tw.compile(text.replace("()", "() shared 16 align 16"), "sm_90a").ptx, "sm_90a"
    ).ok


@pytest.mark.parametrize(
    "body, says",
    [
        ("%c = arith.constant 1 : i32\nptx.ret", "'arith.constant' has no PTX text"),
        ("ptx.ret\n^unreached(%x: i32):\nptx.ret", "a block argument of i32 has no PTX text"),
    ],
)
def test_what_is_no_register_does_not_run(body: str, says: str) -> None:
    with pytest.raises(tw.CompileError, match=re.escape(says)):
        tw.interpret(f"ptx.entry @f() {{\n{body}\n}}", grid=(1, 1, 1), block=(32, 1, 1), args=[])
