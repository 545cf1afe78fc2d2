"""The reference page of every op, from the classes and the tests."""

import re
from inspect import cleandoc, signature
from pathlib import Path
from typing import Any

from xdsl.ir import Operation

from tilewright.builder import is_inferred
from tilewright.dialects.accepts import IntegerOf, ListOf
from tilewright.dialects.cute.dialect import CUTE
from tilewright.dialects.cute.ops.operation import CuteOp
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU
from tilewright.dialects.fields import FieldsOp, whole_format
from tilewright.dialects.op_facts import SEGMENTS
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.instruction import ScalarOp

NOTE = "Written by `python docs/generate.py` from the tables; do not edit.\n"
OPS_NOTE = """
What each op does, how it is written (`$name` is an operand or attribute, `type($name)` its type,
`(...)?` may be left out), and an example, from the op's class or from the tests of its dialect.
Behind operands that are defined above it an op of `cute` needs no types; from Python it is the
call of `tilewright.builder.cute` that is shown. Forms of the `ptx` dialect's scalar instructions
are in ptx.md.
"""


DIALECTS = {dialect.name: dialect for dialect in (CUTE, CUTE_NVGPU, PTX)}


def ops_page() -> str:
    """docs/ops.md: the dialects, and the names of their ops."""
    lines = (
        f"\n- [`{name}`](ops_{name}.md): "
        + ", ".join(f"`{op.name.removeprefix(f'{name}.')}`" for op in dialect.operations)
        for name, dialect in DIALECTS.items()
    )
    return f"# Every op\n\n{NOTE}{OPS_NOTE}{''.join(lines)}\n"


def dialect_page(name: str) -> str:
    """docs/ops_NAME.md: the syntax of every op of a dialect, from the classes."""
    lines = tested_lines(name)
    entries = "".join(op_entry(op, lines) for op in DIALECTS[name].operations)
    return f"# The ops of `{name}`\n\n{NOTE}\nHow to read them: [ops.md](ops.md).\n\n{entries}"


def op_entry(op: type[Operation], lines: list[str]) -> str:
    """An op: its law, syntax and example."""
    law, written = cleandoc(op.__doc__ or ""), syntax(op)
    entry = f"## `{op.name}`\n\n{law}\n\n"
    if written is not None:
        entry += f"```text\n{written}\n```\n\n"
    if issubclass(op, CuteOp):
        entry += f"From Python: `{python_call(op)}`\n\n"
    if "```" in law or op.name in law:
        return entry
    called = re.compile(rf"(?<![\w.]){re.escape(op.name)}(?![\w.])")
    example = next((line for line in lines if called.search(line)), None)
    return entry if example is None else f"{entry}```mlir\n{example}\n```\n\n"


def python_call(op: type[CuteOp]) -> str:
    """The call of `tilewright.builder.cute` for an op."""
    words = [f'"{op.name.removeprefix("cute.")}"']
    if is_inferred(op):
        words += [name for name, _ in op.definition.operands]
        words += [f"{name}=" for name in op.definition.properties if name != SEGMENTS]
    else:
        words += [f"{name}=" if parameter.kind is parameter.KEYWORD_ONLY else name
                  for name, parameter in signature(op).parameters.items()]  # fmt: skip
    return f"cute({', '.join(words)})"


def syntax(op: Any) -> str | None:
    """An op's name, operands and types; None where it reads them in a way of its own."""
    if issubclass(op, CuteOp) and (op.definition.operands or "custom<" in op.assembly_format):
        return cute_syntax(op)
    if op.assembly_format is not None or op.parse.__func__ is FieldsOp.parse.__func__:
        written = re.sub(r"custom<Identifier>\((\$\w+)\)", r"\1", whole_format(op))
        return f"{op.name} {' '.join(written.split())}"
    if issubclass(op, ScalarOp):
        return f"{op.name} FORM $inputs"
    return None


def cute_syntax(op: type[CuteOp]) -> str | None:
    """The same of an op of `cute` that has operands and types where most have them."""
    definition = op.definition
    properties = {n: field for n, field in definition.properties.items() if n != SEGMENTS}
    regular = all(isinstance(field.constr, IntegerOf | ListOf) for field in properties.values())
    if op.assembly_format != op.regular_format() or not regular:
        return None
    prefix = f"<{', '.join(f'${name}' for name in properties)}> " if properties else ""
    names = [name for name, _ in definition.operands]
    operands, types = (
        ", ".join(form.format(name) for name in names) for form in ("${}", "type(${})")
    )
    results = ", ".join(f"type(${name})" for name, _ in definition.results)
    types = {
        Syntax.FUNCTIONAL: f"({types}) -> {results}",
        Syntax.ARROW: f"{types} -> {results}",
        Syntax.INFERRED: types,
    }[op.SYNTAX]
    return f"{op.name}{prefix}({operands}) : {types}"


def tested_lines(dialect: str) -> list[str]:
    """The lines of a dialect's tests, without their checks."""
    folder = Path(__file__).parents[1] / "tests" / "filecheck" / "dialects" / dialect
    files = sorted(path for path in folder.glob("*.mlir") if not path.stem.endswith("_errors"))
    lines = (line.strip() for path in files for line in path.read_text().splitlines())
    return [line for line in lines if not line.startswith("//")]
