"""Kernels of the ops that the sweep makes no points of: regions of other ops, memory of their own,
objects that several GPUs hold.

Each loads what it needs and stores one tile, so that a wrong result shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from point_values import DTYPES, drawn
from tile_ir import row

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
        arrays = [drawn(RNG, element, count, ordinary) for element, count in given]
        return [*arrays, np.zeros(size, DTYPES[result])]


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
        yield kernel("make_tensor_view", f"f4E2M1FN {order}", body, (("i8", 24 * 16),) * 2)


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
        "    %l = constant <i32: 4> : tile<i32>\n"
        "    %r = loop iter_values(%acc = %z) : tile<i32> -> tile<i32> {\n"
        "      %n = addi %acc, %o : tile<i32>\n"
        "      %c = cmpi equal %n, %l, signed : tile<i32> -> tile<i1>\n"
        '      assert %c, "never" : tile<i1>\n'.replace("assert %c", "assert %true")
        + "      if %c {\n        break %n : tile<i32>\n      }\n"
        "      continue %n : tile<i32>\n    }\n"
        "    %t = store_ptr_tko weak %p0, %r : tile<ptr<i32>>, tile<i32> -> token\n"
        "    if %true {\n      return\n    }\n"
        "    %a = assume div_by<4>, %r : tile<i32>\n"
        '    %k = print_tko "%d\\n", %a : tile<i32> -> token\n'
    )
    body = "    %true = constant <i1: true> : tile<i1>\n" + body
    for op in ("loop", "break", "if", "assert", "assume", "return", "yield", "print_tko", "entry",
               "module"):  # fmt: skip
        yield kernel(op, op, body, (("i32", 1),))


def cases() -> list[Case]:
    """All kernels."""
    families = own_memory, packed_views, multicast, control
    return [case for family in families for case in family()]
