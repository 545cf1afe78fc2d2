"""Triton's own front end, as launches on the CPU have it."""

import ast
import collections
import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import triton
import triton_kernels as kernels
from triton.compiler import ASTSource, CompilationError, code_generator

import tilewright as tw


def test_the_front_end_reads_a_text_once(monkeypatch):
    read, parse, filters = [], ast.parse, [*warnings.filters]
    monkeypatch.setattr(ast, "parse", lambda text: read.append(text) or parse(text))
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    with tw.triton.on_cpu():
        kernels.add.device_caches.clear()
        kernels.add.hash = None
        kernels.add.warmup(*[np.zeros(32, np.int16)] * 3, 32, BLOCK=32, grid=(1,))
    assert read == [kernels.add.src] and warnings.filters == filters
    assert code_generator.warnings is warnings and code_generator.inspect is inspect


def test_a_functions_text_is_looked_for_once_in_a_file(tmp_path, monkeypatch):
    file, ends, getblock = tmp_path / "written.py", [], inspect.getblock
    monkeypatch.setattr(inspect, "getblock", lambda lines: ends.append(1) or getblock(lines))
    with tw.triton.on_cpu():
        for count in (1, 2):
            file.write_text("def kernel(x):\n" + "    x += 1\n" * count + "other = 1\n")
            names = {}
            exec(compile(file.read_text(), file, "exec"), names)
            texts = [triton.JITFunction(names["kernel"]).raw_src for _ in range(2)]
            assert texts == [["def kernel(x):\n", *["    x += 1\n"] * count]] * 2
            assert len(ends) == count


def test_classes_of_triton_alone_are_made_once():
    out = np.zeros(4, np.float32)
    with tw.triton.on_cpu():
        kernels.add.device_caches.clear()
        few, many = (
            kernels.add.warmup(out, out, out, 4, BLOCK=block, grid=(1,)) for block in (2, 4)
        )
        pairs = [collections.namedtuple("Pair", "a b") for _ in range(2)]
    assert type(few.metadata) is type(many.metadata) and few.metadata != many.metadata
    assert pairs[0] is not pairs[1] and pairs[0].__module__ == __name__


def test_wrong_calls_of_functions_are_what_python_says():
    with pytest.raises(CompilationError, match=r"TypeError\(.*missing .*'x'"), tw.triton.on_cpu():
        kernels.miscalling[(1,)](np.zeros(4, np.int32))


def test_functions_are_inlined_where_they_are_called(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    common, inlined = triton._C.libtriton.passes.common, []
    add = common.add_inliner
    monkeypatch.setattr(common, "add_inliner", lambda manager: inlined.append(1) or add(manager))
    out = np.zeros(4, np.int32)
    with tw.triton.on_cpu():
        kernels.racing.device_caches.clear()
        kernels.racing.warmup(out, BLOCK=4, grid=(1,))
        assert not inlined
        called = kernels.calling[(1,)](out + 2, out, BLOCK=4)
    assert inlined and (out == 4).all()
    assert "tt.call" in called.asm["source"] and "tt.call" not in called.asm["ttir"]


def test_a_thread_compiles_in_one_context_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    contexts, make_ir = [], ASTSource.make_ir
    monkeypatch.setattr(
        ASTSource, "make_ir", lambda *all_: contexts.append(all_[-1]) or make_ir(*all_)
    )

    def run(block):
        out = np.zeros(block, np.float32)
        kernels.add[(1,)](out + 1, out + 2, out, block, BLOCK=block)
        assert (out == 3).all()

    with tw.triton.on_cpu(), ThreadPoolExecutor(1) as other:
        kernels.add.device_caches.clear()
        for runs, sizes in ((map, (2, 4)), (other.map, (8, 32))):
            list(runs(run, sizes))
    first, again, others, others_again = contexts
    assert first is again and others is others_again and others is not first
