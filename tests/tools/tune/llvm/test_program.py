# SPDX-License-Identifier: MIT
"""One module of a binary: what the build links is in it, and what of it stays visible."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand, measure_sizes
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.flags import FOLDING
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.program import LlvmMaker, Whole, code_command, make_whole
from tests.tools.tune.builds.test_relinking import linked
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
PLUG_INS = ["plug1.c", "plug2.c", "plug3.c"]
pytestmark = needs_lld


def test_everything_that_is_linked_is_in_it(binary: Binary) -> None:
    whole = make_whole(binary, binary.path, jobs=2)
    assert [binary.name_unit(unit) for unit in whole.units] == ["main.c", "sort.c"]
    assert whole.keep == ()  # what starts a program stays in any case
    with LlvmEnv() as env:
        env.reset(benchmark=whole.benchmark())
        assert "define internal i32 @total" in env.ir
        assert "define dso_local i32 @main" in env.ir
        assert "minsize" in env.ir


@pytest.mark.parametrize(
    "word", ["-Wl,--version-script={}/names", "-Wl,--wrap,f", "-umain", "-Wl,--undefined=main"]
)
def test_where_a_linker_names_symbols_all_stay(binary: Binary, word: str, tmp_path: Path) -> None:
    (tmp_path / "names").write_text("{ global: main; local: *; };")
    words = (*binary.command.words, word.format(tmp_path))
    command = CompilerCommand.parse(words, binary.command.cwd)
    whole = make_whole(replace(binary, command=command), binary.path, jobs=1)
    assert whole.keep is None
    assert "scope" not in str(whole.benchmark().uri)


def make(tmp_path: Path, words: str) -> tuple[Binary, Whole, str]:
    """Return a program of plug-ins, its module, and what the program prints that is made of it."""
    binary = linked(tmp_path, f"$CC {words} -o program", compiler=("clang-22",))
    whole = make_whole(binary, binary.path, jobs=1)
    plan = BinaryPlan("program", "program", linker=FOLDING)
    made = LlvmMaker(Linker(binary, tmp_path), whole, plan).make("made")
    done = subprocess.run([made], capture_output=True, text=True, check=True)
    own = subprocess.run([binary.path], capture_output=True, text=True, check=True)
    assert done.stdout == own.stdout
    return binary, whole, done.stdout


@pytest.mark.parametrize(
    ("words", "sources"),
    [
        ("main.o -Wl,--push-state,--whole-archive libplug.a -Wl,--pop-state libcore.a",
         ["main.c", *PLUG_INS, "core.c"]),
        ("main.o -Wl,--start-group libplug.a libcore.a -Wl,--end-group", ["main.c", "core.c"]),
        ("core.c -Wl,-whole-archive,thin.a,-no-whole-archive main.o",
         ["core.c", *PLUG_INS, "main.c"]),
        ("main.o both.o core.o", ["main.c", "plug1.c", "plug2.c", "core.c"]),
        # What is linked twice cannot be in one module; it stays outside.
        ("main.o -Wl,--whole-archive libplug.a libplug.a -Wl,--no-whole-archive libcore.a",
         ["main.c", "core.c"]),
        ("main.o both.o plug1.o core.o", ["main.c", "core.c"]),
    ],
)  # fmt: skip
def test_the_module_is_what_the_build_links(tmp_path: Path, words: str, sources: list[str]) -> None:
    binary, whole, _ = make(tmp_path, words)
    assert [binary.name_unit(unit) for unit in whole.units] == sources


def test_symbols_that_other_objects_need_stay_visible(tmp_path: Path) -> None:
    """A weak definition elsewhere is replaced by the module's, which must therefore be seen."""
    weak = "__attribute__((weak)) int total(int n) { return 1; } int f(int n) { return total(n); }"
    words = (
        f"-c -o weak.o -x c - <<'E'\n{weak}\nE\nobjcopy -R .comment weak.o; $CC main.o"
        " -Wl,--whole-archive libplug.a -Wl,--no-whole-archive weak.o core.o"
    )
    _, whole, _ = make(tmp_path, words)
    assert whole.keep == ("total",)


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
    subprocess.run(
        code_command(binary, plan, module, tmp_path / "clang.o").list_words(), check=True
    )
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
