# SPDX-License-Identifier: MIT
"""The helper is found, and says why it makes no box; bubblewrap is asked for what it can."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox import Sandbox
from compiler_gym.sandbox.box import BoxReport, try_way
from compiler_gym.sandbox.ways import BUBBLEWRAP, OWN, Way, find_helper, wrap_command
from tests.stand_ins import always


def test_the_helper_is_a_program_of_this_package() -> None:
    assert Path(find_helper()).name == "_box"
    assert subprocess.run([find_helper(), "nothing"]).returncode == 0
    done = subprocess.run([find_helper(), "--else"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "box: not understood: --else\n")


def test_the_helper_starts_nothing_for_a_parent_that_is_gone(tmp_path: Path) -> None:
    made = tmp_path / "made"
    words = [find_helper(), "--parent=1", "--report=1", "--tier=none", f"--folder={tmp_path}"]
    done = subprocess.run([*words, "--", "/bin/touch", str(made)])
    assert (done.returncode, made.exists()) == (1, False)


def test_a_package_without_its_helper_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    find_helper.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", always(None))
    with pytest.raises(SandboxError, match="the helper _box"):
        find_helper()
    assert "the helper _box" in try_way(OWN)


def test_a_way_that_does_not_work_gives_the_reason() -> None:
    assert try_way(OWN) == "" or "Operation not permitted" in try_way(OWN)


def test_a_machine_without_bubblewrap_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", always(None))
    with pytest.raises(SandboxError, match="apt install bubblewrap"):
        wrap_command(["helper"], shown=[], work=None, scratch_bytes=1)
    assert "apt install bubblewrap" in try_way(Way("bubblewrap", "bwrap"))


def test_bubblewrap_gets_sizes_and_no_home() -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap: apt install bubblewrap")
    words = wrap_command(
        ["/helper", "--x"], shown=["/home/me/program"], work=None, scratch_bytes=4096
    )
    assert words[-3:] == ["--", "/helper", "--x"]
    assert words.count("4096") == 3
    assert [word for word in words if word.startswith("/home")] == ["/home/me/program"] * 2
    assert BUBBLEWRAP.tool == "bwrap"


def test_a_machine_that_is_too_slow_to_tell_gets_no_weaker_tier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = BoxReport(-9, 1.0, 0.0, 0, "time", Sandbox.NAMESPACES)
    monkeypatch.setattr("compiler_gym.sandbox.box.run_boxed", always(late))
    monkeypatch.setattr("compiler_gym.sandbox.box._PROBE_SECONDS", 0.0)
    with pytest.raises(SandboxError, match="because the machine is busy"):
        try_way(OWN)
