"""`cute_nvgpu.multimem` to `ptx.multimem`."""

from tilewright.dialects.cute_nvgpu.ops import multimem
from tilewright.dialects.ptx import multimem as ptx
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_address import from_words, to_words
from tilewright.lowering.to_ptx.convert_arith import storage_of


@lowers(multimem.MultimemLoadReduceOp)
def _load_reduce(op: multimem.MultimemLoadReduceOp, to: Conversion) -> None:
    storage, per_word = storage_of(op, op.types[0]), multimem.elements_per_word(op.types[0])
    otherwise = predicate = None
    if op.predicate is not None:
        predicate = to[op.predicate]
        otherwise = to_words([to[x] for x in op.otherwise], storage, per_word, to)
    load = ptx.MultimemLoadReduceOp(
        to[op.address], ptx.register_of(op.form), op.form, op.offset,
        predicate=predicate, otherwise=otherwise,
    )  # fmt: skip
    elements = from_words(to.emit(load), len(op.types), storage, per_word, to)
    for result, value in zip(op.elements, elements, strict=True):
        to[result] = value


@lowers(multimem.MultimemStoreOp, multimem.MultimemReduceOp)
def _write(op: multimem.MultimemStoreOp | multimem.MultimemReduceOp, to: Conversion) -> None:
    storage, per_word = storage_of(op, op.types[0]), multimem.elements_per_word(op.types[0])
    words = to_words([to[x] for x in op.elements], storage, per_word, to)
    predicate = to.given(op.predicate)
    stores = isinstance(op, multimem.MultimemStoreOp)
    write = ptx.MultimemStoreOp if stores else ptx.MultimemReduceOp
    to.add(write(words, to[op.address], op.form, op.offset, predicate=predicate))
