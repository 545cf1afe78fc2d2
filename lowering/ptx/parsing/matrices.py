"""Matrix instructions as ops: their operands by the atom that the mnemonic names."""

from dataclasses import replace
from itertools import product
from typing import Any

from xdsl.ir import Block, SSAValue

from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.operands import (
    mma_operands,
    tmem_access_operands,
    tmem_reduction_operands,
    umma_operands,
    wgmma_operands,
    wmma_access_operands,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import (
    find_access,
    find_tmem_shape,
    parse_access,
)
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import parse_mnemonic
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import parse_wgmma
from tilewright.dialects.cute_nvgpu.atoms.wmma import parse_access as parse_wmma_access
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Constant, Selectors
from tilewright.dialects.cute_nvgpu.lattice.operand_text import Written, read
from tilewright.dialects.cute_nvgpu.lattice.tmem import (
    CTA_GROUPS,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import TMEM_COPY, TMEM_COPY_SHAPES
from tilewright.dialects.ptx import (
    matrix,
    tcgen05_access,
    tcgen05_memory,
    tcgen05_sync,
    wgmma,
    wmma,
)
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.lowering.ptx.parsing.instructions import OPS, by_fields, reads, words_of
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule


@reads("mma", "wmma")
def _mma(mnemonic: str) -> ReadingRule | None:
    if mnemonic.startswith(("wmma.load", "wmma.store")):
        return _wmma_access(mnemonic)
    atom = parse(mnemonic)
    op = wmma.MmaOp if mnemonic.startswith("wmma") else matrix.MmaOp
    forms = mma_operands(atom)

    def rule(reader: Reader, operands: str) -> None:
        dest, *sources = read(operands)
        inputs, selectors = list[Any](), list[Any]()
        for form, source in zip(forms[1:], sources, strict=True):
            match form:
                case Constant():
                    selectors.append(source.value)
                case Selectors():
                    selectors += (
                        item.value if item.kind == "integer" else reader.take(item.text, "b16")
                        for item in source.items
                    )
                case _:
                    inputs.append(reader.list_of(words_of(source), form.register))  # type: ignore[attr-defined]
        reader.give_list(words_of(dest), reader.result(op(inputs, atom, selectors)))

    return ReadingRule(rule, kind=atom.registers("D")[0])


def _wmma_access(mnemonic: str) -> ReadingRule:
    access, space = parse_wmma_access(mnemonic)
    op = OPS[access.op]
    properties = {"form": op.form_of(access.mnemonic(space))}
    return by_fields(op, properties, wmma_access_operands(access))


@reads("wgmma")
def _wgmma(mnemonic: str) -> ReadingRule | None:
    if not mnemonic.startswith("wgmma.mma_async."):
        return None
    atom = parse_wgmma(mnemonic)
    kind = atom.registers("D")[0]

    def rule(reader: Reader, operands: str) -> None:
        dest, a, *rest = read(operands)
        in_registers = a.kind == "vector"
        placed = replace(atom, frag_kind="rs" if in_registers else "ss")
        forms = wgmma_operands(placed)
        given = {form.name: operand for form, operand in zip(forms[2:], rest, strict=True)}
        names, scale = words_of(dest), given["scale-d"]
        fields: dict[str, Any] = {
            "form": wgmma.WgmmaOp.form_of(atom.mnemonic),
            "a": reader.list_of(words_of(a), placed.registers("A")[0]) if in_registers
            else reader.take(a.text, "b64"),
            "b": reader.take(given["b-desc"].text, "b64"),
            "immediates": [given[name].value for name in placed.immediates] or None,
        }  # fmt: skip
        if "sp-meta" in given:
            fields["metadata"] = reader.take(given["sp-meta"].text, "b32")
            fields["selector"] = given["sp-sel"].value
        _chosen(reader, fields, "scale_d", scale)
        fields["c"] = reader.list_of(names, kind)
        fields["d"] = fields["c"].type
        reader.give_list(names, reader.result(wgmma.WgmmaOp.of_fields(**fields)))

    return ReadingRule(rule, kind=kind)


def _chosen(reader: Reader, fields: dict[str, Any], name: str, written: Written) -> None:
    """The fields that say when an MMA accumulates: always, never (`zero`), or by a predicate that
    no constants decide."""
    value = None if written.kind == "integer" else reader.take(written.text, "pred")
    is_on = written.value if value is None else _decided(value, reader.block)
    if is_on is None:
        fields[name] = value
    else:
        fields["zero"] = not is_on


def _decided(predicate: SSAValue, block: Block) -> bool | None:
    """The result of `setp.ne` on two constants in the block of its MMA; None of anything else."""
    compare = predicate.owner
    if not isinstance(compare, SCALAR_OPS["setp"]) or not compare.form.data.startswith("ne."):
        return None
    if compare.parent is not block:
        return None
    sides = [operand.owner for operand in compare.operands]
    known = [side.unsigned for side in sides if isinstance(side, ConstOp)]
    return known[0] != known[1] if len(known) == 2 else None


def _access(mnemonic: str) -> ReadingRule | None:
    access = parse_access(mnemonic)
    op = tcgen05_access.LdOp if mnemonic.startswith("tcgen05.ld.") else tcgen05_access.StOp
    properties = {"shape": access.shape.name, "packed": access.packed}
    return by_fields(op, properties, tmem_access_operands(op.ROW, access))


def _commit(mnemonic: str) -> ReadingRule | None:
    op = tcgen05_sync.CommitOp
    for row, group, generic in product(op.ROWS, CTA_GROUPS, (False, True)):
        if row.spellings[generic].format(group=group) == mnemonic:
            return by_fields(op, {"cta_group": group, "generic": generic}, row.operands)
    return None


def _reduction(mnemonic: str) -> ReadingRule | None:
    *_, shape, number, form = mnemonic.split(".", 6)
    tile = find_tmem_shape(shape)
    access = find_access(tile, int(number[1:]) * tile.per_number)
    return by_fields(
        tcgen05_access.LdRedOp, {"shape": shape, "form": form}, tmem_reduction_operands(access)
    )


def _tmem_copy(mnemonic: str) -> ReadingRule | None:
    for shape, group, source in product(TMEM_COPY_SHAPES, CTA_GROUPS, (None, *TMEM_COPY.formats)):
        if TMEM_COPY.mnemonic(TMEM_COPY_SHAPES[shape], group, source) == mnemonic:
            properties = {"shape": shape, "cta_group": group, "source_format": source}
            return by_fields(tcgen05_memory.CpOp, properties, TMEM_COPY.operands)
    return None


def _umma(mnemonic: str) -> ReadingRule | None:
    said = parse_mnemonic(mnemonic)

    def rule(reader: Reader, operands: str) -> None:
        written = read(operands)
        place = "ts" if written[1].kind == "address" else "ss"
        masked = any(operand.kind == "vector" for operand in written)
        fields: dict[str, Any] = {"form": mnemonic.removeprefix("tcgen05.mma.")}
        for form, operand in zip(umma_operands(said, place, masked=masked), written, strict=False):
            [field] = Tcgen05MmaOp.fields_of(form)
            if field == "accumulates":
                _chosen(reader, fields, "enable_input_d", operand)
            elif field == "scale_input_d":
                fields[field] = operand.value
            elif operand.kind == "vector":
                fields[field] = reader.list_of(words_of(operand), "b32")
            else:
                kind = "b64" if form.name.endswith("-desc") else "b32"
                fields[field] = (
                    reader.address(operand, kind, apart=False)[0] if operand.kind == "address"
                    else reader.take(operand.text, kind)
                )  # fmt: skip
        reader.add(Tcgen05MmaOp.of_fields(**fields))

    return ReadingRule(rule)


_TENSOR_MEMORY = {
    "mma": _umma, "cp.": _tmem_copy, "commit.": _commit, "ld.red.": _reduction, "ld.": _access,
    "st.": _access,
}  # fmt: skip


@reads("tcgen05")
def _tensor_memory(mnemonic: str) -> ReadingRule | None:
    for start, rule_of in _TENSOR_MEMORY.items():
        if mnemonic.startswith(f"tcgen05.{start}"):
            return rule_of(mnemonic)
    return None
