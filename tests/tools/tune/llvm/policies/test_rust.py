# SPDX-License-Identifier: MIT
"""What rustc links for a user is linked by a plan; what it links for the build is not."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune.llvm.policies import link
from compiler_gym.tools.tune.llvm.policies.rust import explain_refusal
from tests.tools.tune.llvm.conftest import needs_lld
from tests.tools.tune.llvm.policies.test_linking import MAIN, PART, SMALL, by, printed

FULL = "-Wl,-plugin-opt=O2,-plugin-opt=mcpu=x86-64"
"""What rustc adds for `-Clinker-plugin-lto`."""
LIBRARIES = ("-lgcc_s", "-lc", "-nodefaultlibs", "-pie")

pytestmark = needs_lld


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a module as rustc names and optimises it, for speed."""
    (tmp_path / "all.c").write_text(PART + MAIN)
    words = ["clang-22", "-O2", "-fPIC", "-emit-llvm", "-c", "all.c", "-o", "all.cgu.0.rcgu.o"]
    subprocess.run(words, cwd=tmp_path, check=True)
    return tmp_path


def command(folder: Path, *words: str, module: str = "all.cgu.0.rcgu.o") -> CompilerCommand:
    return CompilerCommand.parse(["cc", "-m64", module, *words, *LIBRARIES, "-o", "run"], folder)


def test_a_whole_program_is_not_refused(folder: Path) -> None:
    assert explain_refusal(command(folder, FULL, "libcompiler_builtins-a4.rlib")) is None


@pytest.mark.parametrize(
    "words",
    [(FULL, "libproc_macro-0e.rlib", "-shared"), (FULL.replace("O2", "O0"), "libcore-60.rlib")],
)  # fmt: skip
def test_what_runs_only_in_the_build_is_refused_without_a_word(
    folder: Path, words: tuple[str, ...]
) -> None:
    assert explain_refusal(command(folder, *words)) == ""


def test_advice_names_what_to_change(folder: Path) -> None:
    why = explain_refusal(command(folder, FULL, "/usr/lib/libcore-60d83e9bdc749192.rlib"))
    assert 'set lto = "fat", codegen-units = 1' in (why or "")
    (folder / "native.rcgu.o").write_bytes(b"\x7fELF")
    why = explain_refusal(command(folder, module="native.rcgu.o"))
    assert "add -Clinker-plugin-lto to RUSTFLAGS" in (why or "")
    (folder / "new.rcgu.o").write_bytes((folder / "all.cgu.0.rcgu.o").read_bytes()[:100])
    why = explain_refusal(command(folder, FULL, module="new.rcgu.o"))
    assert "compiler-gym rust" in (why or "")


def test_a_program_is_compared_with_the_code_of_rustc(folder: Path) -> None:
    said: list[str] = []
    status = link(
        by(folder, SMALL), command(folder, FULL), is_checked=True, is_packed=True, say=said.append
    )
    assert status == 0
    assert "the code of rustc" in said[0]
    assert printed(folder / "run") == "45\n"


@pytest.mark.parametrize("is_minsize", [False, True])
def test_code_for_speed_becomes_small_on_request(folder: Path, is_minsize: bool) -> None:
    status = link(
        by(folder, SMALL), command(folder, FULL), is_checked=False, is_packed=False,
        say=lambda _: None, is_minsize=is_minsize,
    )  # fmt: skip
    assert status == 0
    shown = ["llvm-objdump-22", "-d", folder / "run"]
    code = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    assert ("divl" in code) == is_minsize  # by seven: smaller and slower than a multiplication


def test_a_refused_link_is_done_as_the_build_asked(folder: Path) -> None:
    said: list[str] = []
    subprocess.run(["ar", "rcs", "libcore-60.rlib"], cwd=folder, check=True)
    status = link(
        by(folder, SMALL), command(folder, FULL, "libcore-60.rlib"), is_checked=True,
        is_packed=True, say=said.append,
    )  # fmt: skip
    assert status == 0
    assert said[0].startswith("run: linked without the policy: the standard library is not part")
    assert printed(folder / "run") == "45\n"
