"""A module from the bytes of a file."""

from xdsl.dialects import builtin
from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.collection import no_collection
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr, SymbolVisibilityAttr
from tilewright.dialects.cuda_tile.bytecode.attributes import AttributeReader
from tilewright.dialects.cuda_tile.bytecode.constants import ConstantReader
from tilewright.dialects.cuda_tile.bytecode.container import (
    SectionId,
    read_header,
    read_sections,
    read_table,
)
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.debug_info import DebugReader
from tilewright.dialects.cuda_tile.bytecode.error import BytecodeError
from tilewright.dialects.cuda_tile.bytecode.layout import FileLayout, remember
from tilewright.dialects.cuda_tile.bytecode.read_ops import OpReader, link
from tilewright.dialects.cuda_tile.bytecode.strings import StringReader
from tilewright.dialects.cuda_tile.bytecode.types import TypeReader
from tilewright.dialects.cuda_tile.enums import SymbolVisibility
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GlobalOp, ModuleOp
from tilewright.dialects.cuda_tile.versions import V13_3, V13_5
from tilewright.source.diagnostic import CompileError, Diagnostic, at

PRIVATE, KERNEL, HINTS = 1, 2, 4
"""The flags of a function."""
NO_ATTRIBUTES = builtin.ArrayAttr[Attribute](())
MODULE_NAME = "kernels"
"""The name of a module: bytecode has no name for it."""


def read_bytecode(data: bytes, name: str = "<bytes>", *, verify: bool = True) -> builtin.ModuleOp:
    """The module of Tile IR bytecode: a builtin module around a `cuda_tile.module`.

    Ops stand where their debug info says. Raises CompileError, with the byte offset in the file,
    where the bytes are no bytecode or what they say does not verify.
    """
    try:
        with no_collection(len(data)):
            reader = ModuleReader(data)
            module = reader.module()
            if verify:
                reader.verify()
    except BytecodeError as error:
        raise CompileError(Diagnostic(str(error), name)) from None
    return module


