# SPDX-License-Identifier: MIT
"""The size plug-in is loaded where a plan names it, and missed without harm."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.builds import read_code
from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import (
    BinaryPlan,
    BuildPlan,
    Found,
    Measure,
    Request,
    TuningJob,
    list_sources,
    read_plan,
    recipe_named,
    write_plan,
)
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.handing_over import HandOver, Result
from compiler_gym.tools.tune.llvm.flags import FOLDING, PROGRAM, SMALL
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.llvm.plans import checked
from compiler_gym.tools.tune.llvm.plugin import (
    PLUGIN,
    PLUGIN_VARIABLE,
    explain_problem,
    find_plugin,
    plugin_hash,
    without_plugin,
)
from compiler_gym.tools.tune.llvm.program import LlvmMaker, make_whole
from tests.native.driver.trees import CC, Tree
from tests.tools.tune.llvm.conftest import BUILD, needs_lld

pytestmark = needs_lld
FILE = "compiler_gym_size.so"
SHARED = b"\0libLLVM.so.22.1\0"
NODES = """
#include <stdio.h>
#include <stdlib.h>
struct node { int value, weight; struct node *next; };
int show(struct node *node) {
  node->value = 0;
  node->weight = 200;
  return printf("%d\\n", node->weight);
}
int main(int count, char **words) {
  struct node *first = 0;
  for (int i = 0; i < count + 2; i++) {
    struct node *node = (struct node *)malloc(sizeof *node);
    node->next = first;
    first = node;
  }
  int sum = 0;
  for (; first; first = first->next) sum += show(first);
  return sum != 12;
}
"""
needs_plugin = pytest.mark.skipif(
    find_plugin() is None, reason="needs the size plug-in: `make size-plugin`"
)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a clang and an lld of this folder, which share LLVM, and a plug-in."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("clang", "ld.lld"):
        (folder / name).write_bytes(b"#!/bin/sh\n" + SHARED)
        (folder / name).chmod(0o755)
    (folder / FILE).write_bytes(b"")
    monkeypatch.setenv("COMPILER_GYM_CLANG", str(folder / "clang"))
    monkeypatch.setenv(PLUGIN_VARIABLE, str(folder / FILE))
    return folder


def test_the_plug_in_is_next_to_the_native_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PLUGIN_VARIABLE, raising=False)
    monkeypatch.setattr(compiler_gym, "__path__", ["/no-such", str(tmp_path)])
    assert find_plugin() is None
    assert explain_problem() == f"{FILE} is not part of this installation"
    assert plugin_hash() == ""
    (tmp_path / FILE).write_bytes(b"")
    assert find_plugin() == tmp_path / FILE


def test_programs_that_share_llvm_can_load_it(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain_problem() == ""
    assert plugin_hash()
    monkeypatch.setenv(PLUGIN_VARIABLE, "/no-such.so")
    assert explain_problem().startswith("/no-such.so does not exist")


@pytest.mark.parametrize("name", ["clang", "ld.lld"])
def test_a_static_tool_and_another_llvm_cannot_load_it(tools: Path, name: str) -> None:
    (tools / name).write_bytes(b"#!/bin/sh\n" + SHARED.replace(b"22", b"23"))
    assert explain_problem().startswith(f"{tools / name} does not use libLLVM.so.22.1")


def test_another_machine_cannot_load_it(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert explain_problem() == "it is for x86_64, but this machine is aarch64"


VERSION_OF_PLUGIN = """
import ctypes, sys

class Info(ctypes.Structure):
    _fields_ = (
        ("api", ctypes.c_uint32), ("name", ctypes.c_char_p), ("version", ctypes.c_char_p),
        ("register", ctypes.c_void_p),
    )

