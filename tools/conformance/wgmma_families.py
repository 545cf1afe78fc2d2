"""`wgmma.mma_async`, dense and sparse, and what orders it: PTX ISA 9.7.15.5 to 9.7.15.7.

| family             | points  | spans                                                            |
|--------------------|---------|------------------------------------------------------------------|
| wgmma              | 228,096 | n x k x d x a x b; n is every multiple of 4 from 4 to 264        |
| wgmma-modifiers    | 41,472  | m x n x k x .satfinite before and after the types                |
|                    |         | x bit operation x d, a, b                                        |
| wgmma-operands     | 59,520  | where A is x n x k, d, a, b x scale-d x other immediates         |
| wgmma-registers    | 6,336   | where A is x n x k, d, a, b x length of the vectors              |
| wgmma.sp           | 228,096 | the first, sparse                                                |
| wgmma.sp-modifiers | 41,472  | the second, sparse                                               |
| wgmma.sp-operands  | 10,584  | where A is x n x k, d, a, b x selector x scale-d x immediates    |
| wgmma.sp-registers | 5,544   | the fourth, sparse                                               |
| wgmma-ordering     | 672     | fence, commit_group, wait_group, fence.proxy.async x qualifiers  |
|                    |         | x state space x operand                                          |

Where the operands do not decide, A is in shared memory and the immediates are those that its type
asks for.
"""

from collections.abc import Callable, Iterator
from itertools import product

from tilewright.tools.conformance.instruction_family import (
    Boxes,
    Documented,
    Family,
    Point,
    Value,
    axes,
    boxes,
    within,
)
from tilewright.tools.conformance.operand_text import element_bits

_DENSE, _SPARSE = "9.7.15.5.2", "9.7.15.6.3"
_ORDERING, _FENCE_PROXY = "9.7.15.7", "9.7.13.4"

_HALF_WORDS = ("f16", "bf16")
_WHOLE = ("s8", "u8", "s4", "u4", "b1")
_SCALES, _TRANSPOSES = ("1", "-1"), ("0", "1")
_PREDICATES = ("%p0", "0", "1")

# 9.7.15.2: the syntax of the integer form stops at n224, its table of shapes does not.
_EIGHTS = tuple(str(n) for n in range(8, 257, 8))
_SIXTEENS = ("8", "16", "24", "32", *(str(n) for n in range(48, 257, 16)))


# Operands. What an instruction reads is none of what it writes: ptxas would have to copy it, and
# has no registers left beside the accumulators of n256.

_A, _METADATA = 134, "%r140"


def _operands(sparse: bool) -> Callable[[Point], tuple[str, ...]]:
    """`d, a, b-desc{, sp-meta, sp-sel}, scale-d{, immediates}`."""

    def spelled(point: Point) -> tuple[str, ...]:
        d = int(point["n"]) // (4 if point["d"] in _HALF_WORDS else 2)
        operands = [_vector("%f" if point["d"] == "f32" else "%r", d, point.get("d_length"))]
        if point.get("where") == "registers":
            stored = int(point["k"]) // (2 if sparse else 1)
            count = stored * element_bits(point["a"]) // 64
            operands.append(_vector("%r", count, point.get("a_length"), _A))
        else:
            operands.append("%rd0")
        operands.append("%rd1")
        if sparse:
            operands += [_METADATA, point.get("selector", "0")]
        operands.append(point.get("scale_d", "%p0"))
        return (", ".join([*operands, *filter(None, [_immediates_of(point)])]),)

    return spelled


def _vector(prefix: str, count: int, change: str | None, first: int = 0) -> str:
    """A vector of registers, as long as it should be but for the change."""
    places = range(first, first + max(1, count + int(change or "0")))
    return "{" + ",".join(f"{prefix}{i}" for i in places) + "}"


def _immediates_of(point: Point) -> str:
    """The immediates after scale-d; those that the type of A asks for where no axis has them."""
    if "immediates" in point:
        return point["immediates"]
    if point["a"] in _WHOLE:
        return ""
    if point["a"] not in _HALF_WORDS:
        return "1, 1"
    return "1, 1, 0" if point.get("where") == "registers" else "1, 1, 0, 0"


# What the ISA lists.


