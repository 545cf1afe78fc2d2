"""The bytes of a module."""

from collections.abc import Sequence

from xdsl.dialects import builtin
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.bytecode.attributes import AttributeWriter
from tilewright.dialects.cuda_tile.bytecode.constants import ConstantWriter
from tilewright.dialects.cuda_tile.bytecode.container import (
    SectionId,
    write_header,
    write_section,
    write_table,
)
from tilewright.dialects.cuda_tile.bytecode.debug_info import DebugWriter
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder, Table
from tilewright.dialects.cuda_tile.bytecode.error import TooOldError
from tilewright.dialects.cuda_tile.bytecode.layout import FileLayout, layout_of
from tilewright.dialects.cuda_tile.bytecode.read_module import HINTS, KERNEL, NO_ATTRIBUTES
from tilewright.dialects.cuda_tile.bytecode.types import TypeWriter
from tilewright.dialects.cuda_tile.bytecode.write_ops import OpWriter
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GlobalOp, ModuleOp
from tilewright.dialects.cuda_tile.versions import V13_3, V13_5, VERSIONS, Version
from tilewright.source.diagnostic import OpError

NO_HINTS = OptimizationHintsAttr(DictionaryAttr({}))


def write_bytecode(module: builtin.ModuleOp | ModuleOp, version: Version | None = None) -> bytes:
    """The Tile IR bytecode of a verified module.

    By default a module that was read from bytecode is written as it was, any other in the lowest
    version that can hold it. Raises OpError for what no bytecode holds, or not this version's.
    """
    tiles = _tile_module(module)
    layout = layout_of(tiles)
    if layout is not None and version in (None, layout.version):
        return ModuleWriter(layout).write(tiles)
    if version is not None:
        return ModuleWriter(FileLayout(version)).write(tiles)
    lowest = VERSIONS[0]
    while True:
        try:
            return ModuleWriter(FileLayout(lowest)).write(tiles)
        except TooOldError as error:
            assert error.since > lowest, error
            lowest = error.since


def _tile_module(module: builtin.ModuleOp | ModuleOp) -> ModuleOp:
    if isinstance(module, ModuleOp):
        return module
    ops = list(module.body.block.ops)
    if len(ops) != 1 or not isinstance(ops[0], ModuleOp):
        got = ", ".join(f"'{op.name}'" for op in ops) or "nothing"
        raise OpError(module, f"'tileirbc' expected one 'cuda_tile.module', got {got}")
    return ops[0]


