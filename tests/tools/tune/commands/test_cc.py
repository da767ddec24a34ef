# SPDX-License-Identifier: MIT
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import Run
from tests.loading import needs_packages

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

CC = "compiler-gym cc"
MAKEFILE = """
run: main.o libpart.a
\t$(CC) -o $@ main.o -L. -lpart libpart.a -lm
libpart.a: part.o
\tar rcs $@ $^
%.o: %.c
\t$(CC) -O2 -g -Wall -MD -MP '-DTEXT="a b"' -c -o $@ $<
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "main.c").write_text(
        "int part(int);\nint main(void) { return part(20) + (int)sizeof TEXT - 2; }\n"
    )
    (tmp_path / "part.c").write_text("int part(int n) { return n * 2; }\n")
    return tmp_path


def index_of(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@needs_packages
def test_a_makefile_builds_as_usual_and_leaves_its_programs(
    project: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project / "kept"
    monkeypatch.setenv("COMPILER_GYM_CC_OUTPUT", str(folder))
    monkeypatch.setenv("COMPILER_GYM_SITE_DATA", str(project / "site"))  # no other test's business
    subprocess.run(["make", f"CC={CC}"], cwd=project, check=True, capture_output=True)
    assert subprocess.run([project / "run"], check=False).returncode == 42
    assert (project / "main.d").is_file()
    assert sorted(entry["source"] for entry in index_of(folder)) == ["main.c", "part.c", "run"]
    assert not (folder / "errors.log").exists()
    done = cli("datasets", "import", "built-v0", str(folder / "programs"), "--json").json
    assert done["added"] == 1
    (program,) = (folder / "programs").iterdir()
    shown = cli("run", str(program), "sroa", "--json")
    assert shown.status == 0, shown.errors


def test_the_object_is_the_one_that_the_compiler_makes(project: Path, cli: Run) -> None:
    arguments = ("-O2", "-c", "part.c", "-o")
    ran = cli("cc", *arguments, "ours.o", COMPILER_GYM_CC_OUTPUT="kept")
    assert (ran.status, ran.output, ran.errors) == (0, "", "")
    subprocess.run(["clang-22", *arguments, "theirs.o"], cwd=project, check=True)
    assert (project / "ours.o").read_bytes() == (project / "theirs.o").read_bytes()
    assert len(list((project / "kept/modules").iterdir())) == 1


def test_words_and_exit_status_pass_unchanged(project: Path, cli: Run) -> None:
    version = subprocess.check_output(["clang-22", "--version"], text=True)
    assert cli("cc", "--version").output == version
    own, _, clangs = cli("cc", "--help").output.partition("OVERVIEW: clang")
    assert "--policy size" in own
    assert "USAGE: clang" in clangs
    ran = cli("cc", "-c", "missing.c", COMPILER_GYM_CC_OUTPUT="kept")
    assert ran.status == 1
    assert "no such file or directory: 'missing.c'" in ran.errors
    assert not (project / "kept").exists()
    assert cli("cc", "-c", "-o", "x.o", "--", "part.c").status == 0
    assert (project / "x.o").is_file()


def test_without_a_folder_nothing_is_kept(project: Path, cli: Run) -> None:
    assert cli("cc", "-c", "part.c").status == 0
    names = {path.name for path in project.iterdir()}
    assert names == {"Makefile", "main.c", "part.c", "part.o"}


def test_a_build_goes_on_when_nothing_can_be_kept(project: Path, cli: Run) -> None:
    (project / "start.s").write_text(".globl start\nstart: ret\n")
    ran = cli("cc", "-c", "start.s", COMPILER_GYM_CC_OUTPUT="kept")
    assert (ran.status, ran.output, ran.errors) == (0, "", "")
    assert "start.s is assembly" in (project / "kept/errors.log").read_text()
    (project / "file").touch()
    ran = cli("cc", "-c", "part.c", COMPILER_GYM_CC_OUTPUT="file")
    assert ran.status == 0
    assert "cannot write" in ran.errors
    assert (project / "part.o").is_file()


def test_another_compiler_can_be_run(project: Path, cli: Run) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs gcc")
    ran = cli(
        *("cc", "-O2", "-fno-tree-loop-im", "-c", "part.c"),
        COMPILER_GYM_CC=compiler,
        COMPILER_GYM_CC_OUTPUT="kept",
    )
    assert ran.status == 0
    (entry,) = index_of(project / "kept")
    assert entry["command"].startswith(compiler)
    assert (project / "kept" / entry["file"]).read_bytes()[:4] == b"BC\xc0\xde"


def test_a_compiler_that_is_missing_is_named(cli: Run) -> None:
    ran = cli("cc", "-c", "a.c", COMPILER_GYM_CC="no-such-compiler")
    assert ran.status == 2
    assert "cannot run no-such-compiler" in ran.errors


CXX_MAIN = """
#include <string>
#include <iostream>
std::string part(int n);
int main() { std::cout << part(21) << std::endl; return 0; }
"""
CXX_PART = """
#include <string>
int unused(int n) { for (int i = 0; i < 9; ++i) n ^= n << i; return n; }
std::string part(int n) { return std::to_string(n * 2); }
"""


@pytest.mark.skipif(shutil.which("ld.lld-22") is None, reason="needs lld-22")
def test_a_plan_is_applied_to_what_the_cxx_compiler_links(tmp_path: Path, cli: Run) -> None:
    (tmp_path / "main.cpp").write_text(CXX_MAIN)
    (tmp_path / "part.cpp").write_text(CXX_PART)
    (tmp_path / "tuned.toml").write_text(
        'version = 1\ncompiler = "llvm 22.1.8"\ngoal = "size"\nmade_by = "1"\n'
        '[[binaries]]\nname = "run"\nmethod = "program"\npasses = "lto-pre-link<Oz>,lto<Oz>"\n'
        'scope = "internalize<preserve-gv=main>"\n'
    )
    plan = ("--plan", "tuned.toml")
    for name in ("main", "part"):
        assert cli("cxx", *plan, "-O2", "-c", f"{name}.cpp", "-o", f"{name}.o").status == 0
    for words, output in (((), "plain"), (plan, "run")):
        ran = cli("cxx", *words, "main.o", "part.o", "-o", output)
        assert (ran.status, ran.errors) == (0, "")
        done = subprocess.run([tmp_path / output], capture_output=True, text=True, check=True)
        assert done.stdout == "42\n"
    named = [subprocess.run(["nm", "-C", tmp_path / name], capture_output=True, text=True)
             for name in ("plain", "run")]  # fmt: skip
    assert "unused(int)" in named[0].stdout
    assert "unused(int)" not in named[1].stdout


def test_another_cxx_compiler_is_named_by_its_own_variable(tmp_path: Path, cli: Run) -> None:
    shown = cli("cxx", "-c", "part.c", COMPILER_GYM_CXX="echo other")
    assert shown.output == "other -c part.c\n"
    assert cli("cxx", "-v", COMPILER_GYM_CXX="/nowhere/c++").status == 2