def _boxes(section: str, times: int) -> Boxes:
    """`.satfinite` stands before the types in the syntax, and after them in the examples."""
    floats = boxes(section, f"""
        targets  k             d        a,b
        90a      {16 * times}  f16|f32  f16
        90a      {16 * times}  f32      bf16
        90a      {8 * times}   f32      tf32
        90a      {32 * times}  f16|f32  e4m3|e5m2
    """, m="64", n=_EIGHTS)  # fmt: skip
    integers = boxes(section, f"""
        targets  k             d    a,b    early         late
        90a      {32 * times}  s32  s8|u8  -|.satfinite  -
        90a      {32 * times}  s32  s8|u8  -             -|.satfinite
    """, m="64", n=_SIXTEENS)  # fmt: skip
    return *floats, *integers


_SINGLE_BITS = boxes(_DENSE, """
    targets  k    d    a,b  bit_op
    90a      256  s32  b1   .and.popc
""", m="64", n=_SIXTEENS)  # fmt: skip
_DENSE_BOXES, _SPARSE_BOXES = (*_boxes(_DENSE, 1), *_SINGLE_BITS), _boxes(_SPARSE, 2)


def _with_places(listed: Boxes) -> Iterator[Documented]:
    """The boxes with A in either place, and the operands that each asks for."""
    for box in listed:
        a = box.words["a"][0]
        for where, transposed in (("descriptor", 2), ("registers", 1)):
            scales = () if a in _WHOLE else (_SCALES, _SCALES)
            transposes = (_TRANSPOSES,) * transposed if a in _HALF_WORDS else ()
            added = {
                "where": (where,),
                "selector": ("0",) if element_bits(a) <= 8 else ("0", "1"),
                "scale_d": _PREDICATES,
                "immediates": _joined(*scales, *transposes),
            }
            yield Documented(box.section, box.targets, {**box.words, **added})


def _joined(*choices: tuple[str, ...]) -> tuple[str, ...]:
    """Every list of one of each, as operands: `1, -1`."""
    return tuple(", ".join(words) for words in product(*choices))


def _kept(own: dict[str, tuple[Value, ...]], listed: Boxes) -> Boxes:
    """The boxes of `_with_places` cut down to axes that may say nothing of their operands."""
    names = {name for axis in own for name in axis.split()}
    placed = [
        Documented(
            box.section,
            box.targets,
            {
                name: words
                for name, words in box.words.items()
                if name in names or name not in ("where", "selector", "scale_d", "immediates")
            },
        )
        for box in _with_places(listed)
    ]
    return within(own, placed)


# Axes.

_N = tuple(str(n) for n in range(4, 265, 4))
_MULTIPLICANDS = "f16 bf16 tf32 f32 s8 u8 s4 u4 b1 e4m3 e5m2 e2m1"
_PRODUCT = {
    **axes(m="64"),
    "n": _N,
    **axes(k="8 16 32 64 128 256", d="f16 bf16 f32 s32", a=_MULTIPLICANDS, b=_MULTIPLICANDS),
}
_MODIFIERS = axes(
    m="64 128 32",
    n="8 16 24 40 48 136 240 256",
    k="8 16 32 64 128 256",
    early="- .satfinite",
    late="- .satfinite",
    bit_op="- .and.popc .xor.popc .or.popc .and .popc",
    d__a__b="f16,f16,f16 f32,f16,f16 f16,bf16,bf16 f32,bf16,bf16 f32,tf32,tf32 f16,e4m3,e5m2 "
    "f32,e5m2,e5m2 f32,e2m1,e2m1 s32,s8,s8 s32,u8,s8 s32,s4,s4 s32,b1,b1",
)
_FORMS = axes(
    k__d__a__b__bit_op="16,f16,f16,f16,- 16,f32,f16,f16,- 16,f32,bf16,bf16,- 8,f32,tf32,tf32,- "
    "32,f16,e4m3,e5m2,- 32,f32,e5m2,e5m2,- 32,s32,s8,u8,- 256,s32,b1,b1,.and.popc"
)["k d a b bit_op"]
_SPARSE_FORMS = tuple((str(2 * int(k)), *types) for k, *types in _FORMS if k != "256")

