"""Joining registers: what a loop carries stays in place, and a move is left only where two values
are alive at once."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tw
from tilewright.launch.ptxas import PtxasReport
from tilewright.lowering.ptx.text import module_text
from tilewright.source.parsing import parse_module
from tilewright.source.verification import verify

Ptxas = Callable[..., PtxasReport]


def text_of(ir: str) -> str:
    module = parse_module(ir)
    verify(module)
    return module_text(module)


def lines(text: str, start: str = "", block: str | None = None) -> list[str]:
    """The instructions of the kernel, or of one block, that begin so."""
    body = text[text.index("{\n") :]
    if block is not None:
        body = re.split(r"^\$", body.split(f"${block}:\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    return [line.strip() for line in body.splitlines() if line.strip().startswith(start)]


FORM = '"m16n8k16.row.col.f32.bf16.bf16.f32"'
MMA = ": (!ab, !b, !c) -> !c"
TYPES = (
    "!ab = !ptx.reg<b32 x 4>\n!b = !ptx.reg<b32 x 2>\n!c = !ptx.reg<f32 x 4>\n!z = !ptx.reg<f32>\n"
)
LOADS = """
  %g = ptx.cvta to.global.u64 %p
  %a = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !ab
  %b = ptx.ld "global" "b32" %g, 16 : !ptx.reg<b64> -> !b
  %c = ptx.ld "global" "f32" %g, 32 : !ptx.reg<b64> -> !c
"""


def mma_kernel(body: str) -> str:
    return f"{TYPES}ptx.entry @k(%p: u64, %n: u32) {{{LOADS}{body}\n  ptx.ret\n}}"


def loop(carried: str, body: str, type_: str = "!c") -> str:
    """A loop whose %acc is first what it carries, and then %d of its body, which is stored."""
    element = "f32" if type_ == "!c" else "b32"
    return f"""
  %i0 = ptx.const 0 : !ptx.reg<b32>
  ptx.bra ^loop(%i0, {carried} : !ptx.reg<b32>, {type_})
^loop(%i: !ptx.reg<b32>, %acc: {type_}):{body}
  %one = ptx.const 1 : !ptx.reg<b32>
  %next = ptx.add s32 %i, %one
  %more = ptx.setp lt.s32 %next, %n
  ptx.cond_bra %more, ^loop(%next, %d : !ptx.reg<b32>, {type_}), ^end
^end:
  ptx.st "global" "{element}" %g, 0, %d : !ptx.reg<b64>, {type_}"""


def registers(instruction: str) -> list[list[str]]:
    """The register groups of an instruction's operands."""
    return [re.findall(r"%\w+", group) for group in re.findall(r"\{([^}]*)\}", instruction)]


def test_an_mma_accumulates_in_place(ptxas: Ptxas) -> None:
    text = text_of(
        mma_kernel(f"""
  %d = ptx.mma {FORM} %a, %b, %c {MMA}
  %e = ptx.mma {FORM} %a, %b, %d {MMA}
  ptx.st "global" "f32" %g, 0, %e : !ptx.reg<b64>, !c""")
    )
    for mma in lines(text, "mma.sync"):
        d, _, _, c = registers(mma)
        assert d == c
    assert lines(text, "mov") == []
    assert ptxas(text, "sm_80").clean


def test_an_accumulator_that_is_read_again_is_not_overwritten() -> None:
    text = text_of(
        mma_kernel(f"""
  %d = ptx.mma {FORM} %a, %b, %c {MMA}
  %e = ptx.mma {FORM} %a, %b, %c {MMA}
  ptx.st "global" "f32" %g, 0, %d : !ptx.reg<b64>, !c
  ptx.st "global" "f32" %g, 16, %e : !ptx.reg<b64>, !c""")
    )
    first, second = (registers(mma) for mma in lines(text, "mma.sync"))
    assert not set(first[0]) & set(second[3])
    assert second[0] == second[3]


