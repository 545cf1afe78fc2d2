"""Write the CHECK lines of lowering tests anew: python tests/filecheck/update_checks.py FILE...

For files that say `// CHECKS: all` (every line of each kernel's ptx IR) or `// CHECKS:
instructions` (which ones, in order, without the numbers of values). Review what it changes like
any other code.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

OPT = Path(sys.executable).with_name("tilewright-opt")
CHECK = re.compile(r"// CHECK(-\w+)?:")
ENTRY = re.compile(r"^  ptx\.entry @(\w+).*?^  \}\n", re.MULTILINE | re.DOTALL)
KERNEL = re.compile(r"func\.func @(\w+)")
# Beside the point of `instructions`: constants, stores, and what turns an i1 into a byte to store.
BESIDE = re.compile(r"ptx\.(const|st|cvta|ret)\b|^\}$|selp b16 %\d+, %\d+, %(\d+|a|b)$")
NUMBERED = re.compile(r"(= ptx\.\S+(?: [a-zA-Z]\S*)?) [^:]*%\d+[^:]*(?: :.*)?$")


def checks(entry: str, mode: str) -> list[str]:
    """The CHECK lines of one kernel."""
    first, *rest = (line.strip() for line in entry.splitlines())
    if mode == "all":
        return [f"// CHECK-LABEL: {first}", *(f"// CHECK-NEXT:    {line}" for line in rest)]
    kept = [re.sub(r"^%\d+ = ", "= ", line) for line in rest if not BESIDE.search(line)]
    return [
        f"// CHECK-LABEL: {first}",
        *(f"// CHECK:         {NUMBERED.sub(lambda found: found[1], line)}" for line in kept),
    ]


def update(path: Path) -> None:
    text = path.read_text()
    mode = re.search(r"^// CHECKS: (all|instructions)$", text, re.MULTILINE)
    if mode is None:
        sys.exit(f"{path}: expected a line '// CHECKS: all' or '// CHECKS: instructions'")
    lines = [line for line in text.splitlines() if not CHECK.match(line)]
    command = [OPT, path, "-p", "convert-cute-nvgpu-to-ptx"]
    lowered = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    entries = {found[1]: found[0] for found in ENTRY.finditer(lowered)}
    written: list[str] = []
    for line in lines:
        if (kernel := KERNEL.match(line)) is not None:
            written += checks(entries[kernel[1]], mode[1])
        written.append(line)
    path.write_text("\n".join(written) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        update(Path(name))
