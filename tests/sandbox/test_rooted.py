"""A step of a build runs in a system of its own: it writes one folder, within its limits."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox import (
    BUILD_FOLDER,
    BoxReport,
    RootedPlace,
    RunLimits,
    require_rooted,
    run_rooted,
)

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bwrap on PATH")
LIMITS = RunLimits(seconds=20, memory_bytes=0, output_bytes=1 << 20, processes=50)


def run(words: Sequence[str], folder: Path, limits: RunLimits = LIMITS) -> tuple[BoxReport, str]:
    with tempfile.TemporaryFile() as printed:
        report = run_rooted(
            words,
            RootedPlace(Path("/"), folder),
            limits=limits,
            environment={"PATH": "/usr/bin:/bin", "A": "b"},
            output=printed.fileno(),
        )
        printed.seek(0)
        return report, printed.read().decode()


@needs_bubblewrap
def test_a_step_writes_its_folder_and_nothing_else(tmp_path: Path) -> None:
    shell = f"pwd; echo $A; touch x /tmp/y; touch /usr/z; ls {tmp_path}; ls /run"

    report, said = run(["/bin/sh", "-c", shell], tmp_path)

    assert report.stopped_by is None
    assert said.splitlines()[:2] == [BUILD_FOLDER, "b"]
    assert "Read-only file system" in said
    assert said.splitlines()[-2:] == ["box", "build"]
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@needs_bubblewrap
def test_a_step_has_no_network_and_no_powers(tmp_path: Path) -> None:
    shell = "ls /sys; cat /proc/net/dev; grep CapEff /proc/self/status; id -u"

    _, said = run(["/bin/sh", "-c", shell], tmp_path)

    assert "eth" not in said
    assert "CapEff:\t0000000000000000" in said
    assert said.split()[-1] == "1000"


@needs_bubblewrap
@pytest.mark.parametrize(
    ("shell", "limits", "stopped_by"),
    [
        ("sleep 30", RunLimits(seconds=0.5, memory_bytes=0, processes=50), "time"),
        ("while :; do sleep 30 & done", RunLimits(20, 0, 1 << 20, 20), "processes"),
        (
            "head -c 400000000 /dev/zero | tail -n 1; sleep 9",
            RunLimits(20, 0, 1 << 20, 50, 100 << 20),
            "memory",
        ),
    ],
)
def test_a_step_that_passes_a_limit_is_ended(
    tmp_path: Path, shell: str, limits: RunLimits, stopped_by: str
) -> None:
    report, _ = run(["/bin/sh", "-c", shell], tmp_path, limits)

    assert report.stopped_by == stopped_by


@needs_bubblewrap
def test_an_exception_while_looking_ends_the_step(tmp_path: Path) -> None:
    def look() -> None:
        if (tmp_path / "begun").exists():
            raise KeyError("seen")

    with tempfile.TemporaryFile() as printed, pytest.raises(KeyError, match="seen"):
        run_rooted(
            ["/bin/sh", "-c", "touch begun; sleep 30"],
            RootedPlace(Path("/"), tmp_path),
            limits=LIMITS,
            environment={"PATH": "/usr/bin:/bin"},
            output=printed.fileno(),
            look=look,
        )


def test_a_machine_without_bubblewrap_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(SandboxError, match="apt install bubblewrap"):
        require_rooted()


def test_bubblewrap_that_cannot_says_what_to_allow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'No permissions' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SandboxError, match=r"No permissions: allow users to make them"):
        require_rooted()
