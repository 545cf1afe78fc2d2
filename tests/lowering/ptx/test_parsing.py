"""PTX text as IR: what tilewright wrote comes back as it was, and what is wrong has its place."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import example_files
import pytest
from small_kernel import kernel
from xdsl.ir import Block

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.lowering.ptx.parsing.kernels import rule_of  # with all rules
from tilewright.lowering.ptx.parsing.refused import REFUSED
from tilewright.lowering.ptx.parsing.spellings import normal
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import verified
from tilewright.source.diagnostic import CompileError, place_of
from tilewright.source.parsing import parse_module
from tilewright.source.verification import verify

EXAMPLES = sorted(example_files.EXAMPLES.glob("*.mlir"))
_REGISTER = re.compile(r"%(?:rd|fd|[pbhrf])\d+\b")
_CONSTANT = re.compile(r"\tmov\.\w+ (%\w+), (?:0[fd])?[-\w]+;")


def alike(text: str) -> list[str]:
    """What two texts of one module have alike: the lines without comments, registers by the order
    in which they are read, without constants that nothing reads, in the order of their names where
    moves follow each other, and without the fences that such moves get for wgmma."""
    lines = [
        line for line in text.splitlines() if not re.match(r"\s*//|\t\.reg|\twgmma\.fence", line)
    ]
    counts = Counter(name for line in lines for name in _REGISTER.findall(line))
    unread = (match and counts[match[1]] == 1 for match in map(_CONSTANT.fullmatch, lines))
    lines = [line for line, gone in zip(lines, unread, strict=True) if not gone]
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"{match[0].rstrip('0123456789')}#{len(names)}")

    for line in lines:
        if not line.startswith("\tmov."):
            _REGISTER.sub(renamed, line)
    lines = [_REGISTER.sub(renamed, line) for line in lines]
    runs = groupby(lines, lambda line: line.startswith("\tmov."))
    return [line for moves, run in runs for line in (sorted(run) if moves else run)]


def lowest(example: Path) -> str:
    """The first target that an example is for."""
    said = re.search(r"_(sm\d+)", example.stem)
    return {"sm90": "sm_90a", "sm100": "sm_100a", "sm120": "sm_120a"}.get(
        said[1] if said else "", "sm_80"
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_own_text_comes_back(example: Path) -> None:
    arch = lowest(example)
    text = tw.compile(example.read_text(), arch).ptx
    module = parse_module(text, "k.ptx")
    verify(module, text)
    assert alike(module_text(module, target(arch))) == alike(text)


@pytest.mark.parametrize(
    ("body", "message", "place"),
    [
        ("add.s32 %r1, %r2;\n", "expected 3 operands of add.s32", (11, 1)),
        ("add.s32 %r1, %r2, %rd1;\n", "expected a register of 32 bits, got %rd1 of 64", (11, 1)),
        ("bra nowhere;\n", "expected a label of the function, got nowhere", (11, 1)),
        ("add.s32 %x, %r2, 1;\n", "expected a register that is declared, got %x", (11, 1)),
        ("tex.1d.v4.f32.s32 {%f1}, [t, {%r1}];\n", "expected an instruction that is read", (11, 1)),
        ("call f, (%r1);\n", "expected a call of a function of the text, got f, (%r1)", (11, 1)),
        ("/* a\n */ mov.u32 %r1, %tid.w;\n", "one of tid.x", (12, 5)),
        ("cp.async.wait_group %r1;\n", "expected an integer here, got %r1", (11, 1)),
        ("?\n", "expected a PTX statement, got '?'", (11, 1)),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_place(body: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(CompileError) as raised:
        parse_module(kernel(body), "k.ptx")
    assert message in raised.value.message
    assert (raised.value.line, raised.value.column) == place


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (".b8 x[2] = {1, 2, 3}", "expected at most 2 bytes of constants, got 3"),
        (".b8 x[2000000000]", "expected a variable of at most 1073741824 bytes, got 2000000000"),
        (".param x[2] = {1, 2}", "expected a type of numbers, such as .b32, got .param"),
        (".b12 x = 3", "expected a type of numbers, such as .b32, got .b12"),
        (".u8 x[8] = {0, 0xFF(x)}", "expected all bytes of an address in an aligned word"),
        (".b8 x[8] = {0xFF(x)}", "expected constants of .b8, got 0xFF(x)"),
        (f".b32 x = {'9' * 5000}", "expected a number of at most 64 bits, got one of 5000 digits"),
    ],
)
def test_variables_that_are_none(declared: str, message: str) -> None:
    text = f".version 8.0\n.target sm_80\n.address_size 64\n.global {declared};\n"
    with pytest.raises(CompileError, match=re.escape(message)) as raised:
        parse_module(text, "k.ptx")
    assert raised.value.line == 4


def test_every_scalar_op_is_read_back() -> None:
    assert {op.name for op in SCALAR_OPS.values()} <= {op.name for op in PTX.operations}


@pytest.mark.parametrize(
    ("spelled", "read"),
    [
        ("setp.hs.u32", "setp.ge.u32"),
        ("membar.gl", "fence.sc.gpu"),
        ("selp.u64", "selp.b64"),
        ("mbarrier.init.shared::cta.b64", "mbarrier.init.shared.b64"),
        (
            "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32",
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
        ),
        (
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite",
            "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
        ),
        ("add.s32", "add.s32"),
        ("red.global.add.s32", "red.relaxed.gpu.global.add.s32"),
        ("multimem.red.add.s32", "multimem.red.relaxed.gpu.global.add.s32"),
        ("ldu.global.u32", "ld.global.u32"),
        ("barrier.cluster.arrive.release", "barrier.cluster.arrive"),
        ("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64",
         "mbarrier.try_wait.parity.shared.b64"),
        ("cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint",
         "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes"
         ".L2::cache_hint"),
        ("cp.async.bulk.tensor.4d.im2col.cta_group::2.shared::cta.global"
         ".mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint",
         "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
         ".multicast::cluster.cta_group::2.L2::cache_hint"),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint",
         "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint"),
        ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
         "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"),
    ],
)  # fmt: skip
def test_spellings(spelled: str, read: str) -> None:
    assert normal(spelled) == read
    assert rule_of(spelled) is not None


def test_registers_for_what_no_op_gives() -> None:
    arrives = "mbarrier.arrive.shared.b64 %rd2, [%r1];\n"
    module = parse_module(kernel(f"mov.u32 %r1, 0;\n{arrives}"))
    verify(module, None)
    assert "mbarrier.arrive.shared.b64 _, [%r1];" in module_text(module)
    read = parse_module(kernel(f"{arrives}st.global.b64 [%rd1], %rd2;\n"))
    assert "mbarrier.arrive.shared.b64 %rd" in module_text(read)
    read = parse_module(kernel("elect.sync %r2|%p1, -1;\nst.global.b32 [%rd1], %r2;\n"))
    assert "elect.sync %r" in module_text(read)


def test_tensor_maps_that_a_kernel_makes() -> None:
    """They come back; a number that no field has is named."""
    lines = (
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 1, %r2;",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 3;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%rd1], [%r1], 128;",
    )
    text = kernel("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\n" + "\n".join(lines) + "\n")
    module = parse_module(text.replace("sm_80", "sm_90a"))
    written = module_text(parse_module(str(module)))
    assert all(line.split()[0] in written for line in lines)
    with pytest.raises(
        CompileError, match=r"as number of tile\.swizzle_mode\.global.b1024.b32, got 9"
    ):
        verify(parse_module(text.replace("[%rd1], 3", "[%rd1], 9")))


def test_constants_in_registers() -> None:
    """A number that an op has to know may come in a register."""
    module = parse_module(kernel("mov.u32 %r1, 3;\nmov.u32 %r2, %r1;\nbar.sync %r2;\n"))
    assert "ptx.bar.sync 3" in str(module)


@pytest.mark.parametrize(("scale", "says"), [("0", " zero "), ("1", ""), ("%r9", " scale_d ")])
def test_accumulators_that_are_not_read(scale: str, says: str) -> None:
    """A predicate that constants decide is none; what is not read need not be written."""
    wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, "
    text = kernel(
        f"mov.u32 %r1, {scale if scale != '%r9' else '%tid.x'};\nsetp.ne.b32 %p1, %r1, 0;\n"
        f"{wgmma}%rd1, %rd1, %p1, 1, 1, 0, 0;\n"
    )
    [line] = [line for line in str(parse_module(text)).splitlines() if "ptx.wgmma" in line]
    assert [word for word in (" zero ", " scale_d ") if word in line] == [says][: bool(says)], line


def test_more_than_a_parameter_is_not_read() -> None:
    text = kernel("ld.param.u64 %rd2, [k_n];\n", ".param .u64 k_p, .param .u32 k_n")
    with pytest.raises(CompileError, match="expected at most 32 bits of k_n, got u64"):
        parse_module(text, "k.ptx")


@pytest.mark.parametrize(
    ("reads", "type_"),
    [("ld.param.b64 %rd2, [k_p]", "u64"), ("ld.param.u32 %r2, [k_p+4]", "bytes8_8")],
)
def test_words_of_bytes(reads: str, type_: str) -> None:
    """Eight bytes that are read at once may be a pointer."""
    text = kernel("", ".param .align 8 .b8 k_p[8]").replace("ld.param.u64 %rd1, [k_p]", reads)
    assert f": {type_})" in str(parse_module(text))


def test_tries_of_a_wait() -> None:
    """A loop that does no more than wait is one op; the tries of another are ops."""
    wait = "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0, 20"
    for body, op in (
        (f"again:\n{wait};\n@!%p1 bra again;\n", "try_wait.parity"),
        (f"again:\nadd.s32 %r1, %r2, 8;\n{wait};\n@!%p1 bra again;\n", "ask"),
        (f"{wait};\n@%p1 bra done;\n{wait};\ndone:\n", "ask"),
    ):
        module = parse_module(kernel(body).replace("sm_80", "sm_90"))
        verify(module, None)
        assert f"ptx.mbarrier.{op} " in str(module) and ", 20;" in module_text(module)


@pytest.mark.parametrize(("kind", "names"), REFUSED.items())
def test_what_is_refused_is_named(kind: str, names: tuple[str, ...]) -> None:
    for name in names:
        with pytest.raises(CompileError, match=f"which none {kind} is, got {name}.x") as raised:
            parse_module(kernel(f"add.s32 %r1, %r1, 1;\n{name}.x %r1;\n"), "k.ptx")
        assert raised.value.line == 12


@pytest.mark.parametrize(
    ("spelled", "read"),
    [
        ("fma.f32.rn", "fma.rn.f32"),
        ("setp.s32.lt", "setp.lt.s32"),
        ("cvt.f32.rn.f64", "cvt.rn.f32.f64"),
        ("redux.add.sync.u32", "redux.sync.add.u32"),
        (
            "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16",
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        ),
    ],
)
def test_qualifiers_stand_in_any_order(spelled: str, read: str) -> None:
    assert rule_of(spelled) is rule_of(read) is not None


def test_lines_are_fused_with_those_that_they_come_from() -> None:
    """From one `.loc` to the next, or to the end of the function; diagnostics name the PTX."""
    body = "add.s32 %r1, %r1, 1;\n.loc 2 7 5, function_name $x, inlined_at 1 8 9\n"
    text = kernel(f"{body}mov.u32 %r2, %tid.x;\n.loc 1 20 3\nst.global.u32 [%rd1], %r2;\n")
    text += '.file 1 "k.cu"\n.file 2 "k.h", 1, 2\n'
    ops = {op.name: str(op.location) for op in parse_module(text, "k.ptx").walk()}
    assert "k.h" not in ops["ptx.add"] and 'k.ptx":11:1' in ops["ptx.add"]
    assert '"k.ptx":13:1, "k.h":7:5' in ops["ptx.sreg"]
    assert '"k.ptx":15:1, "k.cu":20:3' in ops["ptx.st"]
    store = next(op for op in parse_module(text, "k.ptx").walk() if op.name == "ptx.st")
    assert place_of(store.location) == ("k.ptx", 15, 1)


def test_accesses_take_their_words_in_any_order() -> None:
    text = kernel("ld.u32.global.v2 {%r1, %r2}, [%rd1];\nst.u32.global [%rd1], %r2;\n")
    again = module_text(parse_module(text))
    assert "ld.global.v2.b32" in again and "st.global.b32" in again


def test_volatile_accesses_of_local_memory_are_plain_ones() -> None:
    """No other thread sees it."""
    body = "st.volatile.local.u32 [own], %r2;\nld.volatile.local.u32 %r1, [own];\n"
    text = kernel(f".local .align 4 .b8 own[4];\n{body}st.volatile.global.u32 [%rd1], %r1;\n")
    again = module_text(parse_module(text))
    assert "st.local.b32" in again and "ld.local.b32" in again
    assert "st.relaxed.sys.global.b32" in again


def test_a_form_with_colons_is_quoted_in_ir() -> None:
    line = "cvt.rn.relu.scaled::n2::ue8m0.bf16x2.s2f6x2 %r1, h, 0x7f80;"
    text = kernel(f".reg .b16 h;\nld.b16 h, [%rd1];\n{line}\nst.b32 [%rd1], %r1;\n")
    module = parse_module(text.replace("sm_80", "sm_100a"))
    assert 'ptx.cvt "rn.relu.scaled::n2::ue8m0.bf16x2.s2f6x2" ' in str(module)
    assert "cvt.rn.relu.scaled::n2::ue8m0.bf16x2.s2f6x2 %r1, %h1, " in module_text(
        parse_module(str(module))
    )


def test_registers_become_arguments_where_ways_meet() -> None:
    module = parse_module(
        kernel(
            "mov.u32 %r1, 0;\nmov.u32 %r2, %tid.x;\nloop:\nadd.s32 %r1, %r1, %r2;\n"
            "setp.lt.s32 %p1, %r1, 100;\n@%p1 bra loop;\n@!%p1 add.s32 %r2, %r2, 1;\n"
            "st.global.b32 [%rd1+4], %r1;\nst.global.u8 [%rd1], %r2;\n"
        )
    )
    verify(module, None)
    assert (
        "\n".join(str(module).splitlines()[1:-1])
        == """\
  ptx.entry @k(%0: u64) {
    %1 = ptx.mov %0 {ptx.one_instruction = "1 ld.param.u64 =0, [%0]"} \
: !ptx.reg<b64> -> !ptx.reg<b64>
    %2 = ptx.const 0 : !ptx.reg<b32>
    %3 = ptx.mov %2 : !ptx.reg<b32> -> !ptx.reg<b32>
    %4 = ptx.sreg "tid.x"
    ptx.bra ^loop(%3 : !ptx.reg<b32>)
  ^loop(%5: !ptx.reg<b32>):
    %6 = ptx.add s32 %5, %4 {ptx.in_place}
    %7 = ptx.const 100 : !ptx.reg<b32>
    %8 = ptx.setp lt.s32 %6, %7
    ptx.cond_bra %8, ^loop(%6 : !ptx.reg<b32>), ^bb2
  ^bb2:
    ptx.cond_bra %8, ^bb4(%4 : !ptx.reg<b32>), ^bb3 {ptx.guarded}
  ^bb3:
    %9 = ptx.const 1 : !ptx.reg<b32>
    %10 = ptx.add s32 %4, %9 {ptx.in_place}
    ptx.bra ^bb4(%10 : !ptx.reg<b32>)
  ^bb4(%11: !ptx.reg<b32>):
    ptx.st "global" "b32" %1, 4, %6 : !ptx.reg<b64>, !ptx.reg<b32>
    %12 = ptx.cvt u16.u32 %11
    ptx.st "global" "b8" %1, 0, %12 : !ptx.reg<b64>, !ptx.reg<b16>
    ptx.ret
  }"""
    )


def test_functions_take_the_place_of_their_calls() -> None:
    function = (
        ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %r<3>;\n"
        "ld.param.b32 %r1, [in];\nadd.s32 %r2, %r1, %r1;\nst.param.b32 [out], %r2;\nret;\n}\n"
    )
    call = (
        "{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), twice, (p);\n"
        "ld.param.b32 %r2, [q];\n}\n"
    )
    text = kernel(f"mov.u32 %r1, %tid.x;\n{call}st.global.b32 [%rd1], %r2;\n")
    text = text.replace(".visible", function + ".visible")
    assert "ptx.call @twice(%2) uniform" in str(parse_module(text))
    assert "ptx.add s32 %3, %3" in str(verified(text)[0])
    recursive = text.replace("st.param.b32 [out], %r2;", "call (out), twice, (in);")
    with pytest.raises(CompileError, match="expected no recursion, got a call of twice in itself"):
        parse_module(recursive)


def test_what_stays_gets_no_argument_even_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[int]()
    insert = Block.insert_arg

    def counted(self: Block, *of: Any) -> Any:
        made.append(1)
        return insert(self, *of)

    monkeypatch.setattr(Block, "insert_arg", counted)
    diamonds = "".join(
        f"setp.lt.s32 %p1, %r1, {place};\n@%p1 bra L{place};\nst.global.b32 [%rd1], %r1;\n"
        f"L{place}:\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, %r1;\n@%p2 bra L{place};\n"
        for place in range(100)
    )
    read = "".join(f"st.global.b32 [%rd{place}], %r{place};\n" for place in range(1, 8))
    written = "".join(f"mov.u32 %r{n}, %tid.x;\nmov.u64 %rd{n}, %rd1;\n" for n in range(2, 8))
    module = parse_module(kernel(f"mov.u32 %r1, %tid.x;\n{written}{diamonds}{read}"))
    verify(module, None)
    [entry] = module.ops
    blocks = entry.regions[0].blocks
    assert sum(len(block.args) for block in blocks) == len(made) == 1 + 100


def test_registers_are_found_by_the_prefix_that_they_are_declared_with() -> None:
    text = kernel(".reg .b32 %x1<3>, %x<3>;\nmov.u32 %x12, %tid.x;\nadd.s32 %x2, %x12, %x12;\n")
    assert "ptx.add s32 %2, %2" in str(parse_module(text))
    for name in ("%x3", "%x13", "%x01", "%x1x"):
        with pytest.raises(CompileError, match="expected a register that is declared, got %x"):
            parse_module(text.replace("%x2", name))


def test_registers_of_a_list_are_alone_behind_the_wait_for_it() -> None:
    names = ", ".join(f"%a{place}" for place in range(4))
    text = kernel(
        f".reg .b32 %a<4>;\nloop:\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{names}}}, "
        "%rd2, %rd2, 0, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 0;\nst.global.b32 [%rd1], %a2;\n"
    ).replace("sm_80", "sm_90a")
    ops = [op.name for op in parse_module(text).walk()]
    assert ops.index("ptx.wgmma.wait_group") < ops.index("ptx.list.get")
