# SPDX-License-Identifier: MIT
"""A plan becomes code as LLVM's own tools make it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.linking import FOLDING, Linker
from compiler_gym.tools.tune.llvm.making import LlvmMaker, code_words
from compiler_gym.tools.tune.llvm.whole import make_whole
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld


def maker(binary: Binary, folder: Path, **decisions: object) -> LlvmMaker:
    whole = make_whole(binary, binary.path, jobs=1)
    plan = BinaryPlan("numbers", "program", linker=FOLDING, **decisions)  # type: ignore[arg-type]
    return LlvmMaker(Linker(binary, folder), whole, plan)


def test_a_plan_without_decisions_is_oz(binary: Binary, tmp_path: Path) -> None:
    one = maker(binary, tmp_path / "1").make("made")
    two = maker(binary, tmp_path / "2", passes="default<Oz>").make("made")
    assert one.read_bytes() == two.read_bytes()
    assert subprocess.run([one], capture_output=True, check=True).stdout.count(b"\n") == 9


def test_options_change_the_code(binary: Binary, tmp_path: Path) -> None:
    plain = maker(binary, tmp_path / "1").make("made")
    other = maker(binary, tmp_path / "2", options={"disable-peephole": "true"}).make("made")
    assert measure_sizes(other).text > measure_sizes(plain).text


@pytest.mark.skipif(shutil.which("llc-22") is None, reason="needs llc-22")
def test_the_code_is_llcs(binary: Binary, tmp_path: Path) -> None:
    module = tmp_path / "module.bc"
    module.write_bytes(maker(binary, tmp_path).optimise())
    options = {"relocation-model": "pic", "enable-ipra": "true", "disable-lsr": "true"}
    plan = BinaryPlan("numbers", "program", linker=FOLDING, options=options)
    subprocess.run(code_words(binary, plan, module, tmp_path / "clang.o"), check=True)
    words = [f"--{name}={value}" for name, value in options.items()]
    llc = ["llc-22", *words, "-function-sections", "-data-sections", "-filetype=obj", module]
    subprocess.run([*llc, "-o", tmp_path / "llc.o"], check=True)
    texts = [
        subprocess.run(["objdump", "-d", path], capture_output=True, check=True).stdout
        for path in (tmp_path / "clang.o", tmp_path / "llc.o")
    ]
    assert texts[0].split(b"\n", 3)[3] == texts[1].split(b"\n", 3)[3]


def test_unknown_passes_are_named(binary: Binary, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no-such-pass"):
        maker(binary, tmp_path, passes="no-such-pass").make("made")
