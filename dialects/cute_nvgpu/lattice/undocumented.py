"""Forms that ptxas takes although the PTX ISA has none such: illegal here, with the rule broken.

Legal is what is documented and assembles. Whoever's kernel assembles all the same may want to know
that it is no accident, and that the next ptxas may refuse it. Every row was measured with ptxas
13.5; `tests/tools/test_undocumented.py` asks it again.
"""

import re

from tilewright.dialects.cute_nvgpu.lattice.targets import Minimum, any_of, target
from tilewright.dialects.frozen import frozen


@frozen
class Undocumented:
    """A form of an instruction that ptxas takes and the PTX ISA does not have.

    `form` says in words what it is and `rule` what the section has instead, `pattern` matches the
    mnemonics. ptxas takes them on `targets`; where that is None, wherever it takes `plain`, the
    mnemonic with the pattern's groups of that template. `example` is an instruction of the form.
    """

    form: str
    rule: str
    section: str
    pattern: re.Pattern[str]
    targets: Minimum | None
    plain: str
    example: str

    def plain_form(self, mnemonic: str) -> str | None:
        """The mnemonic that it stands for; "" where it stands for none, None where it is not of
        this form."""
        match = self.pattern.fullmatch(mnemonic)
        return None if match is None else match.expand(self.plain)


def _row(
    form: str,
    rule: str,
    section: str,
    pattern: str,
    example: str,
    *,
    targets: Minimum | None = None,
    plain: str = "",
) -> Undocumented:
    assert (targets is None) == bool(plain), form
    return Undocumented(form, rule, section, re.compile(pattern), targets, plain, example)


_SPACE = r"(?:\.shared(?:::cta)?|\.global)?"
_FP8 = r"(?:e4m3|e5m2)"
_FP8_PAIR = rf"{_FP8}\.{_FP8}"
_DENSE = r"mma\.sync\.aligned"
_ORDERED = r"mma\.sp::ordered_metadata\.sync\.aligned\.m16n8k64\.row\.col"
_MX = "kind::mxf8f6f4"
_MX4 = "kind::mxf4(?:nvf4)?"

_TENSOR_MEMORY = any_of("sm_100f", "sm_110f")
_TENSOR_MEMORY_I8 = any_of("sm_100a", "sm_110a")
_FAMILIES = any_of("sm_100f", "sm_110f", "sm_120f")
_EACH = any_of("sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a")
_SCALED_RULE = "the mx kinds have .block_scale, scale factors and their selectors"
_TCGEN05_RULE = "kind::f16, kind::tf32 and kind::i8 are of tcgen05.mma"
_FAMILY_RULE = "kinds require sm_120a, or sm_120f and later of its family"

_F4 = "{%f0,%f1,%f2,%f3}"
_R4 = "{%r0,%r1,%r2,%r3}"
_DENSE_K32 = f"{_F4}, {_R4}, {{%r4,%r5}}, {_F4};"
_DENSE_K16 = f"{_F4}, {{%r0,%r1}}, {{%r2}}, {_F4};"
_SPARSE = f"{_F4}, {_R4}, {_R4}, {_F4}, %r0, 0;"

