"""Loads, stores, atomic operations, copies of matrices and of boxes, as ops."""

import dataclasses
from functools import cache, partial
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.atoms.operands import matrix_copy_operands
from tilewright.dialects.cute_nvgpu.lattice import tma
from tilewright.dialects.cute_nvgpu.lattice.accesses import Said
from tilewright.dialects.cute_nvgpu.lattice.atomics import INSTRUCTIONS
from tilewright.dialects.cute_nvgpu.lattice.cluster import LEADER_MASKS
from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    ACCESS_TYPES,
    CACHE_HINT,
    CACHING,
    CLUSTER_SPACE,
    CP_ASYNC,
    CP_ASYNC_PREFETCH,
    GENERIC,
    OWN_SPACES,
    SPACES,
)
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.mbarrier import (
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_COUNT,
    MBARRIER_ARRIVE_EXPECT_TX,
    MBARRIER_TRY_WAIT,
    MBARRIER_TRY_WAIT_CLUSTER,
)
from tilewright.dialects.cute_nvgpu.lattice.multimem import MULTIMEM
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Choice
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written, read
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.ptx import (
    bulk_copy,
    data_movement,
    mbarrier,
    scalars,
)
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.registers import ConstOp, MovOp
from tilewright.lowering.ptx.parsing.instructions import (
    OPS,
    as_written,
    by_fields,
    composes,
    pieces,
    reads,
    resizing,
    rule_of,
    scalar_rule,
    words_of,
)
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule, width_of
from tilewright.lowering.ptx.parsing.spellings import atomic_words, on_shared
from tilewright.lowering.ptx.parsing.ssa import Value, Variable

_SPACES = {*SPACES, CLUSTER_SPACE, *OWN_SPACES, GENERIC}


@reads("ld", "st")
def _access(mnemonic: str) -> ReadingRule | None:
    said = Said.of(mnemonic)
    name, space, access, cache = said.name, said.place, said.access, said.cache
    if access not in ACCESS_TYPES or space not in _SPACES or not said.count:
        return None
    if cache and not set(CACHING).issuperset(cache.split(".")):
        return None
    op = OPS[name]
    properties = {
        "space": space,
        "access": access,
        "semantics": said.semantics,
        "cache": cache or None,
    }
    forms = op.ROW.operands(ACCESS_TYPES[access], said.count)
    if "L2::cache_hint" in cache:
        forms = *forms, Choice("cache-policy", optional=True)
    rule = by_fields(op, properties, forms)
    if space == "param":
        read = _parameter if name == "ld" else _argument
        rule = ReadingRule(partial(read, rule))
    elif name == "ld":
        rule = dataclasses.replace(rule, read=partial(_load, rule, mnemonic))
    return resizing(rule, said.type_)


def _load(load: ReadingRule, mnemonic: str, reader: Reader, operands: str) -> None:
    """A load, with what makes a narrow number wide."""
    before = reader.block.last_op
    load.read(reader, operands)
    if not isinstance(reader.block.last_op, data_movement.LdOp):
        as_written(reader, before, mnemonic, operands, {})


def _parameter(load: ReadingRule, reader: Reader, operands: str) -> None:
    """A parameter's value, or some of its bytes: where it is one register's, a load of it."""
    dest, source = read(operands)
    symbol = reader.scope.find(source.items[0].text) if source.items else None
    if not isinstance(symbol, Symbol) or (symbol.value and symbol.size and not symbol.parts):
        load.read(reader, operands)
        return
    before, width = reader.block.last_op, int(reader.resizes[1:])
    for place, name in enumerate(words_of(dest)):
        start = source.value + place * width // 8
        value = (
            _whole(reader, symbol, source)
            if symbol.size is None
            else stored_bits(reader, symbol, start, width)
        )
        if symbol.value is not None and value is symbol.value and width > 8:
            value = reader.result(MovOp(symbol.value, symbol.value.type))
        reader.give(name, value)
    as_written(reader, before, f"ld.param.{reader.resizes}", operands, {})


def _whole(reader: Reader, symbol: Symbol, source: Written) -> SSAValue:
    """The value of a kernel's parameter, or the low bits that a narrower access loads."""
    value, width = symbol.value, int(reader.resizes[1:])
    if symbol.space != "param":
        raise reader.fail(f"expected a parameter, got {symbol.name}")
    if value is None or source.value:
        raise reader.fail(f"expected the whole of {symbol.name}, got {source.text}")
    if width == (given := width_of(value)):
        return value
    if width > given:
        raise reader.fail(f"expected at most {given} bits of {symbol.name}, got {reader.resizes}")
    return _low_bits(reader, reader.register(value, f"b{given}"), width)


def _low_bits(reader: Reader, whole: SSAValue, width: int) -> SSAValue:
    """So many low bits of a register."""
    low = reader.resized(whole, f"b{max(width, 16)}")
    return low if width > 8 else reader.resized(low, "b16", "u8")


