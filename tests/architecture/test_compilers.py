# SPDX-License-Identifier: MIT
"""Neutral folders speak no compiler's language, no compiler knows another; every gate can fail.

The language is asked of the compilers themselves: their names and environments, their
spaces, actions, tools and files. A word of it in neutral code or in its text is found;
docstrings may give examples.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.registration import C_SOURCE, CXX_SOURCE, compilers
from compiler_gym.tools.tune.llvm import driver
from scripts.sources import CORE, PACKAGES, ROOT

COMPILERS = ["gcc", "llvm", "loop_tool", "mlir"]
OF_COMPILERS = {"compiler_gym_foreign", "compiler_gym_inline"} | {
    f"compiler_gym_{compiler}" for compiler in COMPILERS
}
"""Packages that are about compilers; the foreign ones have answers of LLVM's protocol."""


def is_neutral(path: Path) -> bool:
    """Return whether a file belongs to no compiler, as its environment or its part of a tool."""
    if path.parts[0] in OF_COMPILERS:
        return False
    if path.parts[0] == "tools" or path.parts[0] in PACKAGES:
        return not set(COMPILERS) & set(path.parts)
    return path.parts[0] != "envs" and path != Path("__init__.py")


FILES = {path.relative_to(CORE): path for path in CORE.rglob("*.py")} | {
    path.relative_to(folder.parent): path
    for folder in PACKAGES.values()
    for path in folder.rglob("*.py")
}
NEUTRAL = sorted(filter(is_neutral, FILES))

TOOLS = {"clang", "clang++", "opt", "llc", "lli", "gcc", "g++"}
"""The programs that make up the bundled compilers."""

COMMON = {
    "Choices",  # GCC's action space of all options at once
    "Passes",  # what optimising compilers consist of
    "Pipelines",
    "Functions",  # and programs
    "cc",  # the compiler of any Unix
    "action_mask",  # Gymnasium's word for what may be done
    "choices",
    "command_line",
    "default",  # the inliner's action to leave a call to LLVM
    "inline",
    "peak",
    "reassociate",
    "rest",  # the inliner's action to leave it all to LLVM
    "runtime",
    "sink",
    "source",
    "split",  # Python's own, of text
    "stop",  # what ends an episode
    "timing",
    "undo",
    "up",
}
"""Words of a compiler that are everybody's."""

LEVEL = re.compile(r"-O([0-3sz]|fast|g)")
"""What every compiler's command line calls its standard levels."""

