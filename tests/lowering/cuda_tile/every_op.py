"""A kernel for every op of Tile IR and every type of elements that it takes.

Each loads what it needs and stores one tile, so that a wrong result shows. `ERRORS` are the ulps
that approximations may differ by from the mathematical value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "interpreter" / "cuda_tile"))

from tile_ir import elementwise, row

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, types_of
from tilewright.dialects.cuda_tile.ops.conversions import ftof_roundings

SIZE = 256
DTYPES: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "tf32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "fnv8E5M3FNU": np.uint8,
}  # fmt: skip
INTEGERS = ("i1", "i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
NARROW = ("tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU")
DIRECTED = ("zero", "negative_inf", "positive_inf")
RNG = np.random.default_rng(7)


@dataclass(frozen=True)
class Case:
    """A kernel: the op that it is for, its text, and the elements of its parameters. `ulps` is what
    it may be off by; None where the order of its sums is open; `since` the first
    target that runs it."""

    op: str
    name: str
    parameters: str
    body: str
    elements: tuple[tuple[str, int], ...]
    ulps: int | None = 0
    globals_: str = ""
    since: int = 0

    def arguments(self) -> list[NDArray[Any]]:
        """Arrays, the last one of which is stored to."""
        *given, (result, size) = self.elements
        ordinary = self.ulps is None
        arrays = [values(element, count, ordinary=ordinary) for element, count in given]
        return [*arrays, np.zeros(size, DTYPES[result])]


def values(element: str, count: int, *, ordinary: bool = False) -> NDArray[Any]:
    """Elements of every kind; floats of which a quarter is any bits, or none."""
    dtype = np.dtype(DTYPES[element])
    if dtype == np.bool_:
        return RNG.integers(0, 2, count).astype(np.bool_)
    words = RNG.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype)
    if element in (*FLOATS, "tf32"):
        usual = (RNG.standard_normal(count) * 4).astype(dtype)
        words = np.where((np.arange(count) % 4 == 3) & (not ordinary), words, usual)
    elif ordinary and element.startswith("f8"):
        words = (RNG.standard_normal(count) * 4).astype(dtype)
    if element == "tf32":
        words = (words.view(np.uint32) & 0xFFFFE000).view(np.float32)
    return words


def pointwise(
    op: str, name: str, ops: str, elements: tuple[str, ...], result: str, ulps: int | None = 0
) -> Case:
    """A kernel of tiles %x0, %x1, ... whose result is %r."""
    parameters, body = elementwise(ops, elements, result, SIZE)
    sizes = tuple((element, SIZE) for element in (*elements, result))
    return Case(op, name, parameters, body, sizes, ulps)


def conversions() -> Iterator[Case]:
    bits = {element: ELEMENT_OF[types_of(element)[0]].bits for element in (*DTYPES, "i4")}
    tile = f"tile<{SIZE}x"
    for source in INTEGERS:
        for to in INTEGERS:
            if bits[to] > bits[source]:
                for sign in ("signed", "unsigned"):
                    line = f"    %r = exti %x0 {sign} : {tile}{source}> -> {tile}{to}>\n"
                    yield pointwise("exti", f"exti {source} {to} {sign}", line, (source,), to)
            if bits[to] < bits[source]:
                line = f"    %r = trunci %x0 : {tile}{source}> -> {tile}{to}>\n"
                yield pointwise("trunci", f"trunci {source} {to}", line, (source,), to)
        for to in (*FLOATS, "tf32", "f8E4M3FN", "f8E5M2"):
            for sign in ("signed", "unsigned"):
                line = f"    %r = itof %x0 {sign} : {tile}{source}> -> {tile}{to}>\n"
                yield pointwise("itof", f"itof {source} {to} {sign}", line, (source,), to)
    for source in (*FLOATS, *NARROW):
        for to in INTEGERS:
            for sign in ("signed", "unsigned"):
                line = f"    %r = ftoi %x0 {sign} : {tile}{source}> -> {tile}{to}>\n"
                yield pointwise("ftoi", f"ftoi {source} {to} {sign}", line, (source,), to)
        for to in (*FLOATS, *NARROW):
            if source == to or to == "fnv8E5M3FNU":
                continue
            for mode in ftof_roundings(*(ELEMENT_OF[types_of(one)[0]] for one in (source, to))):
                word = f" rounding<{mode.value}>"
                line = f"    %r = ftof %x0{word} : {tile}{source}> -> {tile}{to}>\n"
                yield pointwise("ftof", f"ftof {source} {to}{word}", line, (source,), to)
    for source, to in (("i8", "f8E4M3FN"), ("f16", "bf16"), ("i32", "f32"), ("f64", "i64")):
        line = f"    %r = bitcast %x0 : {tile}{source}> -> {tile}{to}>\n"
        yield pointwise("bitcast", f"bitcast {source} {to}", line, (source,), to)
    for half in ("i4", "f4E2M1FN"):
        back = "exti %h signed" if half == "i4" else "ftof %h"
        result = "i16" if half == "i4" else "f16"
        line = (
            f"    %h = unpack %x0 : {tile}i8> -> tile<{2 * SIZE}x{half}>\n"
            f"    %p = pack %h : tile<{2 * SIZE}x{half}> -> {tile}i8>\n"
            f"    %u = unpack %p : {tile}i8> -> tile<{2 * SIZE}x{half}>\n"
            f"    %w = {back.replace('%h', '%u')} : tile<{2 * SIZE}x{half}> "
            f"-> tile<{2 * SIZE}x{result}>\n"
            f"    %r = pack %w : tile<{2 * SIZE}x{result}> -> tile<{4 * SIZE}xi8>\n"
        )
        for op in ("pack", "unpack"):
            body = loaded("x0", "p0", "i8", (SIZE,)) + line + stored("r", "p1", "i8", (4 * SIZE,))
            yield kernel(op, f"{op} {half}", body, (("i8", SIZE), ("i8", 4 * SIZE)))


def loaded(name: str, pointer: str, element: str, shape: tuple[int, ...]) -> str:
    """IR for %name: a tile from %pointer on."""
    size = int(np.prod(shape))
    flat, dims = f"tile<{size}x{element}>", "x".join(map(str, shape))
    return row(f"{name}_p", pointer, element, size) + (
        f"    %{name}_l, %{name}_t = load_ptr_tko weak %{name}_p : tile<{size}xptr<{element}>> "
        f"-> {flat}, token\n    %{name} = reshape %{name}_l : {flat} -> tile<{dims}x{element}>\n"
    )


def stored(name: str, pointer: str, element: str, shape: tuple[int, ...]) -> str:
    """IR that stores %name from %pointer on."""
    size, dims = int(np.prod(shape)), "".join(f"{extent}x" for extent in shape)
    flat = f"tile<{size}x{element}>"
    return row("out", pointer, element, size) + (
        f"    %out_f = reshape %{name} : tile<{dims}{element}> -> {flat}\n"
        f"    %out_t = store_ptr_tko weak %out, %out_f : tile<{size}xptr<{element}>>, {flat} "
        "-> token\n"
    )


def kernel(
    op: str, name: str, body: str, elements: tuple[tuple[str, int], ...], ulps: int | None = 0,
    globals_: str = "",
) -> Case:  # fmt: skip
    """A kernel of pointers %p0, %p1, ..."""
    parameters = ", ".join(f"%p{i}: tile<ptr<{one}>>" for i, (one, _) in enumerate(elements))
    return Case(op, name, parameters, body, elements, ulps, globals_)


def shapes() -> Iterator[Case]:
    for element in (*INTEGERS, *FLOATS, *NARROW):
        tile, size = f"4x8x16x{element}", 512
        source, both = loaded("x", "p0", element, (4, 8, 16)), ((element, size),) * 2

        def case(
            op: str, line: str, shape: tuple[int, ...], element: str = element, source: str = source
        ) -> Case:
            body = source + line + stored("r", "p1", element, shape)
            size = int(np.prod(shape))
            return kernel(op, f"{op} {element}", body, ((element, 512), (element, size)))

        yield case("permute", f"    %r = permute %x [2, 0, 1] : tile<{tile}> -> "
                   f"tile<16x4x8x{element}>\n", (16, 4, 8))  # fmt: skip
        yield case(
            "reshape", f"    %r = reshape %x : tile<{tile}> -> tile<64x8x{element}>\n", (64, 8)
        )
        yield case("cat", f"    %r = cat %x, %x dim = 1 : tile<{tile}>, tile<{tile}> -> "
                   f"tile<4x16x16x{element}>\n", (4, 16, 16))  # fmt: skip
        indices = "".join(f"    %i{n} = constant <i32: {n}> : tile<i32>\n" for n in (0, 1))
        yield case("extract", indices + f"    %r = extract %x[%i1, %i0, %i1] : tile<{tile}> -> "
                   f"tile<2x8x4x{element}>\n", (2, 8, 4))  # fmt: skip
        part = f"    %e = extract %x[%i1, %i0, %i1] : tile<{tile}> -> tile<2x8x4x{element}>\n"
        yield case("insert", indices + part + f"    %r = insert %e, %x[%i0, %i0, %i1] : "
                   f"tile<2x8x4x{element}>, tile<{tile}>\n", (4, 8, 16))  # fmt: skip
        body = (
            loaded("x", "p0", element, (8, 1))
            + (f"    %r = broadcast %x : tile<8x1x{element}> -> tile<8x64x{element}>\n")
            + stored("r", "p1", element, (8, 64))
        )
        yield kernel("broadcast", f"broadcast {element}", body, ((element, 8), both[1]))
        line = f"    %r = select %x2, %x0, %x1 : tile<{SIZE}xi1>, tile<{SIZE}x{element}>\n"
        yield pointwise("select", f"select {element}", line, (element, element, "i1"), element)
        number = {"i1": "true", "f8E8M0FNU": "2.0", "fnv8E5M3FNU": "0x40"}.get(
            element, "3" if element in INTEGERS else "1.5"
        )
        line = f"    %r = constant <{element}: {number}> : tile<{SIZE}x{element}>\n"
        body = line + stored("r", "p0", element, (SIZE,))
        yield kernel("constant", f"constant {element}", body, ((element, SIZE),))
    for count in (8, 1024, 8192):
        numbers = ", ".join(str(n * n % 1000 - 30) for n in range(count))
        body = f"    %r = constant <i16: [{numbers}]> : tile<{count}xi16>\n"
        body += stored("r", "p0", "i16", (count,))
        yield kernel("constant", f"constant of {count}", body, (("i16", count),))
    line = f"[{', '.join(['0.5', '-6.0', '3.0', '0.0'] * 32)}]"
    half = (
        f"    %h = constant <f4E2M1FN: [{', '.join([line] * 64)}]> : "
        "tile<64x128xf4E2M1FN>\n    %r = ftof %h : tile<64x128xf4E2M1FN> -> tile<64x128xf16>\n"
    )
    body = half + stored("r", "p0", "f16", (64, 128))
    yield kernel("constant", "constant of 8192 f4E2M1FN", body, (("f16", 8192),))
    for element in INTEGERS[1:]:
        size = 128
        body = f"    %r = iota : tile<{size}x{element}>\n" + stored("r", "p0", element, (size,))
        yield kernel("iota", f"iota {element}", body, ((element, size),))


def _fold(op: str, element: str, combine: str, identity: str, more: str, shape: str) -> str:
    return (
        f"    %r = {op} %x dim = 1{more} identities = [{identity} : {element}] : "
        f"tile<8x32x{element}> -> tile<{shape}x{element}>\n"
        f"        (%e : tile<{element}>, %a : tile<{element}>) {{\n"
        f"      %c = {combine} : tile<{element}>\n      yield %c : tile<{element}>\n    }}\n"
    )


def folds() -> Iterator[Case]:
    for element in (*INTEGERS[1:], *FLOATS):
        floats = element in FLOATS
        combines = [("addf %e, %a" if floats else "addi %e, %a", None if floats else 0)]
        combines += [("maxf %e, %a" if floats else "maxi %e, %a signed", 0)]
        for combine, ulps in combines:
            name = f"{combine.split()[0]} {element}"
            identity = "0.0" if floats else "0"
            source = loaded("x", "p0", element, (8, 32))
            body = source + _fold("reduce", element, combine, identity, "", "8")
            body += stored("r", "p1", element, (8,))
            yield kernel("reduce", f"reduce {name}", body, ((element, 256), (element, 8)), ulps)
            for way in ("false", "true"):
                more = f" reverse = {way}"
                body = source + _fold("scan", element, combine, identity, more, "8x32")
                body += stored("r", "p1", element, (8, 32))
                sizes = ((element, 256),) * 2
                yield kernel("scan", f"scan {name} {way}", body, sizes, ulps)


def products() -> Iterator[Case]:
    pairs = [("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"), ("f32", "f32")]
    pairs += [("f64", "f64")]
    pairs += [(octet, acc) for octet in ("f8E4M3FN", "f8E5M2") for acc in ("f16", "f32")]
    for (element, acc), (m, n, k) in (
        (pair, shape) for pair in pairs for shape in ((32, 16, 64), (1, 64, 2))
    ):
        body = _operands(element, acc, m, n, k) + (
            f"    %r = mmaf %a, %b, %c : tile<{m}x{k}x{element}>, tile<{k}x{n}x{element}>, "
            f"tile<{m}x{n}x{acc}>\n"
        ) + stored("r", "p3", acc, (m, n))  # fmt: skip
        sizes = ((element, m * k), (element, k * n), (acc, m * n), (acc, m * n))
        yield kernel("mmaf", f"mmaf {element} {acc} {m}x{n}x{k}", body, sizes, None)
    for m, n, k in ((16, 16, 64), (1, 64, 2)):
        body = _operands("i8", "i32", m, n, k) + (
            f"    %r = mmai %a, %b, %c signed unsigned : tile<{m}x{k}xi8>, tile<{k}x{n}xi8>, "
            f"tile<{m}x{n}xi32>\n"
        ) + stored("r", "p3", "i32", (m, n))  # fmt: skip
        sizes = (("i8", m * k), ("i8", k * n), ("i32", m * n), ("i32", m * n))
        yield kernel("mmai", f"mmai {m}x{n}x{k}", body, sizes)
    for element, scale, block in (
        ("f8E4M3FN", "f8E8M0FNU", 32), ("f8E5M2", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E8M0FNU", 16),
        ("f4E2M1FN", "f8E4M3FN", 16), ("f4E2M1FN", "fnv8E5M3FNU", 16),
    ):  # fmt: skip
        for m, n, k in ((64, 16, 64), (32, 16, 64), (8, 8, 32)):
            yield scaled(element, scale, block, m, n, k)


def _operands(element: str, acc: str, m: int, n: int, k: int) -> str:
    return (
        loaded("a", "p0", element, (m, k)) + loaded("b", "p1", element, (k, n))
        + loaded("c", "p2", acc, (m, n))
    )  # fmt: skip


def scaled(element: str, scale: str, block: int, m: int, n: int, k: int) -> Case:
    half = element == "f4E2M1FN"
    stored_as = "f8E4M3FN" if half else element
    body, names = _operands(stored_as, "f32", m, n, k), ["a", "b"]
    for i, (name, (rows, columns)) in enumerate(zip("ab", ((m, k), (k, n)), strict=True)):
        if half:
            names[i] = f"{name}4"
            dims = f"{rows}x{columns}x"
            body += f"    %{name}4 = ftof %{name} : tile<{dims}f8E4M3FN> -> tile<{dims}{element}>\n"
    blocks = k // block
    # Factors as integers: 120 to 135, of which none is NaN.
    for name, pointer, shape in (("x", "p3", (m, blocks)), ("y", "p4", (blocks, n))):
        dims = "x".join(map(str, shape))
        body += loaded(f"{name}i", pointer, "i8", shape)
        body += (
            f"    %{name}m = constant <i8: 15> : tile<{dims}xi8>\n"
            f"    %{name}o = constant <i8: 48> : tile<{dims}xi8>\n"
            f"    %{name}n = andi %{name}i, %{name}m : tile<{dims}xi8>\n"
            f"    %{name}w = addi %{name}n, %{name}o : tile<{dims}xi8>\n"
            f"    %{name} = bitcast %{name}w : tile<{dims}xi8> -> tile<{dims}x{scale}>\n"
        )
    body += (
        f"    %r = mmaf_scaled %{names[0]}, %{names[1]}, %c, %x, %y : tile<{m}x{k}x{element}>, "
        f"tile<{k}x{n}x{element}>, tile<{m}x{n}xf32>, tile<{m}x{blocks}x{scale}>, "
        f"tile<{blocks}x{n}x{scale}>\n"
    ) + stored("r", "p5", "f32", (m, n))  # fmt: skip
    sizes = ((stored_as, m * k), (stored_as, k * n), ("f32", m * n), ("i8", m * blocks),
             ("i8", blocks * n), ("f32", m * n))  # fmt: skip
    name = f"mmaf_scaled {element} {scale} {m}x{n}x{k}"
    return kernel("mmaf_scaled", name, body, sizes, None)


_RMW = {
    "addf": ("f16", "bf16", "f32", "f64"), "xchg": ("i32", "i64", "f32", "f64"),
    **dict.fromkeys(("add", "and", "or", "xor", "max", "min", "umax", "umin"), ("i32", "i64")),
}  # fmt: skip


def memory() -> Iterator[Case]:
    for element in (*INTEGERS, *FLOATS, *NARROW):
        tile, pointers = f"tile<{SIZE}x{element}>", f"tile<{SIZE}xptr<{element}>>"
        for order in ("weak", "relaxed device", "acquire sys"):
            line = row("a", "p0", element, SIZE) + (
                f"    %r, %t = load_ptr_tko {order} %a : {pointers} -> {tile}, token\n"
            )
            body = line + stored("r", "p1", element, (SIZE,))
            yield kernel(
                "load_ptr_tko", f"load_ptr {order} {element}", body, ((element, SIZE),) * 2
            )
        for order in ("weak", "relaxed device", "release sys"):
            body = loaded("x", "p0", element, (SIZE,)) + row("o", "p1", element, SIZE) + (
                f"    %t = store_ptr_tko {order} %o, %x : {pointers}, {tile} -> token\n"
            )  # fmt: skip
            name = f"store_ptr {order} {element}"
            yield kernel("store_ptr_tko", name, body, ((element, SIZE),) * 2)
    for mode, elements in _RMW.items():
        for element in elements:
            pointers = f"tile<{SIZE}xptr<{element}>>"
            body = loaded("x", "p0", element, (SIZE,)) + row("o", "p1", element, SIZE) + (
                f"    %v, %t = atomic_rmw_tko relaxed device %o, {mode}, %x : {pointers}, "
                f"tile<{SIZE}x{element}> -> tile<{SIZE}x{element}>, token\n"
            )  # fmt: skip
            name = f"atomic_rmw {mode} {element}"
            yield kernel("atomic_rmw_tko", name, body, ((element, SIZE),) * 2)
    for element in ("i32", "i64", "f32", "f64"):
        body = loaded("x", "p0", element, (SIZE,)) + row("o", "p1", element, SIZE) + (
            f"    %z = constant <{element}: {'0.0' if element[0] == 'f' else '0'}> : "
            f"tile<{SIZE}x{element}>\n"
            f"    %v, %t = atomic_cas_tko relaxed device %o, %z, %x : tile<{SIZE}xptr<{element}>>, "
            f"tile<{SIZE}x{element}> -> tile<{SIZE}x{element}>, token\n"
        )  # fmt: skip
        yield kernel("atomic_cas_tko", f"atomic_cas {element}", body, ((element, SIZE),) * 2)
    tokens = (
        "    %k0 = make_token : token\n    %k1 = join_tokens %k0, %x_t : token\n"
        "    %k2 = memory_fence_alias_tko %k1\n    %k3 = gdc_wait_tko token = %k2 -> token\n"
        "    %k4 = gdc_launch_dependents_tko token = %k3 -> token\n"
    )
    for op in ("make_token", "join_tokens", "memory_fence_alias_tko", "gdc_wait_tko",
               "gdc_launch_dependents_tko"):  # fmt: skip
        body = loaded("x", "p0", "i32", (SIZE,)) + tokens + stored("x", "p1", "i32", (SIZE,))
        yield kernel(op, op, body, (("i32", SIZE),) * 2)
    for op in ("int_to_ptr", "ptr_to_int", "ptr_to_ptr"):
        line = (
            "    %n = ptr_to_int %p0 : tile<ptr<f32>> -> tile<i64>\n"
            "    %m = int_to_ptr %n : tile<i64> -> tile<ptr<f32>>\n"
            "    %q = ptr_to_ptr %m : tile<ptr<f32>> -> tile<ptr<i32>>\n"
        )
        body = line + loaded("x", "q", "i32", (SIZE,)) + stored("x", "p1", "i32", (SIZE,))
        yield kernel(op, op, body, (("f32", SIZE), ("i32", SIZE)))


def own_memory() -> Iterator[Case]:
    """Memory of the module's and of the block's own: written, then read as the token says."""
    size = 32
    for element in ("i8", "f16", "f32", "i64"):
        floats, tile = element[0] == "f", f"tile<{size}x{element}>"
        pointers = f"tile<{size}xptr<{element}>>"
        numbers = ", ".join(f"{n}.5" if floats else f"{n}" for n in range(size))
        changed = f"    %y = {'addf' if floats else 'addi'} %x, %x : {tile}\n"
        changed += row("o", "g", element, size) + (
            f"    %t = store_ptr_tko weak %o, %y token = %x_t : {pointers}, {tile} -> token\n"
            f"    %r, %u = load_ptr_tko weak %o token = %t : {pointers} -> {tile}, token\n"
        )
        body = f"    %g = get_global @g : tile<ptr<{element}>>\n"
        body += loaded("x", "g", element, (size,)) + changed + stored("r", "p0", element, (size,))
        global_ = f"global @g alignment = 64 <{element}: [{numbers}]> : {tile}\n"
        for op in ("global", "get_global"):
            yield kernel(op, f"{op} {element}", body, ((element, size),), globals_=global_)
        for word in ("", " global"):
            body = "".join(
                f"    %{name} = alloca num_elem = {size}, alignment = {align}{word} : "
                f"tile<ptr<{element}>>\n"
                for name, align in (("f", 8), ("g", 256))
            )
            body += loaded("x", "p0", element, (size,)) + changed
            body += stored("r", "p1", element, (size,))
            yield kernel("alloca", f"alloca{word} {element}", body, ((element, size),) * 2)


def views() -> Iterator[Case]:
    for element in (*INTEGERS, *FLOATS, *NARROW):
        tensor = f"tensor_view<24x32x{element}, strides=[32,1]>"
        extents = "shape = [24, 32], strides = [32, 1]"
        head = "".join(
            f"    %v{i} = make_tensor_view %p{i}, {extents} : {tensor}\n" for i in (0, 1)
        )
        for name, number in (("zero", 0), ("one", 1)):
            head += f"    %{name} = constant <i32: {number}> : tile<i32>\n"
        sizes = ((element, 24 * 32),) * 2
        kinds = {
            "make_partition_view": f"partition_view<tile=(16x16), padding_value = zero, {tensor}>",
            "make_strided_view": f"strided_view<tile=(16x16), traversal_strides=[8,16], "
            f"padding_value = zero, {tensor}>",
        }
        for op, type_ in kinds.items():
            body = head + "".join(f"    %w{i} = {op} %v{i} : {type_}\n" for i in (0, 1)) + (
                f"    %x, %t = load_view_tko weak %w0[%one, %one] : {type_}, tile<i32> "
                f"-> tile<16x16x{element}>, token\n"
                f"    %u = store_view_tko weak %x, %w1[%zero, %one] : tile<16x16x{element}>, "
                f"{type_}, tile<i32> -> token\n"
            )  # fmt: skip
            for name in (op, "make_tensor_view", "load_view_tko", "store_view_tko"):
                yield kernel(name, f"{op} {name} {element}", body, sizes)
        type_ = f"gather_scatter_view<tile=(8x16), padding_value = zero, {tensor}, sparse_dim=0>"
        body = head + loaded("i", "p2", "i32", (8,)) + (
            "    %m = constant <i32: 15> : tile<8xi32>\n    %j = andi %i, %m : tile<8xi32>\n"
        ) + "".join(f"    %w{i} = make_gather_scatter_view %v{i} : {type_}\n" for i in (0, 1)) + (
            f"    %x, %t = load_view_tko weak %w0[%j, %one] : {type_}, tile<8xi32>, tile<i32> "
            f"-> tile<8x16x{element}>, token\n"
        ) + stored("x", "p3", element, (8, 16))  # fmt: skip
        given = (*sizes, ("i32", 8), (element, 128))
        yield kernel("make_gather_scatter_view", f"gather {element}", body, given)
    for mode, elements in _RMW.items():
        for element in elements if mode != "xchg" else ():
            tensor = f"tensor_view<{SIZE}x{element}, strides=[1]>"
            type_ = f"partition_view<tile=({SIZE}), {tensor}>"
            body = loaded("x", "p0", element, (SIZE,)) + (
                f"    %v = make_tensor_view %p1, shape = [{SIZE}], strides = [1] : {tensor}\n"
                f"    %w = make_partition_view %v : {type_}\n"
                "    %zero = constant <i32: 0> : tile<i32>\n"
                f"    %t = atomic_red_view_tko relaxed device %w[%zero], {mode}, %x : "
                f"tile<{SIZE}x{element}>, {type_}, tile<i32> -> token\n"
            )  # fmt: skip
            name = f"atomic_red_view {mode} {element}"
            yield kernel("atomic_red_view_tko", name, body, ((element, SIZE),) * 2)
    tensor = "tensor_view<24x32xi32, strides=[32,1]>"
    type_ = f"partition_view<tile=(16x16), {tensor}>"
    body = (
        f"    %v = make_tensor_view %p0, shape = [24, 32], strides = [32, 1] : {tensor}\n"
        f"    %w = make_partition_view %v : {type_}\n"
        f"    %a, %b = get_tensor_shape %v : {tensor} -> tile<i32>\n"
        f"    %c, %d = get_index_space_shape %w : {type_} -> tile<i32>\n"
        "    %x, %y, %z = get_tile_block_id : tile<i32>\n"
        "    %l, %m, %n = get_num_tile_blocks : tile<i32>\n"
        "    %s = muli %a, %d : tile<i32>\n    %q = addi %s, %c : tile<i32>\n"
        "    %k = addi %q, %l : tile<i32>\n    %g = addi %k, %x : tile<i32>\n"
        "    %r = assume div_by<2>, %g : tile<i32>\n"
        "    %t = store_ptr_tko weak %p1, %r : tile<ptr<i32>>, tile<i32> -> token\n"
    )
    for op in ("get_tensor_shape", "get_index_space_shape", "get_tile_block_id",
               "get_num_tile_blocks", "assume"):  # fmt: skip
        yield kernel(op, op, body, (("i32", 24 * 32), ("i32", 1)))


def packed_views() -> Iterator[Case]:
    """Views of elements that lie two in a byte: along rows, along columns, of strides that the
    kernel is given."""
    for order, strides, given, padding in (
        ("rows", "32,1", "[32, 1]", "zero"),
        ("columns", "1,24", "[1, 24]", "neg_zero"),
        ("given", "?,1", "[%s, 1]", "neg_zero"),
    ):
        tensor = f"tensor_view<24x32xf4E2M1FN, strides=[{strides}]>"
        type_ = f"partition_view<tile=(16x16), padding_value = {padding}, {tensor}>"
        outside = f"partition_view<tile=(16x16), padding_value = neg_inf, {tensor}>"
        body = "".join(
            f"    %{name} = constant <i32: {number}> : tile<i32>\n"
            for name, number in (("s", 32), ("zero", 0), ("one", 1), ("o0", -1), ("o1", 9))
        )
        for i in (0, 1):
            body += (
                f"    %r{i} = ptr_to_ptr %p{i} : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>\n"
                f"    %q{i} = offset %r{i}, %o{i} : tile<ptr<f4E2M1FN>>, tile<i32> -> "
                "tile<ptr<f4E2M1FN>>\n"
                f"    %v{i} = make_tensor_view %q{i}, shape = [24, 32], strides = {given} : "
                f"{'tile<i32> -> ' if order == 'given' else ''}{tensor}\n"
                f"    %w{i} = make_partition_view %v{i} : {(type_, outside)[i]}\n"
            )
        body += (
            f"    %x, %t = load_view_tko weak %w0[%one, %one] : {type_}, tile<i32> "
            "-> tile<16x16xf4E2M1FN>, token\n"
            "    %u = store_view_tko weak %x, %w1[%zero, %one] : tile<16x16xf4E2M1FN>, "
            f"{outside}, tile<i32> -> token\n"
        )
        for op in ("load_view_tko", "store_view_tko"):
            yield kernel(op, f"{op} f4E2M1FN {order}", body, (("i8", 24 * 16),) * 2)


def multicast() -> Iterator[Case]:
    """Objects that several GPUs hold a copy of; here one, whose reduction is itself."""
    kinds = ("add", "min", "max", "and", "or", "xor", "umin", "umax")
    for element in ("i32", "i64", "f16", "bf16", "f32", "f64"):
        memory = "#cuda_tile.ptr_attr<multicast>"
        tensor = f"tensor_view<24x32x{element}, strides=[32,1], {memory}>"
        pointer, tile = f"tile<ptr<{element}, {memory}>>", f"tile<16x16x{element}>"
        type_, parts = f"partition_view<tile=(16x16), {tensor}>", f"tile<16x8x{element}>"
        half = f"partition_view<tile=(16x8), {tensor}>"
        body = (
            f"    %q = assume div_by<16>, %p1 : {pointer}\n"
            f"    %v = make_tensor_view %q, shape = [24, 32], strides = [32, 1] : {pointer} -> "
            f"{tensor}\n    %w = make_partition_view %v : {type_}\n"
            f"    %h = make_partition_view %v : {half}\n"
            "    %one = constant <i32: 1> : tile<i32>\n    %two = constant <i32: 2> : tile<i32>\n"
        ) + loaded("x", "p0", element, (16, 16))  # fmt: skip

        parameters = f"%p0: tile<ptr<{element}>>, %p1: {pointer}"
        sizes = ((element, 256), (element, 24 * 32))

        def case(
            op: str, name: str, line: str, element: str = element, body: str = body,
            parameters: str = parameters, sizes: Any = sizes,
        ) -> Case:  # fmt: skip
            return Case(op, f"{op} {name} {element}", parameters, body + line, sizes, since=90)

        def reduction(kind: str) -> str:
            return f"attributes {{reduction = #cuda_tile.multimem_reduction_kind<{kind}>}}"

        for order in ("weak", "relaxed device", "release sys"):
            op = "multimem_store_view_tko"
            yield case(op, order, f"    %t = {op} {order} %w, %x[%one, %one] : {type_}, {tile}, "
                       "tile<i32> -> token\n")  # fmt: skip
        for kind in kinds:
            if element[0] == "i" or kind == "add":
                op = "multimem_reduce_view_tko"
                line = (
                    f"    %t = {op} relaxed sys %w, %x[%one, %one] {reduction(kind)} : {type_}, "
                    f"{tile}, tile<i32> -> token\n"
                )
                yield case(op, kind, line)
            if element[0] == "i" or kind == "add" or (element[-2:] == "16" and kind in kinds[:3]):
                op = "multimem_load_reduce_view_tko"
                line = (
                    f"    %s = multimem_store_view_tko weak %w, %x[%one, %one] : {type_}, {tile}, "
                    f"tile<i32> -> token\n    %y, %t = {op} acquire sys %h[%one, %two] token = %s "
                    f"{reduction(kind)} : {half}, tile<i32>, token -> {parts}, token\n"
                    f"    %u = multimem_store_view_tko weak %h, %y[%one, %one] token = %t : {half},"
                    f" {parts}, tile<i32>, token -> token\n"
                )
                yield case(op, kind, line)


def control() -> Iterator[Case]:
    for element in ("i32", "i64"):
        for unsigned in ("", " unsigned"):
            body = (
                f"    %z = constant <{element}: 0> : tile<{element}>\n"
                f"    %s = constant <{element}: 3> : tile<{element}>\n"
                f"    %u = constant <{element}: 20> : tile<{element}>\n"
                f"    %r = for{unsigned} %k in (%z to %u, step %s) : tile<{element}> "
                f"iter_values(%acc = %z) -> (tile<{element}>) {{\n"
                f"      %n = addi %acc, %k : tile<{element}>\n"
                f"      continue %n : tile<{element}>\n    }}\n"
                f"    %t = store_ptr_tko weak %p0, %r : tile<ptr<{element}>>, tile<{element}> "
                "-> token\n"
            )
            for op in ("for", "continue"):
                yield kernel(op, f"{op}{unsigned} {element}", body, ((element, 1),))
    body = (
        "    %z = constant <i32: 0> : tile<i32>\n    %o = constant <i32: 1> : tile<i32>\n"
        "    %l = constant <i32: 5> : tile<i32>\n"
        "    %r = loop iter_values(%acc = %z) : tile<i32> -> tile<i32> {\n"
        "      %n = addi %acc, %o : tile<i32>\n"
        "      %c = cmpi equal %n, %l, signed : tile<i32> -> tile<i1>\n"
        '      assert %c, "never" : tile<i1>\n'.replace("assert %c", "assert %true")
        + "      if %c {\n        break %n : tile<i32>\n      }\n"
        "      continue %n : tile<i32>\n    }\n"
        "    %t = store_ptr_tko weak %p0, %r : tile<ptr<i32>>, tile<i32> -> token\n"
        "    if %true {\n      return\n    }\n"
        '    %k = print_tko "%d\\n", %r : tile<i32> -> token\n'
    )
    body = "    %true = constant <i1: true> : tile<i1>\n" + body
    for op in ("loop", "break", "if", "assert", "return", "yield", "print_tko", "entry", "module",
               "offset"):  # fmt: skip
        yield kernel(op, op, body, (("i32", 1),))


def cases() -> list[Case]:
    """All kernels."""
    families = (
        conversions, shapes, folds, products, memory, own_memory, views,
        packed_views, multicast, control,
    )  # fmt: skip
    return [case for family in families for case in family()]


NOT_LOWERED = {
    "fpowf": "another spelling of pow",
}
"""The ops that are left, and what they would need."""
