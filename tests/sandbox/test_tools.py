# SPDX-License-Identifier: MIT
"""Compilers and builds on untrusted source."""

import shutil
import subprocess
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
    available,
    require_rooted,
    run_rooted,
    run_tool_boxed,
    use_sandbox,
)

GCC = ("/usr/bin/gcc", "-x", "c", "-c", "-o", "made.o", "-")
TIERS = [tier for tier in available() if tier.value != "none"]


@pytest.fixture(params=TIERS, ids=lambda tier: tier.value)
def folder(request: pytest.FixtureRequest, tmp_path: Path):
    """Return a folder to compile in, while a sandbox is chosen."""
    with use_sandbox(request.param):
        yield tmp_path


def test_a_program_is_compiled(folder: Path) -> None:
    source = b'#include <stdio.h>\nint main(void) { return puts("one"); }\n'
    done = run_tool_boxed(GCC, folder=folder, seconds=60, input=source)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "made.o").read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    "source",
    [
        '#include "{}"\n',
        'asm(".incbin \\"{}\\"");\n',
        'asm(".include \\"{}\\"");\n',
        'asm(".macro m p, q\\n.\\\\p\\\\q \\"{}\\"\\n.endm\\nm inc bin");\n',
        'void f(void) {{ asm volatile(".incbin \\"{}\\""); }}\n',
    ],
    ids=["header", "bytes", "assembly", "macro", "function"],
)
def test_no_file_of_the_user_gets_into_a_program(
    folder: Path, source: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for secret in (tmp_path_factory.mktemp("home") / "secret", Path("/etc/hostname")):
        if secret.name == "secret":
            secret.write_text("int secret_of_the_user;\n")
        text = source.format(secret).encode()
        done = run_tool_boxed(GCC, folder=folder, seconds=60, input=text)
        assert done.returncode != 0
        assert b"secret_of" not in done.stderr
        assert not (folder / "made.o").exists()


def test_a_folder_that_is_named_is_read(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    headers = tmp_path_factory.mktemp("headers")
    (headers / "one.h").write_text("int one;\n")
    words = [*GCC[:-1], f"-I{headers}", "-"]
    source = b'#include "one.h"\n'
    done = run_tool_boxed(words, folder=folder, seconds=60, input=source, visible=[headers])
    assert done.returncode == 0, done.stderr


def test_it_starts_in_the_requested_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sources = tmp_path_factory.mktemp("sources")
    (sources / "one.c").write_text("int one;\n")
    words = ["/usr/bin/gcc", "-c", "one.c", "-o", str(folder / "made.o")]
    done = run_tool_boxed(words, folder=folder, seconds=60, cwd=sources)
    assert (done.returncode, (folder / "made.o").exists()) == (0, True)


def test_one_that_hangs_is_ended(folder: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired, match="timed out"):
        run_tool_boxed(["/bin/sleep", "73.5"], folder=folder, seconds=0.2)


def test_a_compiler_that_is_ended_at_a_limit_names_it(folder: Path) -> None:
    many = "for one in $(seq 300); do sleep 71.5 & done; wait"
    done = run_tool_boxed(["/bin/sh", "-c", many], folder=folder, seconds=60)
    assert done.returncode == -9
    assert done.stderr.endswith(b"the sandbox ended it: processes\n")


def test_without_a_sandbox_it_is_just_run(tmp_path: Path) -> None:
    with use_sandbox("none"):
        done = run_tool_boxed(["/bin/pwd"], folder=tmp_path, seconds=9)
    assert done.stdout.decode().strip() == str(tmp_path.resolve())


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