_IMMEDIATES = (
    "",
    *(words for n in range(1, 3) for words in _joined(*[(*_SCALES, "0")] * n)),
    *(
        ", ".join(words)
        for n in range(1, 3)
        for words in product(_joined(*[(*_SCALES, "0")] * 2), _joined(*[(*_TRANSPOSES, "2")] * n))
    ),
    *("1, 1, 0, 0, 0", "%r0, 1", "1, 1, %r0, 0"),
)
_FEW_IMMEDIATES = (
    *("", "1, 1", "1, -1", "1, 0", "1, 1, 0", "-1, 1, 1", "1, 1, 2"),
    *("1, 1, 0, 1", "1, 1, 1, 0", "-1, -1, 1, 1", "1, 1, 0, 2", "1, 1, 0, 0, 0"),
)
_OPERANDS: dict[str, tuple[Value, ...]] = {
    **axes(m="64", where="descriptor registers", n="8 24 40 128 256"),
    "k d a b bit_op": _FORMS,
    "scale_d": (*_PREDICATES, "!%p0", "2", "-1"),
    "immediates": _IMMEDIATES,
}
_SPARSE_OPERANDS: dict[str, tuple[Value, ...]] = {
    **_OPERANDS,
    **axes(n="8 40 256", selector="-1 0 1 2 3 4 %r0", scale_d="%p0 1 2"),
    "k d a b bit_op": _SPARSE_FORMS,
    "immediates": _FEW_IMMEDIATES,
}
_REGISTERS: dict[str, tuple[Value, ...]] = {
    "m": ("64",),
    "n": _N,
    "k d a b bit_op": _FORMS,
    "d_length": ("", "-1", "+1"),
    "where a_length": (("descriptor", ""), ("registers", ""), ("registers", "-1"),
                       ("registers", "+1")),
}  # fmt: skip
_SPARSE_REGISTERS = {**_REGISTERS, "k d a b bit_op": _SPARSE_FORMS}

_ORDERED = axes(
    op="wgmma.fence wgmma.commit_group wgmma.wait_group fence.proxy.async",
    sync="- .sync",
    aligned="- .aligned",
    space="- .global .shared::cta .shared::cluster .shared .local",
    operand="- 0 1 7 -1 %r0 1.0",
)

_TYPED = ".sync.aligned.m{m}n{n}k{k}.{d}.{a}.{b}"
_WITH_BIT_OP = _TYPED + "{bit_op}"
_MODIFIED = ".sync.aligned.m{m}n{n}k{k}{early}.{d}.{a}.{b}{late}{bit_op}"


def _families(name: str, mnemonic: str, sparse: bool) -> Iterator[Family]:
    """The four families of dense or sparse wgmmas."""
    listed, spelled = _SPARSE_BOXES if sparse else _DENSE_BOXES, _operands(sparse)
    operands = _SPARSE_OPERANDS if sparse else _OPERANDS
    lengths = _SPARSE_REGISTERS if sparse else _REGISTERS
    yield Family(name, _PRODUCT, mnemonic + _TYPED, spelled, within(_PRODUCT, listed))
    yield Family(
        f"{name}-modifiers", _MODIFIERS, mnemonic + _MODIFIED, spelled, within(_MODIFIERS, listed)
    )
    for suffix, own in (("operands", operands), ("registers", lengths)):
        kept = _kept(own, listed)
        yield Family(
            f"{name}-{suffix}", own, mnemonic + _WITH_BIT_OP, spelled, kept, with_operands=True
        )


def _ordering(point: Point) -> tuple[str, ...]:
    return (point["operand"],)


WGMMA_FAMILIES = (
    *_families("wgmma", "wgmma.mma_async", sparse=False),
    *_families("wgmma.sp", "wgmma.mma_async.sp", sparse=True),
    Family(
        "wgmma-ordering",
        _ORDERED,
        "{op}{sync}{aligned}{space}",
        _ordering,
        (
            *boxes(_ORDERING, """
                targets  op                              operand  sync   aligned
                90a      wgmma.fence|wgmma.commit_group  -        .sync  .aligned
                90a      wgmma.wait_group                0|1|7    .sync  .aligned
            """),
            *boxes(_FENCE_PROXY, """
                targets  op                 space
                90+      fence.proxy.async  -|.global|.shared::cta|.shared::cluster
            """),
        ),
        with_operands=True,
    ),
)  # fmt: skip