UNDOCUMENTED: tuple[Undocumented, ...] = (
    _row(
        "`.xor`, `.and`, `.or` or several of them, with `.popc` or not, on s4 and u4",
        "bit operations are of .b1 alone", "9.7.14.5.14",
        rf"({_DENSE}\.(?:m8n8k32|m16n8k32|m16n8k64)\.row\.col\.s32\.[su]4\.[su]4\.s32)"
        r"(?:\.(?:xor|and|or))+(?:\.popc)?",
        "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32.xor.popc "
        "{%r0,%r1}, {%r2}, {%r3}, {%r0,%r1};",
        plain=r"\1",
    ),
    _row(
        "m8n8k4 on bf16 or tf32",
        "m8n8k4 has f16 and f64 multiplicands", "9.7.14.5.14",
        rf"{_DENSE}\.m8n8k4\.(?:row|col)\.(?:row|col)\.f32\.(?:bf16\.bf16|tf32\.tf32)\.f32",
        "mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
        "{%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
        targets=target("sm_80"),
    ),
    _row(
        "m16n8k32 `kind::f8f6f4` on e4m3 and e5m2, beyond sm_120f",
        _FAMILY_RULE, "9.7.14.5.14",
        rf"{_DENSE}\.m16n8k32\.row\.col\.kind::f8f6f4\.(f16|f32)\.{_FP8_PAIR}\.\1",
        f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 {_DENSE_K32}",
        targets=_FAMILIES,
    ),
    _row(
        "m16n8k16 `kind::f8f6f4` on e4m3 and e5m2",
        "kind::f8f6f4 has the shape m16n8k32 alone", "9.7.14.5.14",
        rf"{_DENSE}\.m16n8k16\.row\.col\.kind::f8f6f4\.(f16|f32)\.{_FP8_PAIR}\.\1",
        f"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {_DENSE_K16}",
        targets=_FAMILIES,
    ),
    _row(
        "`kind::mxf8f6f4`, `mxf4` or `mxf4nvf4` without `.block_scale`, on e4m3 and e5m2",
        _SCALED_RULE, "9.7.14.5.14",
        rf"{_DENSE}\.m16n8k(?:16|32)\.row\.col\.(?:{_MX}|{_MX4})\.(f16|f32)\.{_FP8_PAIR}\.\1",
        f"mma.sync.aligned.m16n8k32.row.col.kind::mxf4.f32.e5m2.e4m3.f32 {_DENSE_K32}",
        targets=_FAMILIES,
    ),
    _row(
        "`kind::f16` or `tf32` on e4m3 and e5m2",
        _TCGEN05_RULE, "9.7.14.5.14",
        rf"{_DENSE}\.m16n8k(?:16|32)\.row\.col\.kind::(?:f16|tf32)\.(f16|f32)\.{_FP8_PAIR}\.\1",
        f"mma.sync.aligned.m16n8k32.row.col.kind::f16.f32.e5m2.e4m3.f32 {_DENSE_K32}",
        targets=_TENSOR_MEMORY,
    ),
    _row(
        "`kind::i8` on e4m3 and e5m2",
        _TCGEN05_RULE, "9.7.14.5.14",
        rf"{_DENSE}\.m16n8k(?:16|32)\.row\.col\.kind::i8\.(f16|f32)\.{_FP8_PAIR}\.\1",
        f"mma.sync.aligned.m16n8k32.row.col.kind::i8.f32.e5m2.e4m3.f32 {_DENSE_K32}",
        targets=_TENSOR_MEMORY_I8,
    ),
    _row(
        "sparse `kind::f16` or `tf32` on e4m3 and e5m2 into f32",
        _TCGEN05_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.kind::(?:f16|tf32)\.f32\.{_FP8_PAIR}\.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::tf32.f32.e4m3.e5m2.f32 "
        f"{_SPARSE}",
        targets=_TENSOR_MEMORY,
    ),
    _row(
        "sparse `kind::i8` on e4m3 and e5m2 into f32",
        _TCGEN05_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.kind::i8\.f32\.{_FP8_PAIR}\.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::i8.f32.e4m3.e5m2.f32 "
        f"{_SPARSE}",
        targets=_TENSOR_MEMORY_I8,
    ),
    _row(
        "sparse `kind::f8f6f4` on e4m3 and e5m2 into f32, beyond sm_120f",
        _FAMILY_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.kind::f8f6f4\.f32\.{_FP8_PAIR}\.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 "
        f"{_SPARSE}",
        targets=_FAMILIES,
    ),
    _row(
        "sparse `kind::mxf8f6f4` without `.block_scale`, on e4m3 and e5m2 into f32",
        _SCALED_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.{_MX}\.f32\.{_FP8_PAIR}\.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.f32.e4m3.e5m2.f32 "
        f"{_SPARSE}",
        targets=_FAMILIES,
    ),
    _row(
        "sparse `kind::mxf8f6f4` without `.block_scale`, on e4m3 and e5m2 into f16",
        _SCALED_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.{_MX}\.f16\.{_FP8_PAIR}\.f16",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.f16.e4m3.e5m2.f16 "
        f"{{%r0,%r1}}, {_R4}, {_R4}, {{%r0,%r1}}, %r0, 0;",
        targets=target("sm_120f"),
    ),
    _row(
        "sparse `kind::mxf4` or `mxf4nvf4` without `.block_scale`, on e4m3 and e5m2 into f32",
        _SCALED_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.{_MX4}\.f32\.{_FP8_PAIR}\.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf4.f32.e4m3.e5m2.f32 "
        f"{_SPARSE}",
        targets=_EACH,
    ),
    _row(
        "sparse `kind::mxf4` or `mxf4nvf4` without `.block_scale`, on e4m3 and e5m2 into f16",
        _SCALED_RULE, "9.7.14.6.3",
        rf"{_ORDERED}\.{_MX4}\.f16\.{_FP8_PAIR}\.f16",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf4.f16.e4m3.e5m2.f16 "
        f"{{%r0,%r1}}, {_R4}, {_R4}, {{%r0,%r1}}, %r0, 0;",
        targets=any_of("sm_120a", "sm_121a"),
    ),
    _row(
        "`wmma.mma` on f64 at m16n16k8 or m16n16k16",
        "f64 has the shape m8n8k4 alone", "9.7.14.4.5",
        r"wmma\.mma\.sync\.aligned\.(?:row|col)\.(?:row|col)\.m16n16k(?:8|16)(?:\.r[nzmp])?"
        r"\.f64\.f64\.f64\.f64",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f64.f64.f64.f64 "
        "{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7}, {%fd0,%fd1,%fd2,%fd3}, {%fd0,%fd1,%fd2,%fd3}, "
        "{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7};",
        targets=target("sm_80"),
    ),
    _row(
        "`wmma.load.c` of f32 at m8n8k32 or m8n8k128",
        "these shapes have s32 accumulators alone", "9.7.14.4.3",
        rf"wmma\.load\.c\.sync\.aligned\.(?:row|col)\.m8n8k(?:32|128){_SPACE}\.f32",
        "wmma.load.c.sync.aligned.row.m8n8k32.shared.f32 {%f0,%f1}, [%rd0];",
        targets=target("sm_75"),
    ),
    _row(
        "`wmma.store.d` of f32 at m8n8k32 or m8n8k128",
        "these shapes have s32 accumulators alone", "9.7.14.4.4",
        rf"wmma\.store\.d\.sync\.aligned\.(?:row|col)\.m8n8k(?:32|128){_SPACE}\.f32",
        "wmma.store.d.sync.aligned.col.m8n8k128.f32 [%rd0], {%f0,%f1};",
        targets=target("sm_75"),
    ),
    _row(
        "`ldmatrix` of more than four matrices, with any number of registers",
        ".num is .x1, .x2 or .x4", "9.7.14.5.15",
        r"(ldmatrix\.sync\.aligned\.m\d+n\d+)\.x(?:8|16|32|64|128)(\..*)",
        "ldmatrix.sync.aligned.m8n8.x8.shared.b16 {%r0,%r1}, [%rd0];",
        plain=r"\1.x1\2",
    ),
    _row(
        "`stmatrix` of more than four matrices, with any number of registers",
        ".num is .x1, .x2 or .x4", "9.7.14.5.16",
        r"(stmatrix\.sync\.aligned\.m\d+n\d+)\.x(?:8|16|32|64|128)(\..*)",
        "stmatrix.sync.aligned.m8n8.x8.shared.b16 [%rd0], {%r0};",
        plain=r"\1.x1\2",
    ),
    _row(
        "a second format after the type of `stmatrix` (without effect)",
        "the type stands last", "9.7.14.5.16",
        r"(stmatrix\..*\.b(?:8|16))\.(?:b8x16|b6x16_p32|b4x16_p64)",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16.b6x16_p32 [%rd0], {%r0};",
        plain=r"\1",
    ),
    _row(
        "a second format after the type of `movmatrix` (without effect)",
        "the type stands last", "9.7.14.5.17",
        r"(movmatrix\..*\.b16)\.(?:b8x16|b6x16_p32|b4x16_p64)",
        "movmatrix.sync.aligned.m8n8.trans.b16.b8x16 %r0, %r1;",
        plain=r"\1",
    ),
    _row(
        "`.row` or `.col`, or two of them, on `wgmma.mma_async` (without effect)",
        "imm-trans-a and imm-trans-b say how A and B lie", "9.7.15.5.2",
        r"(wgmma\.mma_async(?:\.(?!row\.|col\.)[^.]+)*?)(?:\.(?:row|col)){1,2}"
        r"((?:\.(?!row\b|col\b)[^.]+)*)",
        "wgmma.mma_async.sync.aligned.m64n8k16.row.col.f32.f16.f16 "
        f"{_F4}, %rd0, %rd1, 1, 1, 1, 0, 0;",
        plain=r"\1\2",
    ),
    _row(
        "`.satfinite` of `wgmma.mma_async` several times",
        "it stands once", "9.7.15.5.2",
        r"(wgmma\.mma_async(?:\.sp)?\.sync\.aligned\.m64n\d+k\d+)(?=.*\.satfinite.*\.satfinite)"
        r"(?:\.satfinite)*(\.s32\.[su]8\.[su]8)(?:\.satfinite)*",
        "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8.satfinite "
        f"{_R4}, %rd0, %rd1, 1;",
        plain=r"\1\2.satfinite",
    ),
    _row(
        "`wgmma` without `.aligned`",
        ".aligned is mandatory", "9.7.15.5.2",
        r"(wgmma\.\w+(?:\.sp)?\.sync)(?!.*\.aligned)(\..*)?",
        "wgmma.wait_group.sync 0;",
        plain=r"\1.aligned\2",
    ),
    _row(
        "`::ld`, `::st` or what a fence orders on `tcgen05.shift` (without effect)",
        "they are those of tcgen05.wait and tcgen05.fence", "tcgen05.shift",
        r"(tcgen05\.shift)::(?:ld|st|before_thread_sync|after_thread_sync)(\..*)",
        "tcgen05.shift::ld.cta_group::1.down [%r0];",
        plain=r"\1\2",
    ),
)  # fmt: skip
"""Of mnemonics."""


@frozen
class UndocumentedSelector:
    """Values of an immediate operand that ptxas takes beyond those that have a meaning."""

    form: str
    rule: str
    section: str
    pattern: re.Pattern[str]
    operand: str
    values: tuple[int, ...]
    example: str


UNDOCUMENTED_SELECTORS: tuple[UndocumentedSelector, ...] = (
    UndocumentedSelector(
        "sparsity selector 2 or 3 of m16n8k32 on f16, into f32",
        "a pair of threads gives the metadata, selected by 0 or 1", "9.7.14.6.1",
        re.compile(r"mma\.sp(?:::ordered_metadata)?\.sync\.aligned\.m16n8k32\.row\.col"
                   r"\.f32\.f16\.f16\.f32"),
        "sparsity selector",
        (2, 3),
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        f"{_F4}, {_R4}, {_R4}, {_F4}, %r0, 2;",
    ),
)  # fmt: skip