DOCUMENTED = "CompilerGym 0.2.5 documents this path or default"
FORMATS = "a fact of published files: what programs are stored as"
ALLOWED = {
    "cli/describe.py": ({"opt"}, "how names of observations at a level end"),
    "sandbox/ways.py": ({"opt"}, "a folder of the system"),
    "compat/old_datasets.py": ({"llvm"}, DOCUMENTED),
    "compat/old_scripts.py": ({"CompilerGymV0", "llvm", "llvm-v0"}, DOCUMENTED),
    "compat/old_paths.py": ({".mlir", "gcc", "llvm", "loop_tool", "mlir"}, DOCUMENTED),
    "builds/command_line.py": ({".bc", ".ll", "llvm"}, "what the words of a command line mean"),
    "builds/elf.py": ({"gcc", "llvm"}, "what sections are called"),
    "tools/tune/commands/cc.py": ({"llvm"}, "the compiler whose compilations are recorded"),
    "tools/tune/commands/rust.py": ({"llvm"}, "a rustc is built on an LLVM"),
    "tools/tune/tuner.py": ({"gcc", "gcc-v0", "llvm"}, "the compiler that can be tuned with"),
    "builds/watch.py": (
        {".bc", "llvm"},
        "rustc passes bitcode to a linker and deletes it, so it is kept and compiled here",
    ),
    "tools/tune/builds/recording.py": (
        {"clang", "clang++", "g++", "gcc"},
        "the names that builds call them by",
    ),
    "datasets/bundled.py": ({".bc"}, FORMATS),
    "compiler_gym_corpus/commands/policy.py": ({"llvm"}, "the compiler of linked programs"),
    "compiler_gym_corpus/packages/building.py": (
        {"clang", "clang++", "g++", "gcc"},
        "the names that builds call them by",
    ),
    "compiler_gym_corpus/packages/failures.py": (
        {"clang", "gcc"},
        "how compilers of a distribution begin errors",
    ),
    "compiler_gym_corpus/collections/importers.py": ({".bc", ".ll"}, FORMATS),
    "compiler_gym_corpus/collections/readers.py": ({".bc"}, FORMATS),
    "datasets/published_archives.py": ({"llvm"}, "a fact of published files: their addresses"),
    "tools/learn/commands/tails.py": ({"clang", "llvm", "llvm-v0", "Bitcode"}, "the base of tails"),
    "tools/learn/tails/table.py": ({"clang"}, "the level that tails follow, on the card"),
    "tools/learn/leaderboard/__init__.py": ({"llvm"}, DOCUMENTED),
    "tools/learn/tails/__init__.py": ({"llvm"}, "the compiler that has tails"),
    "tools/learn/leaderboard/llvm_instcount.py": ({"llvm", "llvm-v0"}, DOCUMENTED),
    "options/limits.py": ({".bc", ".ll", ".mlir", "mlir"}, FORMATS),
    "spaces/rewards.py": ({"IsRunnable", "Runtime"}, DOCUMENTED),
    "tools/sizes/binary.py": ({"gcc", "llvm"}, "names of sections, and of bitcode"),
    "tools/tune/proving.py": ({"gcc"}, "names of libraries"),
    "tools/sizes/estimates.py": ({"clang", "gcc"}, "what compilers write into sections"),
    "tools/sizes/owners.py": ({"llvm"}, "how names of copied functions end"),
    "tools/sizes/parts.py": ({"gcc", "llvm"}, "names of sections"),
    "tools/sizes/remedies.py": (
        {
            "-fno-asynchronous-unwind-tables",
            "-fno-exceptions",
            "-fno-omit-frame-pointer",
            "-fno-unwind-tables",
            "clang",
            "merge",
        },
        "what drivers of several compilers are told",
    ),
    "wrappers/layers.py": ({"Marks"}, "another thing of the same name"),
    "wrappers/rewards.py": ({"Runtime"}, DOCUMENTED),
    "wrappers/wrapper.py": ({"Marks"}, "another thing of the same name"),
}
"""The words that a file may say, and why."""


@cache
def vocabulary() -> frozenset[str]:
    """Return the words that only a compiler can know."""
    words = set(TOOLS)
    words |= {*driver.COMMANDS}
    for compiler in compilers().values():
        if not compiler.environment.startswith("compiler_gym"):
            continue
        words |= {environment.id for environment in compiler.environments}
        for id in [environment.id for environment in compiler.environments][:1]:
            with compiler_gym.make(id) as env:
                words |= {*env.observation, *env.reward, env.pipeline_parameter or ""}
                for space in env.action_spaces:
                    words |= {str(getattr(space, "name", "")), *getattr(space, "names", ())}
    return frozenset(word for word in words - COMMON if word and not LEVEL.fullmatch(word))


@cache
def suffixes() -> tuple[str, ...]:
    """Return the ends of the names of files that not everybody reads."""
    formats = {one for compiler in compilers().values() for one in compiler.formats} - {
        C_SOURCE,
        CXX_SOURCE,
    }
    return tuple(sorted(suffix for one in formats for suffix in one.suffixes))