def test_results_that_nobody_reads_overwrite_nothing() -> None:
    """The mma writes all of d, also the elements that nothing reads, so c has to survive it."""
    for unread in ("", '  %x = ptx.list.get %d[0] : !c -> !ptx.reg<f32>\n'
                   '  ptx.st "global" "f32" %g, 0, %x : !ptx.reg<b64>, !ptx.reg<f32>'):  # fmt: skip
        text = text_of(
            mma_kernel(f"""
  %d = ptx.mma {FORM} %a, %b, %c {MMA}
{unread}
  %e = ptx.mma {FORM} %a, %b, %c {MMA}
  ptx.st "global" "f32" %g, 16, %e : !ptx.reg<b64>, !c""")
        )
        first, second = (registers(mma) for mma in lines(text, "mma.sync"))
        assert not set(first[0]) & set(second[3])


def test_a_list_of_one_register_repeated_is_spread_by_the_loop(ptxas: Ptxas) -> None:
    """The four elements of a splat share a register before the loop, never in it."""
    splat = """
  %zero = ptx.const 0 : !ptx.reg<f32>
  %init = ptx.list.make %zero, %zero, %zero, %zero : !z, !z, !z, !z -> !c"""
    product = f"""
  %d = ptx.mma {FORM} %a, %b, %acc {MMA}"""
    text = text_of(mma_kernel(splat + loop("%init", product)))
    (mma,) = lines(text, "mma.sync")
    d, _, _, c = registers(mma)
    assert d == c and len(set(d)) == 4
    assert lines(text, "mov", "loop") == []
    assert ptxas(text, "sm_80").clean


def test_accumulators_that_are_scaled_one_by_one_stay_in_place(ptxas: Ptxas) -> None:
    """A part of a list is a read of that part alone, also where a name stands behind the others'
    last use."""
    scaled = "".join(
        f"""
  %x{i} = ptx.list.get %acc[{i}] : !c -> !z
  %y{i} = ptx.mul f32 %x{i}, %half"""
        for i in range(4)
    )
    parts = "\n  %d = ptx.list.make %y0, %y1, %y2, %y3 : !z, !z, !z, !z -> !c"
    half = "\n  %half = ptx.const 1056964608 : !z"
    ir = mma_kernel(half + loop("%c", scaled + parts))
    text = text_of(ir)
    assert lines(text, "mov.f32") == []
    assert ptxas(text, "sm_80").clean
    given = np.arange(12, dtype=np.float32)
    [left] = tw.interpret(ir, grid=(1,), block=(1,), args=[given, 3], arch="sm_80")
    np.testing.assert_array_equal(left[:4], given[8:] / 8)


def apart(mma: str) -> bool:
    """True where d shares no register with what the instruction reads but c of the same place."""
    d, *read, c = registers(mma)
    return not set(d) & {*(each for group in read for each in group)} and all(
        a != b or i == j for i, a in enumerate(d) for j, b in enumerate(c)
    )


X = "!ptx.reg<f32>"
READ_ELSEWHERE = {
    "broadcast": f"""
  %x = ptx.ld "global" "f32" %g, 64 : !ptx.reg<b64> -> {X}
  %c1 = ptx.list.make %x, %x, %x, %x : {X}, {X}, {X}, {X} -> !c
  %d = ptx.mma {FORM} %a, %b, %c1 {MMA}
  ptx.st "global" "f32" %g, 0, %d : !ptx.reg<b64>, !c""",
    "reversed": loop("%c", f"""
  %q:4 = ptx.list.get %acc[0] : !c -> {X}, {X}, {X}, {X}
  %c1 = ptx.list.make %q#3, %q#2, %q#1, %q#0 : {X}, {X}, {X}, {X} -> !c
  %d = ptx.mma {FORM} %a, %b, %c1 {MMA}"""),
    "multiplicand": """
  %s = ptx.ld "global" "b32" %g, 32 : !ptx.reg<b64> -> !ab""" + loop("%a", """
  %d = ptx.mma "m16n8k32.row.col.s32.s8.s8.s32" %acc, %b, %s : (!ab, !b, !ab) -> !ab""", "!ab"),
}  # fmt: skip
"""What an MMA reads could be written by it, if PTX were believed."""


@pytest.mark.parametrize("name", READ_ELSEWHERE)
def test_what_an_mma_writes_it_reads_nowhere_but_at_its_place(name: str, ptxas: Ptxas) -> None:
    """ptxas writes the first result of some MMAs before it reads the second accumulator, or the
    second register of A: tests/gpu/mma_overlaps.py says of which."""
    text = text_of(mma_kernel(READ_ELSEWHERE[name]))
    (mma,) = lines(text, "mma.sync")
    assert apart(mma), mma
    assert ptxas(text, "sm_80").clean