def stored_bits(reader: Reader, symbol: Symbol, offset: int, width: int) -> Value:
    """So many bits of an argument from an offset on, of the parts that are stored."""
    kind = f"b{max(width, 16)}"
    for start, given in symbol.widths.items():
        before = 8 * (offset - start)
        if before >= 0 and before + width <= given:
            value = reader.ssa.read(reader.block, symbol.parts[start])
            if given == width:
                return value
            whole = reader.register(value, f"b{width_of(value)}")
            if before:
                amount = reader.constant(before, "b32")
                whole = reader.scalar(f"shr.u{width_of(value)}", whole, amount)
            return _low_bits(reader, whole, width)
    if (half := width // 2) < 8:
        raise reader.fail(f"expected a part of {symbol.name} that is stored, got byte {offset}")
    low, high = (
        stored_bits(reader, symbol, offset + place * half // 8, half) for place in range(2)
    )
    low, high = (
        reader.resized(reader.register(part, f"b{max(half, 16)}"), kind) for part in (low, high)
    )
    shifted = reader.scalar(f"shl.{kind}", high, reader.constant(half, "b32"))
    return reader.scalar(f"or.{kind}", low, shifted)


def _argument(_: ReadingRule, reader: Reader, operands: str) -> None:
    """Parts of a parameter of a function that is called, or of its result."""
    dest, source = read(operands)
    symbol = reader.scope.find(dest.items[0].text)
    if not isinstance(symbol, Symbol) or symbol.space != "param":
        raise reader.fail(f"expected a parameter, got {dest.text}")
    type_ = reader.resizes.replace("b8", "u8")
    width = int(type_[1:])
    for place, text in enumerate(words_of(source)):
        value, start = reader.take(text, type_), dest.value + place * width // 8
        if width == 8:
            value = reader.resized(value, "b16", "u8")
        for other, given in symbol.widths.items():
            if other != start and other < start + width // 8 and start < other + given // 8:
                raise reader.fail(
                    f"expected no bytes of {symbol.name} that are stored, got {start}"
                )
        part = symbol.part(start, REGISTER_OF[type_], width)
        reader.registers[part] = value


@reads("atom", "red")
def _atomic(mnemonic: str) -> ReadingRule | None:
    if (row := INSTRUCTIONS.get(mnemonic)) is None:
        return None
    name, semantics, space, form = atomic_words(mnemonic.replace(CACHE_HINT, ""))
    properties = {"space": space, "semantics": semantics, "form": form}
    return by_fields(OPS[name], properties, row.operands)


@reads("multimem")
def _multimem(mnemonic: str) -> ReadingRule | None:
    _, name, form = mnemonic.split(".", 2)
    if name == "cp":
        return _copy(mnemonic)
    if (row := MULTIMEM.get(f"{name}.{form}")) is None:
        return None
    rule = by_fields(OPS[f"multimem.{name}"], {"form": form}, row.operands)
    return resizing(rule, form.rpartition(".")[2]) if "async" in form else rule


@reads("ldmatrix", "stmatrix")
def _matrix_copy(mnemonic: str) -> ReadingRule | None:
    if (copy := matrix_copies().get(mnemonic)) is None:
        return None
    properties = {"form": copy.row.form, "trans": copy.trans}
    return by_fields(OPS[copy.row.op], properties, matrix_copy_operands(copy))


def _arrival(row: InstructionRow, plain: type[PtxOp], stated: type[PtxOp]) -> ReadingRule:
    """An arrival whose state something may read."""
    form = row.mnemonics[0].removeprefix("mbarrier.")
    counted = by_fields(mbarrier.CountedArrivalOp, {"form": form}, row.operands)
    without, with_state = (
        by_fields(op, {}, row.operands, general=counted) for op in (plain, stated)
    )

    def rule(reader: Reader, operands: str) -> None:
        if operands.startswith("_"):
            without.read(reader, operands)
        else:
            with_state.read(reader, operands)
            if isinstance(made := reader.block.last_op, stated):
                reader.states.append((made, plain))

    return ReadingRule(rule)


@composes
def _in_window(mnemonic: str) -> ReadingRule | None:
    """The rule of an instruction on shared memory, of a generic address in its window."""
    own = on_shared(mnemonic)
    if own is None or (shared := rule_of(own)) is None:
        return None

    def rule(reader: Reader, operands: str) -> None:
        outer, texts, places = reader.scope, list[str](), dict[str, Variable | Symbol]()
        for operand in read(operands):
            texts.append(operand.text)
            if operand.kind == "address":
                generic, offset = reader.address(operand, "b64")
                own = reader.scalar("cvta.to.shared.u64", generic)
                name = f"$place{len(texts)}"
                places[name] = place = Variable("b32")
                reader.registers[place] = reader.resized(own, "b32")
                texts[-1] = f"[{name}+{offset}]"
        reader.scope = Names(outer, places)
        shared.read(reader, ", ".join(texts))
        reader.scope = outer

    return ReadingRule(rule)


@reads("and")
def _and(mnemonic: str) -> ReadingRule | None:
    """One of addresses with a mask is a map to the leader of a pair."""
    rule = scalar_rule(mnemonic)
    if rule is None or mnemonic != "and.b32":
        return rule

    def read_masked(reader: Reader, operands: str) -> None:
        rule.read(reader, operands)
        made = reader.block.last_op
        mask = made.operands[1].owner if isinstance(made, scalars.AndOp) else None
        if made is not None and isinstance(mask, ConstOp) and mask.unsigned in LEADER_MASKS:
            reader.masked.append(made)

    return dataclasses.replace(rule, read=read_masked)


@reads("mbarrier")
def _mbarrier(mnemonic: str) -> ReadingRule | None:
    """A wait in a loop of its own, which is one op, or in another one of the text; an arrival."""
    if mnemonic == MBARRIER_ARRIVE.mnemonic:
        return _arrival(MBARRIER_ARRIVE_COUNT, mbarrier.ArriveOp, mbarrier.ArriveStateOp)
    if mnemonic == MBARRIER_ARRIVE_EXPECT_TX.mnemonic:
        ops = mbarrier.ArriveExpectTxOp, mbarrier.ArriveExpectTxStateOp
        return _arrival(MBARRIER_ARRIVE_EXPECT_TX, *ops)
    if mnemonic not in (MBARRIER_TRY_WAIT.mnemonic, MBARRIER_TRY_WAIT_CLUSTER.mnemonic):
        return None
    cluster = mnemonic == MBARRIER_TRY_WAIT_CLUSTER.mnemonic
    operands = MBARRIER_TRY_WAIT.operands
    loop = by_fields(mbarrier.TryWaitParityOp, {"cluster": cluster}, operands)
    once = by_fields(mbarrier.AskOp, {"form": mnemonic.partition(".")[2]}, operands)

    def rule(reader: Reader, operands: str) -> None:
        dest, _, rest = operands.partition(",")
        dest, _, branch = dest.partition(".")
        (loop if dest == "_" else once).read(reader, f"{dest},{rest}")
        if branch and (wait := reader.block.last_op):
            wait.attributes[mbarrier.TWO_WAYS] = StringAttr(branch)

    return ReadingRule(rule)


@cache
def _copies() -> dict[str, tuple[Any, Any]]:
    ops = [op for op in OPS.values() if issubclass(op, bulk_copy.AsyncBulkOp)]
    return {form: (op, row) for op in ops for row in op.ROWS for form in row.forms}


def _wait_for_all(reader: Reader, _: str) -> None:
    """The instructions that it is equal to: PTX ISA 9.7.9.25.3.3."""
    reader.add(data_movement.CpAsyncCommitGroupOp())
    reader.add(data_movement.CpAsyncWaitGroupOp(0))


def _unless_ignored(copy: ReadingRule, reader: Reader, operands: str) -> None:
    """A copy, of nothing but zeros where a predicate holds that stands for the size of its
    source."""
    *whole, left = pieces(operands)[:4]
    named, outer = reader.scope.find(left.lstrip("! ")), reader.scope
    if isinstance(named, Variable) and named.kind == "pred":
        sizes = (reader.take(size, "b32") for size in ("0", whole[2]))
        chosen = reader.scalar("selp.b32", *sizes, reader.take(left, "pred"))
        reader.scope = Names(outer, {"$left": (place := Variable("b32"))})
        reader.registers[place] = chosen
        operands = ", ".join((*whole, "$left", *pieces(operands)[4:]))
    copy.read(reader, operands)
    reader.scope = outer


@reads("cp")
def _copy(mnemonic: str) -> ReadingRule | None:
    for row in (CP_ASYNC, CP_ASYNC_PREFETCH):
        for cache_ in row.sizes:
            if mnemonic == row.mnemonic(cache_):
                plain = by_fields(data_movement.CpAsyncOp, {"cache": cache_}, row.operands(cache_))
                return ReadingRule(partial(_unless_ignored, plain))
    if mnemonic == "cp.async.wait_all":
        return ReadingRule(_wait_for_all)
    if mnemonic not in _copies():
        return None
    op, row = _copies()[mnemonic]
    properties = dict[str, Any]()
    if issubclass(op, bulk_copy.TensorCopyOp):
        flags = (("pair", "cta_group::2"), ("own", "shared::cta.global"))
        properties = {"mode": row.mode} | {name: True for name, word in flags if word in mnemonic}
    if op is bulk_copy.TensorReduceOp:
        properties["kind"] = next(k for (k, _), of in tma.TENSOR_REDUCTIONS.items() if of is row)
    if forms := getattr(op, "FORMS", None):
        properties["form"] = next(k for k, of in forms.items() if of is row)
    return by_fields(op, properties, row.forms[mnemonic])
