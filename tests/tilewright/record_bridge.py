"""Records bridge_recorded.json: what PyPI cuda-tile makes of the kernels of bridge_kernels.py.

python tests/tilewright/record_bridge.py
"""

from __future__ import annotations

import base64
import json
import linecache
from pathlib import Path
from typing import Any

import numpy as np
from recorded_cuda_tile import FILE, standing_in

import tilewright as tw

SOURCE = Path(__file__).with_name("bridge_kernels.py")


def kernels() -> dict[str, Any]:
    """The kernels, under a file name that does not tell where this checkout lies."""
    text, name = SOURCE.read_text(), f"/{SOURCE.name}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": SOURCE.stem}
    exec(compile(text, name, "exec"), names)
    return {name: value for name, value in names.items() if hasattr(value, "_annotated_function")}


def cases() -> list[tuple[str, tuple[Any, ...]]]:
    """Kernels and arguments whose bytecode the tests want."""
    f32, f64 = np.zeros(100, np.float32), np.zeros(100)
    row, table = np.zeros(16, np.float32), [np.zeros((4, 8), np.float32) for _ in range(3)]
    return [
        ("add", (f32, f32.copy(), f32.copy(), 32)),
        ("add", (f64, f64.copy(), f64.copy(), 32)),
        ("add", (f32[::2], f32[:50].copy(), f32[:50].copy(), 32)),
        ("everywhere_at_once", (f32, f32.copy(), 32)),
        ("of_pair", ((row, row.copy()), row.copy(), (0.5, 3))),
        ("of_list", (table, table[0].copy())),
    ]


def annotation(node: Any) -> Any:
    """What of an annotation the recording keeps."""
    items = getattr(node, "items", None)
    return bool(getattr(node, "constant", False)) if items is None else list(map(annotation, items))


def main() -> None:
    """Write the recording."""
    known = kernels()
    bytecode: dict[str, str] = {}
    for name, args in cases():
        with standing_in({}):
            key = f"{name}: {tw.cutile.signature(known[name], args)!r}"
        made = tw.cutile.bytecode(known[name], args)
        bytecode[key] = base64.b64encode(made).decode()
    functions = {name: known[name]._annotated_function for name, _ in cases()}
    recorded = {
        name: dict(
            zip(each.pysig.parameters, map(annotation, each.parameter_annotations), strict=True)
        )
        for name, each in functions.items()
    }
    FILE.write_text(json.dumps({"kernels": recorded, "bytecode": bytecode}, indent=1) + "\n")


if __name__ == "__main__":
    main()
