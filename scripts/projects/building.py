# SPDX-License-Identifier: MIT
"""Build a project in a copy of its sources, and test it there."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tools.tune import recipe_named, tuner_named
from scripts.projects.table import Project

__all__ = ["BUILDS", "LADDER", "Build", "build", "by_recipe", "run", "write_scripts"]

_TOOLS = {"AR": "llvm-ar-22", "RANLIB": "llvm-ranlib-22", "NM": "llvm-nm-22"}
_LLD = "-fuse-ld=lld"
_FOLD = f"{_LLD} -Wl,--gc-sections -Wl,--icf=safe"
_PACK = f"{_FOLD} -Wl,-z,pack-relative-relocs"
_DRIVER = Path(sys.executable).with_name("compiler-gym-cc")


@dataclass(frozen=True, slots=True)
class Build:
    """A compiler and its flags, as a project's build is told of them."""

    name: str
    cc: str
    cflags: str
    ldflags: str = ""
    tools: Mapping[str, str] | None = None

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables of a build's environment."""
        tools = _TOOLS if self.tools is None else self.tools
        return {"CC": self.cc, "CFLAGS": self.cflags, "LDFLAGS": self.ldflags, **tools}


BUILDS = (
    Build("gcc -Os", "gcc", "-Os", tools={}),
    Build("clang -Oz", "clang-22", "-Oz", _LLD),
    Build("clang -Oz, outlined", "clang-22", "-Oz -mllvm -enable-machine-outliner=always", _LLD),
    Build("clang -Oz -flto", "clang-22", "-Oz -flto", _LLD),
    Build("clang -Oz -flto, folded", "clang-22", "-Oz -flto", _FOLD),
    Build("clang -Oz -flto, folded, packed", "clang-22", "-Oz -flto", _PACK),
    Build("clang -O3", "clang-22", "-O3", _LLD),
    Build("clang -O3 -flto", "clang-22", "-O3 -flto", _LLD),
)
"""What people use, by which anything found is judged; `folded` is with the linker's options
``--gc-sections --icf=safe``, `packed` with ``-z pack-relative-relocs`` as well, `outlined` with
LLVM's machine outliner in every function."""

LADDER = {
    "-O2": Build("clang -O2", "clang-22", "-O2", _LLD),
    "baseline": BUILDS[4],
    "policy, unpacked": Build(
        "policy size, unpacked", f"{_DRIVER} --policy size --old-loaders", "-O2", _LLD
    ),
    "baseline, packed": BUILDS[5],
    "policy": Build("policy size", f"{_DRIVER} --policy size", "-O2", _LLD),
}
"""The steps from usual flags to this library's, by the names that ``docs/projects.json`` uses."""
_DEFAULTS = BUILDS[1]


def by_recipe(name: str, into: Path) -> Build:
    """Return the build by the recipe `name`; its flags are in a file below `into`.

    A word of them has signs of the shell in it, which configure and make would read differently.
    """
    recipe = recipe_named(name)
    compiler, *flags = tuner_named(recipe.compiler).plain_words(recipe.plan)
    path = into / f"{name}.flags"
    path.write_text(shlex.join(flags))
    return Build(f"recipe {name}", f"{compiler} @{path}", "-Oz", _FOLD)


def run(
    script: str,
    folder: Path,
    into: Path,
    *,
    variables: Mapping[str, str] | None = None,
    log: Path | None = None,
    seconds: float = 600,
) -> bytes:
    """Run the shell lines `script` in `folder` and return what they print.

    Raises:
        SystemExit: where a line fails or all take longer than `seconds`, with the last lines
            printed; all are in `log` if it is given.
    """
    settings = _DEFAULTS.variables | {"INPUTS": str(into / "inputs"), "PART": "1", "RUN": ""}
    environment = {**os.environ, **settings, **(variables or {})}
    begun = time.monotonic()
    try:
        done = subprocess.run(
            ["sh", "-e", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise SystemExit(f"{folder}: not done in {seconds:.0f} s: {script.strip()}") from late
    if log:
        took = f"\n# {time.monotonic() - begun:.1f} s\n".encode()
        log.write_bytes(done.stdout + done.stderr + took)
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()[-2000:]
        raise SystemExit(f"{folder}: exit code {done.returncode} of: {script.strip()}\n{said}")
    return done.stdout


def build(project: Project, made_by: Build, into: Path, *, again: bool = False) -> Path:
    """Return the folder where `project` is built by `made_by`, built if it is not there."""
    name = made_by.name.replace(",", "").replace(" ", "")
    folder = into / "builds" / project.name / name
    log, built = folder.with_name(f"{name}.log"), folder.with_name(f"{name}.built")
    if built.exists() and not again:
        return folder
    built.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    # Where it stays: a configured build keeps its own path.
    shutil.copytree(into / project.name / "source", folder, symlinks=True)
    run(project.build, folder, into, variables=made_by.variables, log=log)
    if not (folder / project.binary).exists():
        raise SystemExit(f"{project.name}: the build made no {project.binary}; see {log}")
    built.touch()
    return folder


def write_scripts(project: Project, into: Path) -> None:
    """Write ``build.sh``, ``test.sh`` and ``bench.sh`` beside the sources, to run by hand."""
    for verb, lines in (("build", project.build), ("test", project.test), ("bench", project.bench)):
        settings = {**_DEFAULTS.variables, "INPUTS": str(into / "inputs"), "PART": "1", "RUN": ""}
        given = "".join(f': "${{{name}={value}}}"\n' for name, value in settings.items())
        script = into / project.name / f"{verb}.sh"
        script.write_text(
            f"#!/bin/sh -e\n# Run it in a copy of {into}/{project.name}/source.\n{given}"
            f"export {' '.join(settings)}\n{lines.strip()}\n"
        )
        script.chmod(0o755)
