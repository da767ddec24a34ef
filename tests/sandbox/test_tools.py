# SPDX-License-Identifier: MIT
"""A compiler in a box reads its folder and the system, and nothing of the user's."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.sandbox import available, run_tool_boxed, use_sandbox

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


def test_without_a_sandbox_it_is_just_run(tmp_path: Path) -> None:
    with use_sandbox("none"):
        done = run_tool_boxed(["/bin/pwd"], folder=tmp_path, seconds=9)
    assert done.stdout.decode().strip() == str(tmp_path.resolve())