class ModuleWriter:
    """Writes one file, laid out as told."""

    def __init__(self, layout: FileLayout):
        self.layout = layout
        self.version = version = layout.version
        self.strings = Table(layout.strings)
        self.types = TypeWriter(version, layout.types)
        self.constants = ConstantWriter(layout.constants)
        self.debug = DebugWriter(
            self.strings, version, layout.debug_entries, layout.numbers_all_functions
        )
        self.attributes = AttributeWriter(self.strings, self.types, self.constants)
        self.ops = OpWriter(version, self.attributes, self.debug)

    def write(self, module: ModuleOp) -> bytes:
        """The whole file."""
        payloads = self._payloads(module)
        out = Encoder()
        write_header(out, self.version, self.layout.tag)
        for section in self.layout.order():
            if (payload := payloads[section]) is not None:
                write_section(out, section, payload)
        out.append(SectionId.END)
        return bytes(out)

    def _payloads(self, module: ModuleOp) -> dict[SectionId, bytes | None]:
        """The payload of each section; strings come last, for all others name some."""
        globals_, entries = _contents(module)
        heads = [self._head(entry) for entry in entries]
        payloads: dict[SectionId, bytes | None] = {
            SectionId.GLOBAL: self._globals(globals_),
            SectionId.FUNCTION: self._functions(entries, heads),
        }
        constants = self.constants.table.entries
        kept = SectionId.CONSTANT in self.layout.sections
        payloads[SectionId.CONSTANT] = _table("Q", constants) if constants or kept else None
        payloads[SectionId.DEBUG] = self.debug.section(kept=SectionId.DEBUG in self.layout.sections)
        try:
            payloads[SectionId.TYPE] = _table("I", self.types.entries(module))
        except ValueError as error:
            raise error if isinstance(error, OpError) else OpError(module, str(error)) from None
        payloads[SectionId.PRODUCER] = self._producer(module)
        payloads[SectionId.STRING] = _table("I", [text.encode() for text in self.strings.entries])
        return payloads

    def _head(self, entry: EntryOp) -> tuple[int, int, int]:
        """The indices of an entry's name, type and debug info."""
        name = self.strings.index(entry.sym_name.data)
        type_ = self.types.index(entry.function_type)
        return name, type_, self.debug.begin(entry)

    def _globals(self, globals_: Sequence[GlobalOp]) -> bytes | None:
        if not globals_:
            return None
        out = Encoder()
        out.varint(len(globals_))
        for global_ in globals_:
            self._global(global_, out)
        return bytes(out)

    def _global(self, global_: GlobalOp, out: Encoder) -> None:
        name = global_.sym_name.data
        visibility = global_.symbol_visibility.data.number
        constant = global_.constant is not None
        if self.version < V13_3:
            if visibility:
                raise TooOldError(global_, f"global `{name}` uses non-public symbol visibility, "
                                  f"which cannot be encoded in bytecode version {self.version} "
                                  "(requires bytecode 13.3+)", V13_3)  # fmt: skip
            if constant:
                raise TooOldError(global_, f"constant global `{name}` cannot be encoded in "
                                  f"bytecode version {self.version} (the `constant` attribute "
                                  "requires bytecode 13.3+)", V13_3)  # fmt: skip
        out.varint(self.strings.index(name))
        out.varint(self.types.index(global_.value.type))  # pyright: ignore
        out.varint(self.constants.index(global_.value))  # pyright: ignore
        out.varint(global_.alignment.value.data)  # pyright: ignore
        if self.version >= V13_3:
            out.varints((visibility, constant))

    def _functions(
        self, entries: Sequence[EntryOp], heads: Sequence[tuple[int, int, int]]
    ) -> bytes:
        out = Encoder()
        out.varint(len(entries))
        for entry, (name, type_, debug) in zip(entries, heads, strict=True):
            out.varints((name, type_))
            hints = entry.optimization_hints
            later = self.version >= V13_5
            out.append(KERNEL if later or hints is None else KERNEL | HINTS)
            out.varint(debug)
            if hints is not None or later:
                self.attributes.tagged(hints or NO_HINTS, out)
            if later:
                self.attributes.tagged(entry.arg_attrs or NO_ATTRIBUTES, out)  # pyright: ignore
            self.debug.enter(debug)
            body = self.ops.body(entry.body.block)
            out.varint(len(body))
            out += body
        if self.layout.padded_functions:
            out.align(8)
        return bytes(out)

    def _producer(self, module: ModuleOp) -> bytes | None:
        """Who made the module; before 13.3 nobody says."""
        if module.producer is None or self.version < V13_3:
            return None
        out = Encoder()
        out.varint(self.strings.index(module.producer.data))
        return bytes(out)


def _table(code: str, entries: Sequence[bytes]) -> bytes:
    out = Encoder()
    write_table(out, code, entries)
    return bytes(out)


def _contents(module: ModuleOp) -> tuple[list[GlobalOp], list[EntryOp]]:
    """The globals and the entries of a module, which may hold nothing else."""
    globals_: list[GlobalOp] = []
    entries: list[EntryOp] = []
    ops: Sequence[Operation] = list(module.body.block.ops)
    for op in ops:
        if isinstance(op, GlobalOp):
            globals_.append(op)
        elif isinstance(op, EntryOp):
            entries.append(op)
        else:
            raise OpError(module, f"'{module.name}' expected entries and globals, got '{op.name}' "
                          "(only function and global ops are allowed in the body)")  # fmt: skip
    return globals_, entries
