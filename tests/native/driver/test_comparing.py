# SPDX-License-Identifier: MIT
"""A policy makes clang's own link too; the smaller file is kept, and messages come once."""

import os
import re
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from compiler_gym.tools.tune import BinaryPlan
from tests.native.driver.conftest import Make
from tests.native.driver.trees import CC, DRIVER, IMPOSSIBLE, LARGE, PLAIN, POLICY, SMALL
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
DISCARDED = re.compile(
    r"compiler-gym cc: run: [\d,]+ loaded bytes with -Oz -flto; --policy \S+/large.toml was not "
    r"used, because it needs [\d,]+\n"
)


@pytest.mark.parametrize(
    "words",
    [
        "main.o part.o", "main.o -L. -lpart", "main.c part.c", "main.c part.o -DUNUSED",
        "main.o -Wl,--whole-archive libpart.a -Wl,--no-whole-archive", "main.o part.o -rdynamic",
        "main.o part.o -no-pie -Wl,--gc-sections,--build-id -s", "-shared -fPIC part.c",
        "main.o part.o -Wl,-Map=run.map",
    ],
)  # fmt: skip
def test_where_a_plan_is_larger_the_file_is_that_of_clang(make: Make, words: str) -> None:
    tree = make("parts")
    tree.run("ar rcs libpart.a part.o")
    before = {path.name for path in tree.path.iterdir()} | {"run", "run.map", "large.toml"}
    assert DISCARDED.fullmatch(tree.cc(f"{words} -o run", tree.by(LARGE)))
    made = (tree.path / "run").read_bytes()
    if "-shared" not in words:
        assert tree.printed("run") == "45\n"
    assert {path.name for path in tree.path.iterdir()} <= before
    shown = (tree.path / "run.map").read_text() if "Map" in words else ""
    tree.run(f"{PLAIN} {words} -o run")
    assert (tree.path / "run").read_bytes() == made
    assert not shown or (tree.path / "run.map").read_text() == shown


def test_the_smaller_file_is_kept_and_reported(make: Make) -> None:
    tree = make("parts")
    plain = tree.by(replace(LARGE, name="plain", options={}))
    assert re.search(r"toml; -Oz -flto ([\d,]+) \(0\.0 %\)\n", tree.cc("main.o part.o", plain))
    once = tree.cc("main.o part.o -o run", f"{tree.by(LARGE)} --no-never-larger")
    (said,) = re.findall(r"cc: run: ([\d,]+) loaded bytes with --policy \S+/large.toml\n", once)
    shown = tree.run("llvm-readelf-22 -lW run")[0]
    loaded = sum(int(line.split()[4], 16) for line in shown.splitlines() if " LOAD " in line)
    assert said == f"{loaded:,}"


@pytest.mark.parametrize("plan", [LARGE, SMALL], ids=["rival", "plan"])
def test_the_linkers_output_is_printed_once(make: Make, plan: BinaryPlan) -> None:
    tree = make("parts")
    output, errors = tree.run(f"{CC} {tree.by(plan)} main.o part.o -Wl,-Map=-,--trace")
    assert output.count("VMA  ") == 1
    assert output.count("main.o\n") == 1
    assert errors.count("\n") == 1
    warned = tree.cc("main.o part.o -Wl,-z,none", tree.by(plan))
    assert (warned.count("unknown -z value: none"), warned.count("\n")) == (1, 2)


@pytest.mark.parametrize("own", ["", " --no-never-larger"])
def test_a_plan_that_fails_is_named_with_its_cause(make: Make, own: str) -> None:
    tree = make("parts")
    said = tree.cc("main.o part.o", tree.by(IMPOSSIBLE) + own)
    assert said.count("\n") == 1
    assert "a.out: linked with" in said
    assert "impossible.toml, which failed: " in said
    assert "no-such-rule" in said
    assert tree.printed() == "45\n"


@pytest.mark.parametrize("plan", [LARGE, IMPOSSIBLE], ids=["large", "impossible"])
def test_an_error_of_the_build_is_reported_once_as_clang_does(make: Make, plan: BinaryPlan) -> None:
    tree = make("parts")
    for words in ("main.o -o run", "main.o part.o -lnone", "main.o none.o", "part.o bad.c"):
        tree.write({"bad.c": "int main( {}\n"})
        errors = tree.run(f"clang-22 -fuse-ld=lld {words}", status=1)[1]
        assert tree.cc(words, tree.by(plan), status=1) == errors
    said = tree.cc("main.c", tree.by(plan), status=1)
    assert (said.count("undefined symbol: part"), said.count("compiler-gym cc: ")) == (1, 0)


@pytest.mark.parametrize("words", ["main.o part.o", "main.c part.o"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_a_link_and_leaves_no_files(make: Make, number: int, words: str) -> None:
    if number == signal.SIGKILL and ".c" in words:
        pytest.skip("clang leaves its temporary object, too")
    tree = make("parts")
    (tree.path / "temporary").mkdir()
    os.mkfifo(tree.path / "wait")
    files = {path.name for path in tree.path.iterdir()}
    process = subprocess.Popen(
        [DRIVER, *POLICY.split(), *words.split(), "-Wl,--version-script=wait"], cwd=tree.path,
        env={**os.environ, "TMPDIR": str(tree.path / "temporary")}, start_new_session=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with (tree.path / "wait").open("w"):  # a linker reads it now
        assert list((tree.path / "temporary").iterdir())
        if number == signal.SIGKILL:
            process.kill()
        else:
            os.killpg(process.pid, number)
        (tree.path / "wait").unlink()  # what goes on without the driver comes to an end
        (tree.path / "wait").write_text("{ global: *; };")
        assert process.wait(60) == -number
    for _ in range(200):
        if not list((tree.path / "temporary").iterdir()):
            break
        time.sleep(0.05)
    assert not list((tree.path / "temporary").iterdir())
    assert {path.name for path in tree.path.iterdir()} - {"a.out"} == files
