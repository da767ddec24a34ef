# SPDX-License-Identifier: MIT
"""Plug-ins in a worker: built here, as their authors build them."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.toolchain.plugins.session import PluginSession
from compiler_gym.errors import (
    EnvironmentNotSupported,
    InvalidActionError,
    PluginError,
    ServiceInitError,
    UnknownNameError,
    WorkerCrashedError,
)
from compiler_gym.service.caching import TranspositionCache
from tests.once import made_once

HEADERS = Path("/usr/lib/llvm-22/include/llvm/Plugins/PassPlugin.h")
COMPILER = shutil.which("g++") or shutil.which("clang++-22")
POLLY = Path("/usr/lib/llvm-22/lib/LLVMPolly.so")
HAS_ENGINE = any((Path(f) / "_shared").is_dir() for f in compiler_gym.__path__)
pytestmark = [
    pytest.mark.skipif(not HEADERS.exists(), reason="llvm-22-dev is missing"),
    pytest.mark.skipif(COMPILER is None, reason="g++ and clang++-22 are missing"),
    pytest.mark.skipif(not HAS_ENGINE, reason="the engine that shares LLVM was not built"),
]

SOURCE = """
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include <cstdlib>
using namespace llvm;
struct Mark : PassInfoMixin<Mark> {
  bool crashes;
  explicit Mark(bool crashes) : crashes(crashes) {}
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    if (crashes) abort();
    for (auto &function : module) {
      if (!function.isDeclaration()) function.addFnAttr(Attribute::Cold);
    }
    return PreservedAnalyses::none();
  }
};
extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Test", "1", [](PassBuilder &builder) {
    builder.registerPipelineParsingCallback(
        [](StringRef name, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
          if (name != "mark-cold" && name != "crash-hard") return false;
          passes.addPass(Mark(name == "crash-hard"));
          return true;
        });
  }};
}
"""
STUB = """
struct Info { unsigned version; const char *name, *text; void (*add)(void *); void *code; };
struct Info llvmGetPassPluginInfo(void) { struct Info info = {VERSION, "Stub"}; return info; }
"""


def compiled(source: Path, *flags: str) -> Path:
    library = source.with_suffix(".so")
    command = [str(COMPILER), "-fPIC", "-shared", *flags]
    command += ["-x", "c" if source.suffix == ".c" else "c++", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plug-in with a pass that marks functions cold and one that crashes."""

    def build(folder: Path) -> None:
        source = folder / "plugin.cpp"
        source.write_text(SOURCE)
        compiled(source, "-std=c++17", "-fno-rtti", "-isystem", str(HEADERS.parents[2]))

    return made_once(tmp_path_factory, "test-plugin", build) / "plugin.so"


@pytest.fixture
def stub(tmp_path: Path) -> Callable[..., Path]:
    """Return what compiles a library in C that has a plug-in's entry, or none."""

    def build(version: str = "2", extra: str = "", *flags: str, entry: str = STUB) -> Path:
        source = tmp_path / f"stub{len(list(tmp_path.iterdir()))}.c"
        source.write_text(entry.replace("VERSION", version) + extra)
        return compiled(source, *flags)

    return build


def rebuilt(plugin: Path, folder: Path) -> Path:
    """Return a file of the same name that does the same and is another."""
    copy = folder / plugin.name
    copy.write_bytes(plugin.read_bytes() + b"\0")
    return copy


def make(**options: Any) -> LlvmEnv:
    made = compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32", **options)
    assert isinstance(made, LlvmEnv)
    return made


@pytest.mark.skipif(shutil.which("opt-22") is None, reason="opt-22 is missing")
def test_opt_with_the_plugin_makes_the_same_bytes(plugin: Path, tmp_path: Path) -> None:
    with make(plugins=[plugin], passes=["mark-cold"]) as env, make() as plain:
        env.reset()
        plain.reset()
        assert env.observation["IrHash"] == plain.observation["IrHash"]
        env.write_bitcode(tmp_path / "input.bc")
        for name in ("sroa", "mark-cold", "inline"):
            *_, info = env.step(env.action_space[name])
            assert not info["action_had_no_effect"]
        *_, info = env.step(env.action_space["mark-cold"])
        assert info["action_had_no_effect"]
        command = env.commandline().replace("opt ", "opt-22 ", 1)
        assert env.commandline_to_actions(env.commandline()) == env.actions
        marked = env.write_marked(tmp_path / "input.bc")
        assert marked == env.commandline().replace("input.bc", f"{tmp_path}/input.bc")
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)
        assert (tmp_path / "output.bc").read_bytes() == env.observation["Bitcode"].tobytes()


def test_actions_keep_their_numbers_and_every_list_gets_the_pass(plugin: Path) -> None:
    with make(plugins=[plugin], passes=["mark-cold"]) as env, make() as plain:
        for name in ("Passes", "PassesAll", "PassesAndPipelines"):
            theirs = next(s for s in env.action_spaces if s.name == name)
            ours = next(s for s in plain.action_spaces if s.name == name)
            assert theirs.names == [*ours.names, "mark-cold"]
            assert theirs.flags[-1] == "mark-cold"
        env.reset(action_space="Parameters")
        plain.reset()
        env.multistep([{"pass": "mark-cold"}, {"pass": "inline", "inline-threshold": 5}])
        assert env.commandline().count("-load-pass-plugin=") == 2
        assert env.commandline_to_actions(env.commandline()) == env.actions
        assert {s.name for s in env.action_spaces} == {
            *("Passes", "PassesAll", "PassesAndPipelines", "PassesAndCodegen", "Parameters")
        }
        # -Oz is LLVM's own, whatever was loaded.
        assert env.observation["IrInstructionCountOz"] == plain.observation["IrInstructionCountOz"]


