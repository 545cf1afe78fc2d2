"""How `benchmarks/sass.py` reads machine code, and `benchmarks/sass_compare.py` compares it."""

from __future__ import annotations

import pytest
from sass import Disassembly, Issued, Region, codes
from sass_compare import beside, line

RESOURCES = """
	.section	.nv.info,"",@"SHT_CUDA_INFO"
	//----- nvinfo : EIATTR_REGCOUNT
	.align		4
        /*0000*/ 	.byte	0x04, 0x2f
        /*0002*/ 	.short	(.L_3 - .L_2)
	.align		4
.L_2:
        /*0004*/ 	.word	index@(k)
        /*0008*/ 	.word	0x0000002a
	//----- nvinfo : EIATTR_FRAME_SIZE
	.align		4
.L_3:
        /*000c*/ 	.byte	0x04, 0x11
        /*000e*/ 	.short	(.L_5 - .L_4)
	.align		4
.L_4:
        /*0010*/ 	.word	index@(k)
        /*0014*/ 	.word	0x00000010
"""
LAUNCHED = """
	.section	.nv.info.k,"",@"SHT_CUDA_INFO"
	.sectionflags	@""
	//----- nvinfo : EIATTR_REQNTID
	.align		4
.L_4:
        /*0000*/ 	.byte	0x04, 0x10
        /*0002*/ 	.short	(.L_7 - .L_6)
.L_6:
        /*0004*/ 	.word	0x00000180
        /*0008*/ 	.word	0x00000001
"""
SHARED = """
	.section	.nv.shared.k,"aw",@nobits
.nv.shared.k:
	.zero		1024
"""


def code(text: str) -> Disassembly:
    """The kernel of instructions and labels, a line each, without addresses."""
    lines = [
        words if words.endswith(":") else f"        /*{16 * place:04x}*/   {words} ;"
        for place, words in enumerate(text.strip().splitlines())
    ]
    start = ['\t.section\t.text.k,"ax",@progbits', ".text.k:"]
    return codes("\n".join([RESOURCES, LAUNCHED, *start, *lines, SHARED]))["k"]


GROUPS = """
UMOV UR5, 0x8210490
.L_x_0:
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R3
@!P0 BRA `(.L_x_3)
.L_x_1:
@P0 ELECT P2, URZ, PT
@P2 R2UR.BROADCAST UR8, R12
UTCHMMA gdesc[UR10], gdesc[UR8], tmem[UR20], tmem[UR4], idesc[UR5], UP0
@P0 BRA.U.ANY `(.L_x_1)
BRA.U UP1, `(.L_x_0)
UMOV UR5, UR7
UTCHMMA gdesc[UR10], gdesc[UR8], tmem[UR20], tmem[UR4], idesc[UR5], UP0
EXIT
.L_x_3:
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R3
@!P0 BRA `(.L_x_3)
BRA `(.L_x_1)
"""
"""A loop that waits out of line, with an MMA that ptxas does for each value of a register."""

WARPS = """
LDSM.16.M88.4 R0, [R9]
.L_x_0:
LDG.E.128 R0, [R2.64]
.L_x_1:
LDSM.16.MT88.2 R4, [R8]
HMMA.16816.F32.BF16 R0, R4, R8, R0
QMMA.16832.F32.E4M3.E4M3 R0, R4, R8, R0
HGMMA.64x256x16.F32.BF16 R24, gdesc[UR4], R24
@P1 BRA `(.L_x_1)
HMMA.1688.F32.TF32 R0, R4, R8, R0
BRA P2, `(.L_x_0)
STG.E.U8 [R2.64], R0
EXIT
"""
"""Two loops, the MMAs of three kinds in the inner one, and a fourth behind it."""

COPY = """
LDG.E.128 R0, [R2.64]
.L_x_0:
LDG.E.64 R0, [R2.64]
{}FADD R0, R0, R1
STG.E.64 [R2.64], R0
@P0 BRA `(.L_x_0)
EXIT
"""


def test_resources():
    kernel = code(COPY.format(""))
    assert (kernel.registers, kernel.local_bytes, kernel.shared_bytes) == (42, 16, 1024)
    assert code("SYNCS.EXCH.64 URZ, [UR7], UR4\nEXIT").mbarriers == 1
    assert kernel.threads == 384
    assert code("BAR.SYNC.DEFER_BLOCKING 0x1, 0x80\nEXIT").threads == 128


def test_loops():
    """Neither a wait out of line, which goes back, nor `BRA.U.ANY` makes a loop of the MMA."""
    assert code(GROUPS).loops() == [Region(1, 8), Region(11, 13)]
    assert code(WARPS).loops() == [Region(2, 7), Region(1, 9)]
    assert code("EXIT").busiest() == Region(0, 1)


def test_products():
    """Of the descriptor's M and N, unless it was overwritten, or of the name."""
    assert [one.products for one in code(GROUPS).instructions if one.kind == "MMA"] == [
        128 * 128 * 16,
        0,
    ]
    assert Issued.of(code(WARPS)).products == 16 * 8 * (16 + 32) + 64 * 256 * 16 // 4


def test_classes():
    issued = Issued.of(code(WARPS))
    assert issued.counts == {"LDS": 1, "MMA": 3, "branch": 1}
    assert issued.bytes["LDS"] == 8
    assert Issued.of(code(GROUPS)).counts == {"sync": 1, "branch": 3, "uniform": 2, "MMA": 1}
    assert code("@!PT LDS RZ, [RZ]").instructions[0].kind == "ALU", "it loads nothing"
    barriers = code("BAR.SYNC.DEFER_BLOCKING 0x0\nWARPSYNC.ALL").instructions
    assert [one.kind for one in barriers] == ["barrier", "sync"]


def test_ratio():
    """Slots of a loop for each byte that it loads, and the class that has more."""
    short, long = (code(COPY.format(text)) for text in ("", "FADD R0, R0, R1\n" * 2))
    row = {"name": "copy", "arch": "sm_90a"} | beside(long, short, 8)
    assert (row["ratio"], row["most"]) == (pytest.approx(1.5), "float")
    assert line(row) == (
        " 1.50 sm_90a copy: registers 42/42, local 16/16, shared 1032/1024, slots 6/4, "
        "LDG bytes 8/8, STG bytes 8/8, float 3/1, branch 1/1"
    )


def test_ratio_of_a_tile():
    """Slots of all threads that compute, where it came to memory by itself."""
    ours, theirs = code("LDG.E.128 R0, [R2.64]\nEXIT"), code("BAR.SYNC 0x1, 0x80\nNOP\nNOP\nEXIT")
    assert beside(ours, theirs, 0)["ratio"] == pytest.approx(2 * 384 / (4 * 128))