def identifiers_and_texts(source: str) -> Iterator[str]:
    """Yield what code says, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, (ast.arg, ast.keyword)):
            yield node.arg or ""
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.name for alias in node.names)
            yield getattr(node, "module", None) or ""


def named_in(source: str) -> set[str]:
    """Return the words of compilers that code says in names and in text."""
    found: set[str] = set()
    for said in identifiers_and_texts(source):
        found |= {compiler for compiler in COMPILERS if compiler in said.lower()}
        for word in re.split(r"[\s'\"`()\[\]{},;:=|/]+", said):
            if word in vocabulary() or re.sub(r"-\d+$", "", word) in TOOLS:
                found.add(word)
            found |= {suffix for suffix in suffixes() if word.endswith(suffix)}
    return found


def test_there_are_several_compilers() -> None:
    assert set(COMPILERS) <= compilers().keys()


@pytest.mark.parametrize("package", sorted({path.parts[0] for path in NEUTRAL}))
def test_neutral_code_says_no_word_of_a_compiler_but_those_allowed(package: str) -> None:
    for path in (path for path in NEUTRAL if path.parts[0] == package):
        allowed, _ = ALLOWED.get(str(path), (set[str](), ""))
        found = named_in(FILES[path].read_text())
        assert found - allowed == set(), path
        assert allowed - found == set(), f"{path} says no such word: shorten ALLOWED"


def test_exceptions_name_existing_files() -> None:
    assert set(ALLOWED) <= {str(path) for path in NEUTRAL}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    """For LLVM."""\n    return name == "gcc-v0"\n', {"gcc", "gcc-v0"}),
        ("from compiler_gym.envs.llvm import LlvmEnv\n", {"llvm"}),
        ('state = "IrHash"\n', {"IrHash"}),
        ('space = "PassesAndPipelines"\n', {"PassesAndPipelines"}),
        ("def f(reward='ObjectTextSizeOz'): ...\n", {"ObjectTextSizeOz"}),
        ("cost = env.observation[f'{name} asm_size']\n", {"asm_size"}),
        ("names = 'sroa instcombine'\n", {"sroa", "instcombine"}),
        ("env.step(-1, flag='-fno-inline')\n", {"-fno-inline"}),
        ("word = 'opt-22 --print-passes'\n", {"opt-22"}),
        ("def find(opt): ...\n", {"opt"}),
        ("hint = 'install clang'\n", {"clang"}),
        ("path = f'{name}.found.bc'\n", {".bc"}),
        ("param = 'llvm.apply_pipeline'\n", {"llvm", "llvm.apply_pipeline"}),
        ("make(env='llvm-autophase-ic-v0')\n", {"llvm", "llvm-autophase-ic-v0"}),
        ('"""As in gcc, with opt, to a.bc."""\nx = "-Oz of main.c"\n', set[str]()),
    ],
)
def test_a_word_of_a_compiler_is_found(source: str, found: set[str]) -> None:
    assert named_in(source) == found


def other_compilers(path: Path, source: str) -> set[str]:
    """Return the compilers that a file of a tool imports besides the one its folder is for."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for module in modules:
            if module.startswith("compiler_gym"):
                found |= set(COMPILERS) & {*module.replace("compiler_gym_", "").split(".")}
    return found - set(path.parts)


NOTHING: tuple[set[str], str] = (set(), "")


def test_a_tools_folder_for_a_compiler_imports_no_other() -> None:
    files = [path for path in FILES if path.parts[0] == "tools" or path.parts[0] in PACKAGES]
    found = {
        path: other_compilers(path, FILES[path].read_text())
        - ALLOWED.get(str(path), (set[str](), ""))[0]
        for path in files
        if path.parts[0] not in OF_COMPILERS
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_an_import_of_another_compiler_is_found() -> None:
    source = "from compiler_gym.envs import llvm\nimport compiler_gym_gcc.toolchain\n"
    assert other_compilers(Path("tools/tune/llvm/size.py"), source) == {"gcc"}
    assert other_compilers(Path("tools/tune/goal.py"), source) == {"gcc", "llvm"}


def test_imports_that_name_a_compiler_are_found(tmp_path: Path) -> None:
    wrong = {
        "core/env.py": ("import compiler_gym.envs.llvm", "The kernel names no compiler"),
        "core/state.py": ("import compiler_gym_gcc", "The core imports no package"),
        "spaces/rewards.py": ("import compiler_gym.tools.tune", "Imports point one way"),
        "tools/learn/__init__.py": ("import compiler_gym.tools.tune", "Tools know few others"),
    }
    # Under another name, because the installed package would be found first.
    copies = {path: Path(CORE.name) / path.relative_to(CORE) for path in CORE.rglob("*.py")}
    copies |= {path: file for file, path in FILES.items() if file.parts[0] in PACKAGES}
    for path, file in {**copies, ROOT / "pyproject.toml": Path("pyproject.toml")}.items():
        copy = tmp_path / str(file).replace("compiler_gym", "renamed")
        copy.parent.mkdir(parents=True, exist_ok=True)
        line, _ = wrong.get(file.as_posix().removeprefix(f"{CORE.name}/"), ("", ""))
        copy.write_text(f"{path.read_text()}\n{line}\n".replace("compiler_gym", "renamed"))
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    broken = [row for row in done.stdout.splitlines() if "BROKEN" in row]
    assert done.returncode == 1, done.stdout + done.stderr
    for _, contract in wrong.values():
        assert any(contract in row for row in broken), done.stdout