def test_spaces_whose_commands_load_no_plugin_are_not_offered_with_one(plugin: Path) -> None:
    with make(plugins=[plugin]) as env:
        assert "Marks" not in [space.name for space in env.action_spaces]
    with pytest.raises(UnknownNameError, match="Marks"):
        make(plugins=[plugin], action_space="Marks")


def test_a_state_names_the_plugin_and_replays_with_it_alone(plugin: Path, tmp_path: Path) -> None:
    options = {"plugins": [plugin], "passes": ["mark-cold"]}
    with make(**options) as env:
        env.reset()
        env.step(env.action_space["mark-cold"])
        state = env.state
        assert state.compiler_version == f"22.1.8+{env.plugins[0].identity}"
        assert env.validate().okay()
        with env.fork() as fork:
            assert fork.state.state_hash == state.state_hash
        with make(**options) as other:
            other.apply(state)
            assert other.state.state_hash == state.state_hash
    with make() as plain, pytest.raises(PluginError, match="has no plug-ins; use make"):
        plain.apply(state)
    other_file = rebuilt(plugin, tmp_path)
    with (
        make(plugins=[other_file], passes=["mark-cold"]) as another,
        pytest.raises(PluginError, match="has a different file with that name"),
    ):
        another.apply(state)


def test_caches_do_not_take_one_plugin_for_another(plugin: Path, tmp_path: Path) -> None:
    cache = TranspositionCache()
    versions: set[str] = set()
    for file in (plugin, rebuilt(plugin, tmp_path)):
        with make(plugins=[file], passes=["mark-cold"], cache=cache) as env:
            versions.add(env.compiler_version)
            env.reset()
            *_, info = env.step(env.action_space["mark-cold"])
            assert not info["action_had_no_effect"]
    assert len(versions) == 2


def test_a_pass_that_crashes_ends_the_episode_and_no_more(plugin: Path) -> None:
    with make(plugins=[plugin], passes=["crash-hard"]) as env:
        env.reset()
        *_, truncated, info = env.step(env.action_space["crash-hard"])
        assert truncated
        assert isinstance(info["error"], WorkerCrashedError)
        env.reset()
        *_, truncated, _ = env.step(env.action_space["sroa"])
        assert not truncated


def test_a_library_that_crashes_when_it_is_loaded_is_an_error(stub: Callable[..., Path]) -> None:
    crash = "void abort(void); __attribute__((constructor)) static void f(void) { abort(); }"
    with pytest.raises(ServiceInitError):
        make(plugins=[stub("2", crash)])


def test_libraries_that_are_not_plugins_of_this_llvm_are_refused(
    stub: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(PluginError, match="it has no llvmGetPassPluginInfo"):
        make(plugins=[stub(entry="int it;")])
    with pytest.raises(PluginError, match="version 1 of the plug-in interface"):
        make(plugins=[stub("1")])
    with pytest.raises(PluginError, match="undefined symbol"):
        make(plugins=[stub("2", "void nobody(void); void *it = (void *)&nobody;")])
    name = "libLLVM.so.21.1"
    other = stub("2", "", f"-Wl,-soname,{name}", entry="int it;").rename(tmp_path / name)
    with pytest.raises(PluginError, match=r"linked with libLLVM\.so\.21\.1, but this is LLVM 22"):
        make(plugins=[stub("2", "", "-Wl,--no-as-needed", str(other))])


def test_a_refusal_by_llvm_is_an_error() -> None:
    if not POLLY.exists():
        pytest.skip("LLVMPolly.so is missing")
    # libLLVM of Debian has the options of Polly already.
    with pytest.raises(PluginError, match="LLVM aborted"):
        make(plugins=[POLLY])


def test_unknown_and_existing_pass_names_are_refused(plugin: Path, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"no pass 'nope' in .*: unknown"):
        make(plugins=[plugin], passes=["nope"])
    with pytest.raises(PluginError, match="'licm', which is one of LLVM's own passes"):
        make(plugins=[plugin], passes=["licm"])
    with pytest.raises(PluginError, match="several plug-ins have a pass 'mark-cold'"):
        make(plugins=[plugin, rebuilt(plugin, tmp_path)], passes=["mark-cold"])
    with make() as env, pytest.raises(InvalidActionError, match="mark-cold"):
        env.commandline_to_actions("opt -passes=mark-cold input.bc -o output.bc")


def test_the_users_process_loads_nothing(plugin: Path) -> None:
    with pytest.raises(PluginError, match="plug-ins need a worker process"):
        make(plugins=[plugin], isolation="in-process")
    code = (
        "import compiler_gym\n"
        f"env = compiler_gym.make('llvm-v0', plugins=[{str(plugin)!r}], passes=['mark-cold'])\n"
        "env.reset()\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libLLVM' not in maps and 'plugin' not in maps, maps\n"
        "env.close()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_engine_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in a process without either engine, which one is before it serves plug-ins.
    monkeypatch.delitem(sys.modules, "compiler_gym._llvm", raising=False)
    monkeypatch.setattr(compiler_gym, "__path__", ["/nowhere"])
    with pytest.raises(EnvironmentNotSupported, match="apt install llvm-22-dev"):
        PluginSession.prepare({"plugins": "[]", "passes": "[]"})
