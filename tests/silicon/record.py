"""Record what a chip computes: run on a machine with a GPU, from the project's root.

    python tests/silicon/record.py tests/silicon/fixtures

Writes scalar.npz, mma.npz, matrix_copies.npz, wmma.npz, wgmma.npz, cluster_addresses.npz,
image_copies.npz and made_maps.npz: the
results of every scalar instruction form, every `mma.sync`, every matrix copy, every `wmma` with its
loads and stores, and every `wgmma` that the chip runs, on the inputs of inputs.py,
matrix_copies.py, wmma_matrices.py and warpgroup_mmas.py, and the addresses that `mapa` gives. The
test_*fixtures.py and test_cluster_addresses.py compare the interpreter to them.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import cluster_addresses
import warpgroup_mmas
from image_copies import IMAGE_COPIES
from inputs import MMA_CASES, THREADS, form_inputs, mma_inputs
from kernels import access_type, mma_kernel, scalar_forms, scalar_kernel
from made_maps import MADE_MAPS, launched
from matrix_copies import arguments, copies_of, kernel, result
from wmma_matrices import access_arguments, access_kernel, access_result, accesses_of

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, MOVMATRIX, WMMA_MMA, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.ptx.types import KINDS
from tilewright.launch.launcher import device_arch, device_name


def all_mmas(
    arch: str, rows: Iterable[MmaRow] = MMA_ROWS
) -> list[tuple[str, MmaAtom, tuple[int, ...]]]:
    """Every atom that the chip runs, with every modifier and all of its selectors; and a name."""
    return [
        (" ".join([atom.mnemonic, *map(str, selectors)]), atom, selectors)
        for row in rows
        if target(arch).supports(row.target)
        for atom in atoms_of(row)
        for selectors in product(*(each.legal for each in atom.selectors))
    ]


def record_scalars(arch: str) -> dict[str, Any]:
    """The results of every scalar form, by mnemonic, and the seeds of their inputs."""
    results: dict[str, Any] = {}
    seeds = {name: zlib.crc32(name.encode()) for name in scalar_forms(arch)}
    for name, (op, form) in scalar_forms(arch).items():
        row = op.ROW.forms[form]
        inputs = form_inputs(row, seeds[name])
        out = np.zeros(THREADS, dtype=f"uint{KINDS[access_type(row.result)]}")
        kernel = tw.compile(scalar_kernel(op, form), arch)
        results[name] = kernel.launch(*inputs, out, grid=(1,), block=(THREADS,))[-1]
    return {**results, "names": np.array(list(seeds)), "seeds": np.array(list(seeds.values()))}


def record_mmas(arch: str, rows: Iterable[MmaRow] = MMA_ROWS) -> dict[str, Any]:
    """The results of every atom, uint32 [cases, 32, words], by mnemonic and selectors."""
    results: dict[str, Any] = {}
    for name, atom, selectors in all_mmas(arch, rows):
        kernel = tw.compile(mma_kernel(atom, selectors), arch)
        kind, count = atom.registers("D")
        cases: list[Any] = []
        for case in range(MMA_CASES):
            out = np.zeros((WARP, count * register_bits(kind) // 32), dtype=np.uint32)
            inputs = mma_inputs(atom, selectors, case)
            cases.append(kernel.launch(*inputs, out, grid=(1,), block=(WARP,))[-1])
        results[name] = np.stack(cases)
    return results


def record_matrix_copies(arch: str) -> dict[str, Any]:
    """The results of every matrix copy, by mnemonic."""
    results: dict[str, Any] = {}
    for copy in (None, *copies_of(arch)):
        compiled = tw.compile(kernel(copy), arch)
        outputs = compiled.launch(*arguments(copy), grid=(1,), block=(WARP,))
        results[MOVMATRIX.mnemonic if copy is None else copy.mnemonic] = result(copy, outputs)
    return results


def record_wmma(arch: str) -> dict[str, Any]:
    """The results of every `wmma`, by mnemonic."""
    results = record_mmas(arch, WMMA_MMA)
    for name, access, space in accesses_of(arch):
        kernel = tw.compile(access_kernel(access, space), arch)
        outputs = kernel.launch(*access_arguments(access, space), grid=(1,), block=(WARP,))
        results[name] = access_result(access, outputs)
    return results


def record_wgmma(arch: str) -> dict[str, Any]:
    """The results of every `wgmma`, by name: the SHA-256 of D's words of each case and, at the
    smallest N, D's words of the first case, uint32 [128, words]."""
    results: dict[str, Any] = {}
    if not target(arch).supports(target("sm_90a")):
        return results
    for form in warpgroup_mmas.forms():
        compiled = tw.compile(warpgroup_mmas.kernel(form), arch)
        cases = [
            compiled.launch(
                *warpgroup_mmas.arguments(form, case), grid=(1,), block=(warpgroup_mmas.WARPGROUP,)
            )[-1]
            for case in range(warpgroup_mmas.CASES)
        ]
        if form.is_smallest:
            results[form.name] = cases[0]
        results[f"{form.name} digests"] = np.stack([warpgroup_mmas.digest(d) for d in cases])
    return results


def record_cluster_addresses(arch: str) -> dict[str, Any]:
    """The address of one place in each CTA of a cluster."""
    if not target(arch).supports(target("sm_90")):
        return {}
    kernel, ranks = tw.compile(cluster_addresses.KERNEL, arch), cluster_addresses.RANKS
    out = np.zeros(ranks, np.uint32)
    return {"mapa": kernel.launch(out, grid=(ranks,), block=(1,))[0]}


def record_image_copies(arch: str) -> dict[str, Any]:
    """What copies of pixels read or write, by name."""
    if not target(arch).supports(target("sm_90")):
        return {}
    results: dict[str, Any] = {}
    for copy in IMAGE_COPIES:
        kernel = tw.compile(copy.text, arch)
        results[copy.name] = copy.result(kernel.launch(*copy.arguments(), grid=(1,), block=(WARP,)))
    return results


def record_made_maps(arch: str) -> dict[str, Any]:
    """What copies by tensor maps change that kernels make, one after the other: nothing, where they
    trap, which ends a process."""
    if not target(arch).supports(target("sm_90a")):
        return {}
    with ProcessPoolExecutor(8, max_tasks_per_child=1, mp_context=get_context("spawn")) as pool:
        changes = list(pool.map(launched, MADE_MAPS))
    return {
        "names": np.array([made.name for made in MADE_MAPS]), "changed": np.concatenate(changes),
        "ends": np.cumsum([len(change) for change in changes]),
    }  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    arch = device_arch()
    chip = np.array([device_name(), arch])
    for name, results in (
        ("scalar", record_scalars(arch)),
        ("mma", record_mmas(arch)),
        ("matrix_copies", record_matrix_copies(arch)),
        ("wmma", record_wmma(arch)),
        ("wgmma", record_wgmma(arch)),
        ("cluster_addresses", record_cluster_addresses(arch)),
        ("image_copies", record_image_copies(arch)),
        ("made_maps", record_made_maps(arch)),
    ):
        np.savez_compressed(folder / f"{name}.npz", chip=chip, **results)
        print(f"{name}: {len(results)} instructions on {device_name()}")


if __name__ == "__main__":
    main()