ctypes.CDLL("libLLVM.so.22.1", mode=ctypes.RTLD_GLOBAL)
get_info = ctypes.CDLL(sys.argv[1]).llvmGetPassPluginInfo
get_info.restype = Info
print(get_info().name.decode(), get_info().version.decode())
"""
"""For a process of its own: one that makes LLVM's symbols global cannot load MLIR's bindings."""


@needs_plugin
def test_the_debian_packages_load_it_and_it_has_the_version_of_plans() -> None:
    assert explain_problem() == ""
    command = [sys.executable, "-c", VERSION_OF_PLUGIN, str(find_plugin())]
    assert subprocess.check_output(command, text=True).strip() == PLUGIN


@needs_plugin
@pytest.mark.parametrize(("driver", "source"), [("cc", "nodes.c"), ("cxx", "nodes.cc")])
def test_a_policy_loads_it(tmp_path: Path, driver: str, source: str) -> None:
    tree = Tree(tmp_path)
    tree.write({source: NODES})
    plan = tree.by(replace(recipe_named("small").plan, name="small", plugin=(PLUGIN,)))
    call = f"{CC.removesuffix('cc')}{driver} {plan} --no-never-larger {source}"
    for words in ("-o run", "-shared -fPIC -o run.so"):
        said = tree.run(f"{call} {words}", COMPILER_GYM_SIZE="stats=counts")[1]
        assert "loaded bytes with --policy " in said
        assert (tmp_path / "counts").read_text()
        (tmp_path / "counts").unlink()
    assert tree.printed("run") == "200\n" * 3


@pytest.mark.parametrize(
    ("plugin", "said"), [("/no-such.so", "without the size plug-in: /no-such.so does not exist"),
                         ("nodes.c", "instead of --policy size, which failed: ")],
)  # fmt: skip
def test_a_link_continues_without_it(tmp_path: Path, plugin: str, said: str) -> None:
    tree = Tree(tmp_path)
    tree.write({"nodes.c": NODES})
    assert said in tree.cc("nodes.c -o run", COMPILER_GYM_SIZE_PLUGIN=plugin)
    assert tree.printed("run") == "200\n" * 3


def test_plans_name_it_and_its_rules(tmp_path: Path) -> None:
    plan = BinaryPlan("run", SMALL, plugin=(PLUGIN, "-exchange"))
    assert plan.decisions() == (f"plugin {PLUGIN}", "plugin -exchange")
    assert plan.without("plugin -exchange").plugin == (PLUGIN,)
    path = tmp_path / "tuned.toml"
    write_plan(path, BuildPlan("llvm 22.1.8", "size", "1", (plan,)))
    assert read_plan(path).binaries == (plan,)
    for plugin, message in (
        ("compiler_gym_size 2", "needs the plug-in 'compiler_gym_size 2', but this version"),
        ("/tmp/evil.so", "needs the plug-in '/tmp/evil.so'"),
        ("-exchange,stats=/etc/passwd", "needs the plug-in '-exchange,stats"),
    ):
        write_plan(path, BuildPlan("llvm 22.1.8", "size", "1", (replace(plan, plugin=(plugin,)),)))
        with pytest.raises(PlanError, match=message):
            read_plan(path)
    write_plan(
        path, BuildPlan("llvm 22.1.8", "speed", "1", (replace(plan, method="link-time fast"),))
    )
    with pytest.raises(PlanError, match="has the plugin"):
        read_plan(path)


def _plan(binary: Binary, method: str, *plugin: str) -> BinaryPlan:
    scope = "internalize<preserve-gv=main>" if method == PROGRAM else ""
    sources = list_sources(binary, binary.units)
    return BinaryPlan(
        binary.name, method, linker=FOLDING, scope=scope, sources=sources, plugin=plugin
    )


@needs_plugin
@pytest.mark.parametrize("method", [SMALL, PROGRAM])
def test_a_build_and_its_script_load_it(
    binary: Binary, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = read_code(LlvmTuner().build(binary, _plan(binary, method), tmp_path / "plain", jobs=1))
    plan = _plan(binary, method, PLUGIN)
    made = LlvmTuner().build(binary, plan, tmp_path / "with", jobs=1)
    assert read_code(made) != plain
    out = tmp_path / "script"
    variables = f'PLAIN=\nROOT="{binary.root}"\nOUT="{out}"\nHERE="{out}"'
    script = f"set -eu\n{variables}\n{checked(plan).write_script(binary)}"
    LlvmTuner().write_companions(plan, out)
    (out / "other place.so").write_bytes(find_plugin().read_bytes())  # pyright: ignore[reportOptionalMemberAccess]
    for setting in ("", str(out / "other place.so")):
        monkeypatch.setenv(PLUGIN_VARIABLE, setting)
        ran = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True)
        assert ran.stderr == ""
        assert (out / binary.name).read_bytes() == made.read_bytes()
    monkeypatch.setenv(PLUGIN_VARIABLE, "/no-such.so")
    ran = subprocess.run(["sh", "-c", script], check=False, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "needs /no-such.so: copy the folder plugin too, or use --plain" in ran.stderr
    with pytest.raises(PlanError, match="which cannot be loaded: /no-such"):
        LlvmTuner().build(binary, plan, tmp_path / "none", jobs=1)


@needs_plugin
@pytest.mark.parametrize("method", [SMALL, PROGRAM])
def test_a_script_needs_no_other_file_of_this_library(
    binary: Binary, tmp_path: Path, method: str
) -> None:
    tuner, made = LlvmTuner(), tmp_path / "made"
    plan = _plan(binary, method, PLUGIN)
    path = tuner.build(binary, plan, made, jobs=1)
    plain = tuner.build(binary, without_plugin(plan), tmp_path / "plain", jobs=1)
    request = Request(("sh", "-ec", BUILD), binary.root, tmp_path / "out")
    found = Found(plan, path, {}, 0, 1)
    HandOver(request, tuner, lambda text: None).write([Result(found, binary, {})])
    assert {"LICENSE", "plugin.cpp", "inputs.h", FILE} <= {
        file.name for file in (request.output / "plugin").iterdir()
    }
    script = ["sh", str(request.output / "reproduce.sh")]
    for words, expected in (([], path), (["--plain"], plain)):
        again = tmp_path / f"again{''.join(words)}"
        run_without_library([*script, *words, str(binary.root), str(again)])
        assert (again / binary.name).read_bytes() == expected.read_bytes()
    (request.output / "plugin" / FILE).unlink()
    run_without_library([*script, "--plain", str(binary.root), str(tmp_path / "last")])
    with pytest.raises(subprocess.CalledProcessError):
        run_without_library([*script, str(binary.root), str(tmp_path / "last")])


def run_without_library(words: Sequence[str]) -> None:
    """Run a command where this library, its environment and its checkout are not installed."""
    bubblewrap = shutil.which("bwrap")
    hidden = {Path(sys.prefix), *(Path(folder) for folder in compiler_gym.__path__)}
    hidden |= {parent for parent in Path(__file__).parents if (parent / "pyproject.toml").exists()}
    options = [word for folder in sorted(map(str, hidden)) for word in ("--tmpfs", folder)]
    box = [bubblewrap or "", "--dev-bind", "/", "/", *options, "--"]
    probe = ["sh", "-c", f"! ls {Path(compiler_gym.__file__ or '')}"]
    if (
        bubblewrap is None
        or subprocess.run([*box, *probe], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs bubblewrap, and permission to mount")
    clean = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    subprocess.run([*box, *words], check=True, env=clean, cwd="/")


@needs_plugin
def test_the_rules_that_change_a_program_can_be_turned_off(binary: Binary, tmp_path: Path) -> None:
    whole = make_whole(binary, binary.path, jobs=1)
    maker = LlvmMaker(Linker(binary, tmp_path), whole, _plan(binary, PROGRAM, PLUGIN))
    rules = maker.list_rules()
    assert rules
    assert maker.of(_plan(binary, PROGRAM)).list_rules() == []
    # Without its smallest code, a function may get the next one.
    off = {f"-{rule}" for rule in (*rules, "frame", "simple", "unprepared")}
    without = maker.of(_plan(binary, PROGRAM, PLUGIN, *sorted(off)))
    plain = read_code(maker.of(_plan(binary, PROGRAM)).make("plain"))
    assert read_code(without.make("without")) == plain != read_code(maker.make("with"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_there", [pytest.param(True, marks=needs_plugin), False], ids=["with", "without"]
)
def test_a_tuning_starts_from_it(
    tmp_path: Path, is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_there:
        monkeypatch.setenv(PLUGIN_VARIABLE, "/no-such.so")
    project, output = tmp_path / "tree", tmp_path / "out"
    project.mkdir()
    calls = "".join(f"sum += edit{n}(first, sum, {n} + count);" for n in range(8))
    functions = "".join(
        f"__attribute__((noinline)) int edit{n}(struct node *node, int a, int b) {{"
        f' printf("%d %d\\n", a, b + {n}); node->value = {n}; node->weight = a * b - {n};'
        f' printf("%d\\n", a); return printf("%d\\n", node->weight + b); }}\n'
        for n in range(8)
    )
    source = NODES.replace("int main", f"{functions}int main").replace(
        "int sum = 0;", f"int sum = 0; {calls}"
    )
    (project / "nodes.c").write_text(source)
    build = ("sh", "-ec", "$CC -O2 -c nodes.c && $CC nodes.o -o nodes")
    request = Request(build, project, output, compilations=20, measure=Measure.LOADED)
    (result,) = TuningJob(request, LlvmTuner()).run()
    assert (PLUGIN in result.found.plan.plugin) == is_there
    script = output / "reproduce.sh"
    assert (PLUGIN_VARIABLE in script.read_text()) == is_there
    subprocess.run(["sh", script, project, tmp_path / "again"], check=True)
    assert (tmp_path / "again/nodes").read_bytes() == (output / "bin/nodes").read_bytes()