LOOP = """
ptx.entry @k(%p: u64, %n: u32) {{
  %g = ptx.cvta to.global.u64 %p
  %x = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  %y = ptx.ld "global" "b32" %g, 4 : !ptx.reg<b64> -> !ptx.reg<b32>
  %z = ptx.ld "global" "b32" %g, 8 : !ptx.reg<b64> -> !ptx.reg<b32>
  %zero = ptx.const 0 : !ptx.reg<b32>
  ptx.bra ^loop(%zero, %x, %y, %z : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>)
^loop(%i: !ptx.reg<b32>, %u: !ptx.reg<b32>, %v: !ptx.reg<b32>, %w: !ptx.reg<b32>):
  %more = ptx.setp lt.s32 %i, %n
  ptx.cond_bra %more, ^body, ^end
^body:
  %one = ptx.const 1 : !ptx.reg<b32>
  %next = ptx.add s32 %i, %one
  ptx.bra ^loop(%next, {passed} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>)
^end:
  ptx.st "global" "b32" %g, 0, %u : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.st "global" "b32" %g, 4, %v : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.st "global" "b32" %g, 8, %w : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.ret
}}
"""


def simulate_moves(text: str, block: str) -> dict[str, str]:
    """What each register holds after the block's moves, in terms of what was there before."""
    held: dict[str, str] = {}
    for move in lines(text, "mov.", block):
        destination, source = move.rstrip(";").split(" ", 1)[1].split(", ")
        held[destination] = held.get(source, source)
    return held


def carried(text: str) -> list[str]:
    """The registers of u, v and w: what is stored at the end."""
    return [store.rstrip(";").rsplit(", ", 1)[1] for store in lines(text, "st.global", "end")]


def test_carried_values_that_stay_need_no_move(ptxas: Ptxas) -> None:
    text = text_of(LOOP.format(passed="%u, %v, %w"))
    assert lines(text, "mov", "body") == []
    assert ptxas(text, "sm_75").clean


def check_permutation(order: str, moves: int, ptxas: Ptxas) -> None:
    text = text_of(LOOP.format(passed=order))
    u, v, w = carried(text)
    after = simulate_moves(text, "body")
    before = {"%u": u, "%v": v, "%w": w}
    for register, passed in zip((u, v, w), order.split(", "), strict=True):
        assert after.get(register, register) == before[passed]
    assert len(lines(text, "mov", "body")) == moves
    assert ptxas(text, "sm_75").clean


def test_a_swap_goes_through_a_spare_register(ptxas: Ptxas) -> None:
    check_permutation("%v, %u, %w", 3, ptxas)


def test_a_rotation_goes_through_one_spare_register(ptxas: Ptxas) -> None:
    check_permutation("%v, %w, %u", 4, ptxas)
    check_permutation("%w, %u, %v", 4, ptxas)


def test_a_chain_moves_in_order_without_a_spare(ptxas: Ptxas) -> None:
    check_permutation("%v, %w, %w", 2, ptxas)
    check_permutation("%u, %u, %v", 2, ptxas)


def test_a_swap_beside_a_chain(ptxas: Ptxas) -> None:
    check_permutation("%v, %u, %u", 4, ptxas)


def test_a_value_that_lives_on_leaves_a_move(ptxas: Ptxas) -> None:
    """%x is stored after the loop that starts with it: the loop's value needs its own register."""
    text = text_of("""
ptx.entry @k(%p: u64, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %x = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.bra ^loop(%x : !ptx.reg<b32>)
^loop(%u: !ptx.reg<b32>):
  %next = ptx.add s32 %u, %u
  %more = ptx.setp lt.s32 %next, %n
  ptx.cond_bra %more, ^loop(%next : !ptx.reg<b32>), ^end
^end:
  ptx.st "global" "b32" %g, 0, %x : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.st "global" "b32" %g, 4, %next : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.ret
}
""")
    (move,) = lines(text, "mov")
    kept, last = (store.rstrip(";").split(", ")[1] for store in lines(text, "st.global"))
    assert kept != last
    assert move == f"mov.b32 {last}, {kept};"
    assert text.index(move) < text.index("$loop:")
    assert ptxas(text, "sm_75").clean


