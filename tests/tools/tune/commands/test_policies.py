# SPDX-License-Identifier: MIT
"""``compiler-gym cc --policy``: units are compiled by a recipe, what is kept is linked by it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.tools.tune.commands import policies as _policies
from compiler_gym.tools.tune.commands.policies import (
    policy_files,
    run_known_policy,
    run_with_policy,
)
from compiler_gym.tools.tune.commands.recipes import words_with_recipe
from compiler_gym.tools.tune.llvm.size_plugin import PLUGIN_VARIABLE, explain_problem
from tests.command_line import Run
from tests.stand_ins import stand_in

pytestmark = pytest.mark.skipif(
    shutil.which("clang-22") is None or shutil.which("ld.lld-22") is None,
    reason="needs clang-22 and lld-22",
)

MAKEFILE = """
run: main.o libpart.a
\t$(CC) -o $@ main.o -L. -lpart -lm
libpart.a: part.o
\tar rcs $@ $^
%.o: %.c
\t$(CC) -O2 -Wall -Werror -c -o $@ $<
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))


def became(
    monkeypatch: pytest.MonkeyPatch, *arguments: str, is_known: bool = True
) -> list[str] | None:
    """Return what a call becomes, at once or by the library; None where it does not."""
    found: list[list[str]] = []
    run = run_known_policy if is_known else run_with_policy
    with monkeypatch.context() as now:
        now.setattr("os.execvp", stand_in(lambda program, words: found.append(words)))
        run("cc", "size", arguments)
    return found[0] if found else None


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_makefile_builds_with_a_policy(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "part.c").write_text("int part(int n) { return n * n; }\n")
    (tmp_path / "main.c").write_text("int part(int);\nint main(void) { return part(5); }\n")
    cc = "CC=compiler-gym cc --policy size"
    made = subprocess.run(
        ["make", cc], cwd=tmp_path, check=True, capture_output=True, text=True
    )  # fmt: skip
    assert "compiler-gym cc: run: " in made.stderr
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 25


def test_what_is_not_linked_is_made_by_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ("-c", "x.c")
    assert became(monkeypatch, *compiled) is None
    words = became(monkeypatch, "--no-never-larger", *compiled, is_known=False)
    assert words is not None
    assert words[1] == "--compile"
    assert words[2:] == words_with_recipe("cc", "small", compiled)
    for arguments in (
        compiled, ("--never-larger", *compiled), ("--old-loaders", "--never-larger", *compiled),
    ):  # fmt: skip
        assert became(monkeypatch, *arguments) == words


@pytest.mark.parametrize("own", [(), ("--old-loaders",), ("--no-never-larger", "--old-loaders")])
def test_old_loaders_get_no_packed_relocations(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    pointers = ", ".join(["main"] * 20)
    Path("x.c").write_text(f"int main(void); int (*const all[])(void) = {{{pointers}}};\n"
                           "int main(void) { return all[0] != all[19]; }\n")  # fmt: skip
    for words in (("-c", "x.c"), ("x.o", "-rdynamic", "-o", "run")):
        driver = Path(sys.executable).with_name("compiler-gym-cc")
        subprocess.run([driver, "--policy", "size", *own, *words], check=True)
    sections = subprocess.run(
        ["llvm-readelf-22", "-S", "run"], capture_output=True, text=True, check=True
    ).stdout
    libc = subprocess.run(
        ["clang-22", "-print-file-name=libc.so.6"], capture_output=True, text=True, check=True
    ).stdout.strip()
    can_pack = b"GLIBC_ABI_DT_RELR" in Path(libc).read_bytes()
    assert (".relr.dyn" in sections) == ("--old-loaders" not in own and can_pack)


@pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in")
def test_the_size_plug_in_is_used_unless_it_is_turned_off_or_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.c").write_text(
        "int f(int); int main(void) { return f(1) + f(1) + f(3); }\n"
        "__attribute__((noinline)) int f(int a) { return a * 77; }\n"
    )
    driver = Path(sys.executable).with_name("compiler-gym-cc")

    def build(*own: str) -> tuple[bytes, str]:
        words = [driver, "--policy", "size", "--no-never-larger", *own, "x.o", "-o", "run"]
        subprocess.run([driver, "--policy", "size", "-c", "x.c"], check=True)
        made = subprocess.run(words, check=True, capture_output=True, text=True)
        return Path("run").read_bytes(), made.stderr

    used, without = build()[0], build("--no-plugin")[0]
    monkeypatch.setenv(PLUGIN_VARIABLE, "/none.so")
    missing, said = build()
    assert used != without == missing
    assert "linked without the size plug-in: /none.so does not exist" in said


@pytest.mark.parametrize("output", ["conftest", "cmTC_1f2e", "meson-private/sanitycheckc.exe"])
def test_questions_of_a_build_system_are_linked_without_a_plan(
    monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    words = became(monkeypatch, "x.o", "-o", output, is_known=False)
    assert words is not None
    assert "-flto" not in words
    assert became(monkeypatch, "x.o", "-o", output) == words


def test_what_goes_wrong_with_a_policy_leaves_the_recipe(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.c").write_text("int main(void) { return 7; }\n")
    subprocess.run(["clang-22", "-c", "x.c"], check=True)
    (tmp_path / "damaged.json").write_text("{}")
    run_with_policy("cc", "size", ["x.o"])
    monkeypatch.setattr(_policies, "policy_files", lambda: {"size": tmp_path / "damaged.json"})
    (tmp_path / "a.out").unlink()
    assert run_known_policy("cc", "size", ["x.o"]) == 0
    assert subprocess.run([tmp_path / "a.out"], check=False).returncode == 7
    assert "compiler-gym cc: linked with the recipe: PlanError: " in capfd.readouterr().err


def test_a_policy_that_there_is_not_is_refused(cli: Run, tmp_path: Path) -> None:
    assert "size" in policy_files()
    with pytest.raises(UnknownNameError, match="did you mean size"):
        run_with_policy("cc", "siz", ["-c", "x.c"])
    with pytest.raises(PlanError, match="cannot read the policy"):
        run_with_policy("cc", str(tmp_path / "none.json"), ["-c", "x.c"])
    ran = cli("cc", "--policy")
    assert ran.status == 2
    assert "--policy needs a name" in ran.errors