class ModuleReader:
    """Reads one file."""

    def __init__(self, data: bytes):
        cursor = Cursor(data)
        self.version, self.tag = read_header(cursor)
        self.sections = read_sections(cursor)
        self.strings = StringReader(self._table(SectionId.STRING, "I", "strings", needed=True))
        self.types = TypeReader(self._table(SectionId.TYPE, "I", "types"), self.version)
        self.constants = ConstantReader(self._table(SectionId.CONSTANT, "Q", "constants"))
        self.debug = DebugReader(self.sections.get(SectionId.DEBUG), self.strings, self.version)
        self.attributes = AttributeReader(self.strings, self.types, self.constants)
        self.ops = OpReader(self.version, self.attributes)

    def _table(
        self, section: SectionId, code: str, what: str, *, needed: bool = False
    ) -> list[Cursor]:
        cursor = self._section(section) if needed else self.sections.get(section)
        return [] if cursor is None else read_table(cursor, code, cursor.position, what)

    def _section(self, section: SectionId) -> Cursor:
        if section not in self.sections:
            raise BytecodeError(0, f"{section.name.lower()} section is mandatory, got none")
        return self.sections[section]

    def module(self) -> builtin.ModuleOp:
        """The module."""
        properties: dict[str, Attribute] = {"sym_name": StringAttr(MODULE_NAME)}
        if (producer := self.sections.get(SectionId.PRODUCER)) is not None:
            properties["producer"] = StringAttr(self.strings.index(producer))
        block = Block()
        link(block, [*self._globals(), *self._functions()])
        tiles = ModuleOp.create(properties=properties, regions=[Region(block)])
        remember(tiles, self._layout())
        module = builtin.ModuleOp([tiles])
        self.ops.made += [(tiles, 0), (module, 0)]
        return module

    def _layout(self) -> FileLayout:
        functions = self.sections[SectionId.FUNCTION]
        return FileLayout(
            self.version,
            self.tag,
            tuple(self.sections),
            tuple(self.strings.strings),
            tuple(self.types.types),
            tuple(self.constants.raw),
            tuple(self.debug.entries[1:]),
            padded_functions=functions.remaining > 0,
            numbers_all_functions=bool(self.debug.offsets)
            and any(self.debug.indices[offset] == 0 for offset in self.debug.offsets),
        )

    def _globals(self) -> list[Operation]:
        cursor = self.sections.get(SectionId.GLOBAL)
        if cursor is None:
            return []
        extended = self.version >= V13_3
        number = cursor.count(6 if extended else 4, "globals")
        return [self._global(cursor, extended) for _ in range(number)]

    def _global(self, cursor: Cursor, extended: bool) -> Operation:
        begin = cursor.position
        name = self.strings.name(cursor, "a global")
        type_ = self.types.index(cursor)
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "value": self.constants.index(cursor, type_),
        }
        start = cursor.position
        alignment = cursor.varint()
        if alignment >> 63:
            cursor.fail(f"expected an alignment of 63 bits, got {alignment}", start)
        if alignment:
            properties["alignment"] = IntegerAttr(alignment, 64)
        if extended:
            start = cursor.position
            visibility = SymbolVisibility.of_number(cursor.varint())
            if visibility is None:
                cursor.fail("expected the visibility of a global to be 0 or 1, got more", start)
            if visibility is not SymbolVisibility.PUBLIC:
                properties["symbol_visibility"] = SymbolVisibilityAttr(visibility)
            if cursor.varint():
                properties["constant"] = UnitAttr()
        global_ = GlobalOp.create(properties=properties)
        self.ops.made.append((global_, begin))
        return global_

    def _functions(self) -> list[Operation]:
        cursor = self._section(SectionId.FUNCTION)
        functions = [self._function(cursor) for _ in range(cursor.count(5, "functions"))]
        if cursor.remaining > 7:
            cursor.fail(f"expected the end of the functions, got {cursor.remaining} more bytes")
        return functions

    def _function(self, cursor: Cursor) -> Operation:
        start = cursor.position
        name = self.strings.name(cursor, "a function")
        signature_at = cursor.position
        signature = self.types.index(cursor)
        if not isinstance(signature, FunctionType):
            cursor.fail(f"expected the type of a function, got {signature}", signature_at)
        flags = cursor.byte()
        if not flags & KERNEL or flags & ~(KERNEL | HINTS):
            cursor.fail(f"expected an entry, got function '{name}' with flags {flags:#b}", start)
        place = self.debug.places(cursor)
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": signature,
        }
        self._function_attributes(cursor, flags, properties)
        location = place()
        body = cursor.part(cursor.varint(), "the body of a function")
        block = Block(arg_types=signature.inputs.data)
        self.ops.body(block, body, place)
        entry = EntryOp.create(properties=properties, regions=[Region(block)])
        entry.location = location  # pyright: ignore[reportAttributeAccessIssue]: ours are more
        self.ops.made.append((entry, start))
        return entry

    def _function_attributes(
        self, cursor: Cursor, flags: int, properties: dict[str, Attribute]
    ) -> None:
        """Since 13.5 hints always follow, and the attributes of the arguments."""
        if flags & HINTS or self.version >= V13_5:
            start = cursor.position
            hints = self.attributes.tagged(cursor)
            if not isinstance(hints, OptimizationHintsAttr):
                cursor.fail(f"expected optimization hints, got {hints}", start)
            if hints.value.data or self.version < V13_5:
                properties["optimization_hints"] = hints
        if self.version >= V13_5:
            start = cursor.position
            attributes = self.attributes.tagged(cursor)
            if not isinstance(attributes, builtin.ArrayAttr):
                cursor.fail(
                    f"expected an array of attributes of arguments, got {attributes}", start
                )
            if attributes != NO_ATTRIBUTES:
                properties["arg_attrs"] = attributes

    def verify(self) -> None:
        """Verify what was read: what `module.verify()` does that may fail here. Raises
        CompileError at the first op that is wrong."""
        for op, start in self.ops.made:
            try:
                op.verify_()
            except VerifyException as error:
                message = str(error).strip()
                named = message if message.startswith("'") else f"'{op.name}' {message}"
                raise _at_place(op, BytecodeError(start, named)) from None


def _at_place(op: Operation, error: BytecodeError) -> Exception:
    """The error at the place that the debug info of an op names, if it names one."""
    diagnostic = at(op.location, str(error))
    return error if diagnostic.line is None else CompileError(diagnostic)
