# ruff: noqa: F821
# pyright: reportUndefinedVariable=false
"""lit's configuration: `lit tests/filecheck`. Every tool comes from the environment lit runs in."""

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent

sys.path.append(str(FOLDER))
from warm_shell import WarmShell, is_warm, warm_up  # noqa: E402

if is_warm(lit_config):
    warm_up()

config.name = "tilewright"
config.test_format = WarmShell(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = str(FOLDER)
config.test_exec_root = str(FOLDER / "Output")
config.environment["PATH"] = os.pathsep.join([str(TOOLS), os.environ.get("PATH", "")])
if "TILEWRIGHT_PTXAS" in os.environ:
    config.environment["TILEWRIGHT_PTXAS"] = os.environ["TILEWRIGHT_PTXAS"]
config.substitutions += [
    ("%examples", str(FOLDER.parents[1] / "examples")),
    # Assemble PTX from stdin: `... -t ptx | %ptxas sm_80`; a warning fails.
    ("%ptxas", f'"{sys.executable}" -m tilewright.launch.ptxas'),
]
