"""The legal operands, results and properties of Triton's ops, each with the words that say so."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    IntegerType,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute

from tilewright.dialects.accepts import Accepts, InstanceOf, choice_of, instance_of
from tilewright.dialects.triton.types import (
    CachePolicyAttr,
    PointerType,
    TensorDescType,
    element_of,
)

_SMALL = (Float8E4M3FNType(), Float8E4M3FNUZType(), Float8E5M2Type(), Float8E5M2FNUZType())
FLOATS = frozenset((*_SMALL, f16, bf16, f32, f64))
INTEGERS = frozenset(map(IntegerType, (1, 4, 8, 16, 32, 64)))

_Element = Callable[[Attribute], bool]


def _like(what: str, takes: _Element) -> Accepts:
    """A value or a tensor of them."""
    return Accepts(f"{what} or a tensor of it", lambda type_: takes(element_of(type_)))


def _tensor(what: str, takes: _Element) -> Accepts:
    return Accepts(
        f"a tensor of {what}",
        lambda type_: isinstance(type_, TensorType) and takes(type_.element_type),  # pyright: ignore
    )


def _is_pointer(type_: Attribute) -> bool:
    return isinstance(type_, PointerType)


def _is_value(type_: Attribute) -> bool:
    return type_ in FLOATS or type_ in INTEGERS or _is_pointer(type_)


def _is_block_pointer(type_: Attribute) -> bool:
    return isinstance(type_, PointerType) and TENSOR.takes(type_.pointee_type)


def _only(words: str, type_: Attribute) -> Accepts:
    return Accepts(words, lambda given: given == type_, type_)


TYPE = _like("a number or a pointer", _is_value)
FLOAT = _like("a floating-point number", FLOATS.__contains__)
INTEGER = _like("an integer", INTEGERS.__contains__)
BOOL = _like("an i1", lambda type_: type_ == i1)
LONG = _like("an i64", lambda type_: type_ == i64)
POINTER = _like("a pointer", _is_pointer)
TENSOR = _tensor("numbers or pointers", _is_value)
FLOAT_TENSOR = _tensor("floating-point numbers", FLOATS.__contains__)
INTEGER_TENSOR = _tensor("integers", INTEGERS.__contains__)
NUMBER_TENSOR = _tensor("numbers", lambda type_: type_ in FLOATS or type_ in INTEGERS)
SCALED_TENSOR = _tensor(
    "floating-point numbers or i8", lambda type_: type_ in FLOATS or type_ == IntegerType(8)
)
I32_TENSOR = _tensor("i32", lambda type_: type_ == i32)
ONE_POINTER = instance_of("a pointer", PointerType)
BLOCK_POINTER = InstanceOf("a pointer to a tensor", _is_block_pointer, types=(PointerType,))
DESCRIPTOR = instance_of("a tensor descriptor", TensorDescType)
I32 = _only("an i32", i32)
I64 = _only("an i64", i64)

# --- properties ---


def _numbered(words: Sequence[str], first: int = 1) -> Accepts:
    return choice_of({word: number for number, word in enumerate(words, first)})


CACHE = _numbered(("none", "ca", "cg", "wb", "cs", "wt", "cv"))
EVICTION = _numbered(("evict_normal", "evict_first", "evict_last"))
CACHE_POLICY = instance_of("a tt.cache_policy", CachePolicyAttr)
PADDING = _numbered(("zero", "nan"))
SEMANTICS = _numbered(("relaxed", "acquire", "release", "acq_rel"))
SCOPE = _numbered(("gpu", "cta", "sys"))
ATOMIC = _numbered(("and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch"))
REDUCTION = _numbered(("add", "min", "max", "inc", "dec", "and", "or", "xor"))
AXIS = _numbered(("x", "y", "z"), 0)
ROUNDING = _numbered(("rtz", "rtne"), 0)
BARRIER = choice_of(
    {
        "local": 1,
        "global_read": 2,
        "global_write": 4,
        "tensor_read": 8,
        "tensor_write": 16,
        "all": 31,
    }
)
PROPAGATE_NAN = choice_of({"none": 0, "all": 0xFFFF})
PRECISION = _numbered(("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"), 0)
SCALED_ELEMENT = _numbered(("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"), 0)
