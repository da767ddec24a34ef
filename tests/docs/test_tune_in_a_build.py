# SPDX-License-Identifier: MIT
"""What the page on plans in a build shows of tools that need not be installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import blocks_of

from compiler_gym.builds import measure_sizes

PAGE = Path(__file__).parents[2] / "docs/guide/tune-in-a-build.md"
PLAN = (
    'version = 1\ncompiler = "llvm 22.1.8"\ngoal = "size"\nmade_by = "1"\n'
    '[[binaries]]\nname = "checksum"\nmethod = "link-time"\n'
    'linker = ["-Wl,--gc-sections", "-Wl,--icf=safe"]\n'
)
pytestmark = [
    pytest.mark.docs,
    pytest.mark.skipif(shutil.which("ld.lld-22") is None, reason="needs lld-22"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for block in blocks_of(PAGE.read_text(encoding="utf-8")):
        if block.title is not None:
            path = tmp_path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code)
    (tmp_path / "project/tuned.toml").write_text(PLAN)
    return tmp_path / "project"


def run(project: Path, word: str) -> str:
    """Run the one block of a shell that has `word`; return what it printed."""
    shells = [block.code for block in blocks_of(PAGE.read_text()) if block.language == "sh"]
    (code,) = [code for code in shells if word in code]
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", code], cwd=project, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        env={
            **os.environ,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


@pytest.mark.skipif(shutil.which("meson") is None, reason="needs meson")
def test_meson_builds_with_a_plan(project: Path) -> None:
    assert "cbf43926  123456789" in run(project, "meson setup")


@pytest.mark.skipif(shutil.which("dh") is None, reason="needs debhelper")
def test_a_debian_package_is_built_with_a_plan(project: Path) -> None:
    said = run(project, "dpkg-buildpackage")
    assert "cbf43926  123456789" in said
    assert "compiler-gym-cc --plan" in said
    assert "compiler-gym cc:" not in said  # nothing to complain of
    assert list(project.parent.glob("checksum-dbgsym_1.0_*.deb"))
    tuned = project / "installed/usr/bin/checksum"
    words = ["clang-22", "-O2", "main.c", "checksum.c", "-fuse-ld=lld", "-o", "plain"]
    subprocess.run(words, cwd=project, check=True)
    assert (
        measure_sizes(tuned).text < measure_sizes(project / "plain").text
    )  # the plan is -Oz -flto
