"""The ops of the `cute` dialect: parsing and verifying one beside one of `arith`, and folding many.

    python benchmarks/cute_ops.py [--json]

Every side is a function of OPS ops with two operands and a result, parsed by xDSL and verified, in
alternating rounds of which the best counts. A `cute` op spells out its three types; `arith.addi`
names one, and is as long as that in its generic form.
"""

from functools import partial

from measured import best_time, best_times, parser, show

from tilewright.passes.cute_fold_static import CuteFoldStaticPass
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

OPS = 3_000
ROUNDS = 7
FOLDED = (10_000, 20_000)
_SHAPES = '!cute.shape<"(4,?)">, !cute.shape<"(2,?)">'
LINES = {
    "cute.tuple_add": f'cute.tuple_add(%s, %t) : ({_SHAPES}) -> !cute.shape<"(6,?)">',
    "arith.addi": "arith.addi %n, %n : i32",
    "arith.addi, generic": (
        '"arith.addi"(%n, %n) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32'
    ),
}


def function(lines: list[str]) -> str:
    """A function of these lines."""
    s, t = _SHAPES.split(", ")
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @f(%n: i32, %s: {s}, %t: {t}) {{\n{body}\n  func.return\n}}"


def parse_seconds() -> dict[str, float]:
    """Seconds an op of each kind takes."""
    texts = {
        name: function([f"%r{i} = {line}" for i in range(OPS)]) for name, line in LINES.items()
    }
    runs = [lambda text=text: verify(parse_module(text)) for text in texts.values()]
    times = best_times(ROUNDS, *runs)
    return {name: took / OPS for name, took in zip(texts, times, strict=True)}


def fold_seconds(ops: int) -> float:
    """Seconds to fold a module of about `ops` ops whose types say all."""
    lines: list[str] = []
    for i in range(ops // 3):
        shape, size = f'!cute.shape<"({i % 50 + 1},8)">', f'!cute.int_tuple<"{8 * (i % 50 + 1)}">'
        lines += [
            f"%s{i} = cute.make_shape() : () -> {shape}",
            f"%n{i} = cute.size(%s{i}) : ({shape}) -> {size}",
            f"cute.print(%n{i}) : {size}",
        ]
    modules = [parse_module(function(lines)) for _ in range(3)]
    fold = partial(CuteFoldStaticPass().apply, default_context())
    return best_time(len(modules), lambda: fold(modules.pop()))


def main() -> None:
    options = parser(__doc__).parse_args()
    parsed = parse_seconds()
    folded = {ops: fold_seconds(ops) for ops in FOLDED}
    cute = parsed["cute.tuple_add"]
    lines = [f"{'parse and verify':<22}{'characters':>11}{'us an op':>10}{'cute takes':>12}"]
    for name, took in parsed.items():
        lines.append(f"{name:<22}{len(LINES[name]):>11}{took * 1e6:>10.1f}{cute / took:>11.2f}x")
    for ops, took in folded.items():
        rate = f"{took / ops * 1e6:4.0f} us an op"
        lines.append(f"cute-fold-static, {ops:>6} ops: {took:5.2f} s, {rate}")
    show(options, {"parse": parsed, "fold": folded}, lines)


if __name__ == "__main__":
    main()
