"""`python -m tilewright.cutile_script`: what it says without a script."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cuda.tile as ct
import numpy as np
import pytest
from bridge_kernels import add
from cuda.tile._compile import compile_cubin
from cuda.tile._compiler_options import CompilerOptions
from cuda.tile.compilation import export_kernel

from tilewright import cutile, triton_script
from tilewright.cutile import device
from tilewright.cutile.device import HostEvent, HostStream, cutile_answers
from tilewright.cutile_script import main, stand_in
from tilewright.launch.launcher import LaunchError


def test_a_script_has_to_be_named(capsys: pytest.CaptureFixture[str]):
    for arguments in ([], ["no/such/script.py"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    assert "expected a script, got no/such/script.py" in capsys.readouterr().err


def test_a_capability_has_two_numbers(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["--capability", "blackwell", __file__])
    assert ended.value.code == 2
    assert "expected a compute capability such as 10.0" in capsys.readouterr().err


@pytest.mark.parametrize("script", [main, triton_script.main])
def test_wrong_options_are_usage_errors(script: Any, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        script(["--check", "pading", __file__])
    assert ended.value.code == 2
    said = "--check: expected check as words of padding, unwritten, nan, integers with commas"
    assert said in capsys.readouterr().err


SUITE = """
import cuda.tile as ct, numpy as np, pytest

@ct.kernel
def one(a):
    ct.store(a, (ct.bid(0),), ct.ones((4,), ct.float32))

@pytest.mark.parametrize("blocks", [1, 2])
def test_ones(blocks):
    a = np.zeros(4 * blocks, np.float32)
    for _ in range(blocks):
        ct.launch(None, (blocks,), one, (a,))
    assert a.all()

def test_rank():
    with pytest.raises(ct.TileTypeError):
        ct.launch(None, (1,), one, (np.zeros((2, 2)),))
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_suite_says_how_many_launches_were_ours(
    pytester: pytest.Pytester, workers: tuple[str, ...]
):
    pytester.makepyfile(SUITE)
    plugin = ("-p", "tilewright.cutile_pytest", "--tilewright", "cpu")
    ran = pytester.runpytest_inprocess(*plugin, *workers, "-q")
    ran.stdout.fnmatch_lines(["*4 launches by tilewright*", "*3 passed*"])


def started(command: list[object]) -> Any:
    """The command that a script starts in place of its own."""
    with stand_in(gpu=False, told=(10, 0), check="integers"):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.kill()
    process.communicate()
    return process.args


def test_scripts_start_others_as_they_run():
    ours = ["--numerics", "exact", "--races", "warn", "--check", "integers", "--capability", "10.0"]
    python, script = sys.executable, Path("child.py")
    assert started([python, "-u", script, "-x"]) == [
        *(python, "-u", "-m", "tilewright.cutile_script", *ours, "child.py", "-x")
    ]
    for command in ([python, "-c", "pass"], [python, "-m", "this"], ["/bin/true", script]):
        assert started(command) == command


def test_what_was_launched_on_a_stream_is_done():
    stream = HostStream(device="cuda")
    event = stream.record_event()
    stream.wait_event(event)
    assert stream.query()
    assert event.elapsed_time(stream.record_event(HostEvent())) >= 0


def test_cutile_is_told_of_a_gpu():
    from cuda.tile import _cext

    with cutile_answers((10, 0)):
        assert _cext.get_compute_capability() == (10, 0)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_cutile_compiles_by_tilewright(arch: str):
    a, file = np.zeros(128, np.float32), io.BytesIO()
    signatures = [cutile.signature(add, (a, a, a, 128))]
    with cutile_answers((9, 0)):
        export_kernel(add, signatures, file, gpu_code=arch, output_format="cubin")
    assert file.getvalue()[:4] == b"\x7fELF"


def test_what_does_not_compile_is_an_error_of_cutiles_compiler(tmp_path: Path):
    (tmp_path / "k.bytecode").write_bytes(b"no bytecode")
    with cutile_answers((9, 0)), pytest.raises(ct.TileCompilerExecutionError, match="no is not"):
        compile_cubin(str(tmp_path / "k.bytecode"), CompilerOptions(), "sm_90", None)


def test_launches_by_jax_are_refused(monkeypatch: pytest.MonkeyPatch):
    """XLA would launch machine code of ours as tileiras' own."""
    own = SimpleNamespace(compile_kernel=lambda kernel, constraints: b"machine code")
    monkeypatch.setitem(sys.modules, "cuda.tile.jax._jax", own)
    monkeypatch.setattr(device, "find_spec", lambda name: name == "jax")
    with cutile_answers((9, 0)), pytest.raises(LaunchError, match="got JAX's cutile_call"):
        own.compile_kernel(add, [])
    assert own.compile_kernel(add, []) == b"machine code"
