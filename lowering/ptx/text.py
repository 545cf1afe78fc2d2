"""PTX text of `ptx` IR."""

from collections.abc import Collection

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import STATIC_SHARED_LIMIT
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Target, TargetError, lowest
from tilewright.dialects.ptx.control_flow import (
    EXPLICIT_CLUSTER,
    MAX_REGISTERS,
    MIN_CTAS,
    PARAMETER_TYPES,
    SHARED_VARIABLES,
    TENSORMAP,
    EntryOp,
)
from tilewright.dialects.ptx.data_movement import LdOp
from tilewright.dialects.ptx.functions import FuncOp, RetOp
from tilewright.dialects.ptx.module_variables import GlobalOp
from tilewright.dialects.ptx.registers import MovOp
from tilewright.dialects.ptx.scalars import CvtaOp
from tilewright.lowering.ptx.body_text import BodyText, parameter
from tilewright.lowering.ptx.check_loadable import check_loadable
from tilewright.lowering.ptx.instructions import Shapes
from tilewright.source.diagnostic import OpError


def module_text(module: ModuleOp, arch: Target | None = None) -> str:
    """The PTX of a module of `ptx.entry` ops, with the lowest `.version` and `.target` that its
    instructions need; with `arch`, the lowest that this target runs.

    Raises OpError for any other top-level op, and where no target supports all instructions.
    """
    entries: list[EntryOp] = []
    variables: list[GlobalOp] = []
    functions: list[FuncOp] = []
    for op in module.body.block.ops:
        match op:
            case GlobalOp():
                variables.append(op)
            case FuncOp():
                functions.append(op)
            case EntryOp():
                entries.append(op)
            case _:
                raise OpError(
                    op, f"the ptx target expected ptx.entry, got '{op.name}'; run "
                    "convert-cute-nvgpu-to-ptx first"
                )  # fmt: skip
    shapes = check_loadable(entries, functions, variables, arch)
    taken = {named.sym_name.data for named in (*variables, *functions, *entries)}
    bodies = (
        *(FunctionText(function, shapes, taken) for function in functions),
        *(KernelText(entry, shapes, taken) for entry in entries),
    )
    texts = [body.text() for body in bodies]
    declared = [
        f"\n{body.declared()};\n" for body in bodies
        if isinstance(body, FunctionText) and body.function.address
    ]  # fmt: skip
    required = [op.requirement() for op in (*functions, *entries)]
    required += [shape.requirement for shape in set(shapes.values())]
    required += [need for body in bodies for need in body.required]
    try:
        target = lowest({BASELINE.target, *(need.target for need in required)}, arch)
    except TargetError as error:
        raise OpError(module, str(error)) from error
    version = max([BASELINE.version, target.ptx_version, *(need.version for need in required)])
    return (
        "// tilewright: PTX\n"
        f".version {version[0]}.{version[1]}\n.target {target}\n.address_size 64\n"
        + "".join(declared)
        + "".join(f"\n{variable.text()}" for variable in variables)
        + "".join(f"\n{text}" for text in texts)
    )


class KernelText(BodyText):
    """The text of one kernel."""

    def __init__(self, entry: EntryOp, shapes: Shapes, taken: Collection[str]):
        self.entry = entry
        size = self._shared_bytes = entry.shared.value.data
        begins = entry.attributes.get(SHARED_VARIABLES)
        starts = [0]
        if isinstance(begins, DenseArrayBase) and size <= STATIC_SHARED_LIMIT:
            starts += sorted(at for at in begins.get_values() if 0 < at < size)
        names = (name.data for name in entry.parameter_names)
        super().__init__(entry, shapes, taken, names, starts)

    def _head(self) -> str:
        parameters = ",\n".join(
            f"\t{parameter(kind.data, name)}"
            for name, kind in zip(self._parameter_names, self.entry.parameters, strict=True)
        )
        shared, end, align = "", self._shared_bytes, self.entry.align.value.data
        is_static = end <= STATIC_SHARED_LIMIT
        for start, name in reversed(self._shared.items()) if end else ():
            aligned, size = min(align, start & -start or align), end - start if is_static else ""
            kind = "" if is_static else ".extern "
            shared = f"{kind}.shared .align {aligned} .b8 {name}[{size}];\n{shared}"
            end = start
        bound, fixed = "", self.entry.reqntid
        if (threads := fixed or self.entry.maxntid) is not None:
            directive = "maxntid" if fixed is None else "reqntid"
            bound = f"\n.{directive} {', '.join(map(str, threads.get_values()))}"
            least = self.entry.attributes.get(MIN_CTAS)
            if isinstance(least, IntegerAttr):
                bound += f"\n.minnctapersm {least.value.data}"
        most = self.entry.attributes.get(MAX_REGISTERS)
        if isinstance(most, IntegerAttr):
            bound += f"\n.maxnreg {most.value.data}"
        if EXPLICIT_CLUSTER in self.entry.attributes:
            bound += "\n.explicitcluster"
        if self.entry.cluster is not None:
            bound += f"\n.reqnctapercluster {', '.join(map(str, self.entry.cluster.get_values()))}"
        opened = f"(\n{parameters}\n)" if parameters else "()"
        return f"{shared}.visible .entry {self.name}{opened}{bound}\n{{\n"

    def _parameters(self) -> None:
        maps: list[tuple[str, str]] = []
        for argument, type_, name in zip(
            self.entry.body.blocks[0].args,
            self.entry.parameters,
            self._parameter_names,
            strict=True,
        ):
            if self.is_in_place(argument, name):
                continue
            register = self.register(argument)
            # What converts a map's address itself, or loads from it, has it of that space.
            if type_.data == TENSORMAP and not any(
                isinstance(use.operation, CvtaOp | LdOp | MovOp) for use in argument.uses
            ):
                maps.append((register, register := self.registers.names.scratch("b64")))
            if type_.data not in PARAMETER_TYPES or type_.data == TENSORMAP:
                self.line(f"mov.b64 {register}, {name};")
            else:
                self.line(f"ld.param.{type_.data} {register}, [{name}];")
        for generic, register in maps:
            self.line(f"cvta.param.u64 {generic}, {register};")


class FunctionText(BodyText):
    """The text of a function, or of what is known of one elsewhere."""

    def __init__(self, function: FuncOp, shapes: Shapes, taken: Collection[str]):
        self.function = function
        given, returned = len(function.parameters), len(function.returns)
        names = *map(str, range(given)), *(f"result{place}" for place in range(returned))
        super().__init__(function, shapes, taken, names)

    def text(self) -> str:
        return super().text() if self.function.body.blocks else f"{self.declared()};\n"

    def declared(self) -> str:
        """Its head, which says what it is of."""
        function, names = self.function, self._parameter_names
        given, returned = (
            ", ".join(parameter(kind.data, name) for kind, name in zip(kinds, some, strict=False))
            for kinds, some in (
                (function.parameters, names), (function.returns, names[len(function.parameters):])
            )
        )  # fmt: skip
        linkage = "" if function.linkage is None else f"{function.linkage.data} "
        returned = returned and f"({returned}) "
        ends = "" if function.noreturn is None else " .noreturn"
        return f"{linkage}.func {returned}{self.name}({given}){ends}"

    def _head(self) -> str:
        return f"{self.declared()}\n{{\n"

    def _parameters(self) -> None:
        arguments = self.function.body.blocks[0].args
        self.load(arguments, self.function.parameters, self._parameter_names)

    def _leave(self, op: RetOp) -> None:
        names = self._parameter_names[len(self.function.parameters) :]
        self.store(op.values, self.function.returns, names)
        super()._leave(op)
