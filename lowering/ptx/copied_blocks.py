"""Blocks of a kernel had several times, so that each copy may have registers of its own."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from tilewright.dialects.ptx.control_flow import BraOp
from tilewright.lowering.ptx.edges import Edge, redirect


class CopiedBlocks:
    """Blocks with one way in, to the first of them, and one way out, to `exit`, which nothing else
    leads to. What they leave behind becomes arguments of the exit.

    Each copy of a loop goes on with another, the last with the first. `headers` are where the
    copies begin, `all_blocks` theirs too.
    """

    def __init__(self, blocks: Sequence[Block], exit: Block):
        self.blocks = list(blocks)
        self.headers = [self.blocks[0]]
        self.all_blocks = set(blocks)
        self._exit = exit
        self._following = self.blocks[0]
        self._close()

    def _close(self) -> None:
        """Let values that the blocks define reach what is behind them through the exit."""
        inside = set(self.blocks)
        for block in self.blocks:
            values = [*block.args, *(result for op in block.ops for result in op.results)]
            for value in values:
                outside = [use for use in value.uses if use.operation.parent not in inside]
                if outside:
                    argument = self._exit.insert_arg(value.type, len(self._exit.args))
                    argument.name_hint = value.name_hint
                    for use in outside:
                        use.operation.operands[use.index] = argument
                    self._pass(value)

    def _pass(self, value: SSAValue) -> None:
        self._change(self._exit, lambda edge: replace(edge, values=(*edge.values, value)))

    def _change(self, dest: Block, change: Callable[[Edge], Edge]) -> None:
        """Change the ways from the blocks to one."""
        for block in self.blocks:
            redirect(block, lambda edge: change(edge) if edge.dest is dest else edge)

    def copy(self) -> Block:
        """Make a copy, which follows the first blocks where they are a loop: where it begins."""
        values: dict[SSAValue, SSAValue] = {}
        blocks = {block: Block(arg_types=block.arg_types) for block in self.blocks}
        region = self._exit.parent
        place = self._exit if len(self.headers) == 1 else self.headers[-1]
        assert region is not None
        header = blocks.pop(self.blocks[0])
        copies = [header, *blocks.values()]
        for block, copy in zip(self.blocks, copies, strict=True):
            copy.name_hint = block.name_hint
            values |= zip(block.args, copy.args, strict=True)
            copy.add_ops(op.clone(values, blocks, clone_operands=False) for op in block.ops)
        for block, copy in zip(self.blocks, copies, strict=True):
            for op, clone in zip(block.ops, copy.ops, strict=True):
                clone.operands = [values.get(operand, operand) for operand in op.operands]
        region.insert_block_before(copies, place)
        # The ways back to where the first blocks begin go to the copy, and its own where they went.
        self._change(self._following, lambda edge: replace(edge, dest=header))
        self._following = header
        self.headers.append(header)
        self.all_blocks.update(copies)
        return header


def split(last: Operation) -> Block:
    """Cut the block of an op behind it: the rest, with pure ops before that are for it alone."""
    block, following = last.parent, last.next_op
    assert block is not None and following is not None, "a terminator ends the block"
    rest = block.split_before(following)
    block.add_op(branch := BraOp(rest, ()))
    branch.location = last.location
    for op in reversed(list(block.ops)):
        if not op.has_trait(Pure):
            continue
        here = [
            use for result in op.results for use in result.uses if use.operation.parent is block
        ]
        first = rest.first_op
        assert first is not None
        if not here:
            op.detach()
            rest.insert_op_before(op, first)
        elif not op.operands:
            rest.insert_op_before(clone := op.clone(), first)
            for result, other in zip(op.results, clone.results, strict=True):
                result.replace_uses_with_if(other, lambda use: use.operation.parent is not block)
    return rest
