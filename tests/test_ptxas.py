"""Finding ptxas, and reading what it says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tilewright as tw
from tilewright.launch import ptxas as module
from tilewright.launch.ptxas import PtxasNotFound, PtxasReport, find_ptxas

Ptxas = Callable[..., PtxasReport]

KERNEL = """.version 6.0
.target sm_70
.address_size 64
.shared .align 16 .b8 s[256];
.visible .entry first(.param .u64 p)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd1, %rd1;
	ld.shared.u32 %r1, [s];
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry second() { ret; }
"""


def test_a_clean_text(ptxas: Ptxas):
    report = ptxas(KERNEL, "sm_75")
    assert report.ok and report.clean
    assert report.errors == report.warnings == []
    assert set(report.kernels) == {"first", "second"}
    first = report.kernels["first"]
    assert first.registers > 0 and first.shared_bytes == 256
    assert (first.spill_stores, first.spill_loads) == (0, 0)
    assert report.version.split(".")[0].isdigit()


def test_without_verbose_there_are_no_resources(ptxas: Ptxas):
    report = ptxas(KERNEL, "sm_75", verbose=False)
    assert report.clean and report.kernels == {}


def test_spills(ptxas: Ptxas):
    """Sixty-four values alive at once in 24 registers."""
    values = range(64)
    body = "".join(f"\tld.global.u32 %r{i}, [%rd1+{4 * i}];\n" for i in values)
    body += "\tbar.sync 0;\n"
    body += "".join(f"\tst.global.u32 [%rd1+{4 * i + 256}], %r{63 - i};\n" for i in values)
    text = (
        ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        "\t.reg .b32 %r<64>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n"
        f"\tcvta.to.global.u64 %rd1, %rd1;\n{body}\tret;\n}}\n"
    )
    kernel = ptxas(text, "sm_75", options=("--maxrregcount", "24")).kernels["k"]
    assert kernel.registers <= 24
    assert kernel.spill_stores > 0 and kernel.spill_loads > 0


def test_errors(ptxas: Ptxas):
    report = ptxas(KERNEL.replace("st.global.u32", "st.global.f99"), "sm_75")
    assert not report.ok and not report.clean
    assert any("line 12" in error and ".f99" in error for error in report.errors)


def test_unknown_architecture(ptxas: Ptxas):
    report = ptxas(KERNEL, "sm_1")
    assert not report.ok and any("sm_1" in error for error in report.errors)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variable, no package, nothing on PATH."""
    monkeypatch.delenv(module.VARIABLE, raising=False)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    return monkeypatch


def test_the_variable_comes_first(nowhere: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "my-ptxas"
    path.touch()
    nowhere.setenv(module.VARIABLE, str(path))
    assert find_ptxas() == path


def test_a_variable_that_names_nothing_is_an_error(nowhere: pytest.MonkeyPatch):
    nowhere.setenv(module.VARIABLE, "/no/such/ptxas")
    with pytest.raises(PtxasNotFound, match="TILEWRIGHT_PTXAS names '/no/such/ptxas'"):
        find_ptxas()


def test_the_newest_package_comes_second(nowhere: pytest.MonkeyPatch, tmp_path: Path):
    for folder in ("cuda_nvcc", "cu12", "cu13"):
        (tmp_path / folder / "bin").mkdir(parents=True)
        (tmp_path / folder / "bin" / "ptxas").touch()

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    nowhere.setattr(module, "find_spec", lambda name: Spec())
    assert find_ptxas() == tmp_path / "cu13" / "bin" / "ptxas"
    (tmp_path / "cu13" / "bin" / "ptxas").unlink()
    assert find_ptxas() == tmp_path / "cu12" / "bin" / "ptxas"
    (tmp_path / "cu12" / "bin" / "ptxas").unlink()
    assert find_ptxas() == tmp_path / "cuda_nvcc" / "bin" / "ptxas"


def test_path_comes_last(nowhere: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "ptxas"
    path.touch(mode=0o755)
    nowhere.setenv("PATH", str(tmp_path))
    assert find_ptxas() == path


def test_a_target_that_ptxas_does_not_know():
    text = "func.func @k() attributes {gpu.kernel} { func.return }"
    with pytest.raises(PtxasNotFound, match="expected a ptxas that knows sm_70, got release 13"):
        tw.compile(text, "sm_70", assemble=True)


def test_nowhere_names_the_three_ways(nowhere: pytest.MonkeyPatch):
    with pytest.raises(PtxasNotFound) as error:
        find_ptxas()
    for way in ("TILEWRIGHT_PTXAS", "nvidia-cuda-nvcc", "PATH"):
        assert way in str(error.value)


def test_the_command(ptxas: Ptxas, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "kernel.ptx"
    path.write_text(KERNEL)
    assert module.main(["sm_75", str(path)]) == 0
    assert "first: " in capsys.readouterr().out
    path.write_text(KERNEL.replace("ret;", "nonsense;"))
    assert module.main(["sm_75", str(path)]) == 1
    assert "nonsense" in capsys.readouterr().err
    assert module.main([]) == module.main(["a", "b", "c"]) == module.USAGE
    assert module.main(["sm_75", str(tmp_path / "missing.ptx")]) == module.USAGE


def test_the_module_reads_stdin(ptxas: Ptxas):
    command = [sys.executable, "-m", "tilewright.launch.ptxas", "sm_75"]
    run = subprocess.run(command, input=KERNEL, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "second: " in run.stdout