def test_the_next_value_beside_the_old_one_leaves_a_move() -> None:
    """Both the loop's value and its successor are read at the end of the body."""
    text = text_of("""
ptx.entry @k(%p: u64, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %x = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.bra ^loop(%x : !ptx.reg<b32>)
^loop(%u: !ptx.reg<b32>):
  %next = ptx.add s32 %u, %n
  ptx.st "global" "b32" %g, 8, %u : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.bra ^loop(%next : !ptx.reg<b32>)
}
""")
    (move,) = lines(text, "mov", "loop")
    (add,) = lines(text, "add", "loop")
    (store,) = lines(text, "st", "loop")
    into, source = re.findall(r"%\w+", move)
    assert add.split()[1] == f"{source},"
    assert into in store


def test_a_critical_edge_gets_a_block_of_its_own(ptxas: Ptxas) -> None:
    """Moves of one way out of a conditional branch must not run on the other."""
    text = text_of("""
ptx.entry @k(%p: u64, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %x = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !ptx.reg<b32>
  %c = ptx.setp ne.u32 %x, %n
  %seven = ptx.const 7 : !ptx.reg<b32>
  ptx.cond_bra %c, ^end(%seven : !ptx.reg<b32>), ^other
^other:
  %y = ptx.add s32 %x, %n
  ptx.cond_bra %c, ^end(%x : !ptx.reg<b32>), ^end(%y : !ptx.reg<b32>)
^end(%v: !ptx.reg<b32>):
  ptx.st "global" "b32" %g, 0, %v : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.ret
}
""")
    (store,) = lines(text, "st.global")
    result = store.rstrip(";").split(", ")[1]
    (branch,) = lines(text, "@")[:1]
    assert re.fullmatch(r"@%p1 bra \$end_from0;", branch)
    assert lines(text, "", "end_from0")[:2] == [f"mov.b32 {result}, 7;", "bra.uni $end;"]
    assert "mov" not in text[text.index("setp") : text.index("$other:")]
    assert ptxas(text, "sm_75").clean


def test_an_edge_without_moves_goes_straight(ptxas: Ptxas) -> None:
    text = text_of("""
ptx.entry @k(%p: u64, %n: u32) {
  %c = ptx.setp ne.u32 %n, %n
  ptx.cond_bra %c, ^a, ^b
^a:
  ptx.bra ^b
^b:
  ptx.ret
}
""")
    assert lines(text, "@") == ["@!%p1 bra $b;"]
    assert "_from" not in text and lines(text, "bra") == []
    assert ptxas(text, "sm_75").clean


def test_undefined_values_need_no_move() -> None:
    text = text_of("""
ptx.entry @k(%p: u64, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %u = ptx.undef : !ptx.reg<b32 x 4>
  ptx.bra ^next(%u : !ptx.reg<b32 x 4>)
^next(%v: !ptx.reg<b32 x 4>):
  ptx.st "global" "b32" %g, 0, %v : !ptx.reg<b64>, !ptx.reg<b32 x 4>
  ptx.ret
}
""")
    assert lines(text, "mov") == []


def test_blocks_of_one_name_get_labels_of_their_own(ptxas: Ptxas) -> None:
    module = parse_module("""
ptx.entry @k(%n: u32) {
  ptx.bra ^x
^x:
  ptx.bra ^y
^y:
  ptx.bra ^x
}
""")
    entry = next(iter(module.body.block.ops))
    for block in list(entry.regions[0].blocks)[1:]:
        block.name_hint = "same.name"
    text = module_text(module)
    assert "$same_name:" in text and "$same_name_1:" in text
    assert ptxas(text, "sm_75").clean


def test_each_kernel_counts_its_own_registers(ptxas: Ptxas) -> None:
    one = mma_kernel('  ptx.st "global" "f32" %g, 0, %c : !ptx.reg<b64>, !c')
    text = text_of(one + one.replace("@k", "@l").replace(TYPES, ""))
    assert text.count(".reg .f32 %f<5>;") == 2
    assert ptxas(text, "sm_75").clean
