# SPDX-License-Identifier: MIT
"""``compiler-gym rust`` prints settings, and cargo links with them by the policy."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym._llvm import LLVM_VERSION
from compiler_gym.builds import measure_sizes
from tests.command_line import COMMAND, Run
from tests.tools.tune.rust import PATH, PRINTED, needs_rust, write_workspace

ROOT = Path(__file__).parents[4]
OTHER = """#!/bin/sh
case "$*" in
  -vV) echo release: 1.80.0; echo LLVM version: 18.1.7;;
  *branch*|*pre*) exit 1;;
esac
"""


def cargo(folder: Path, flags: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["cargo", "build", "--release", "--offline"], cwd=folder, capture_output=True, text=True,
        check=True, env=os.environ | {"PATH": PATH, "RUSTFLAGS": flags},
    )  # fmt: skip


def test_another_llvm_gets_flags_that_it_knows(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "rustc").write_text(OTHER)
    (tmp_path / "rustc").chmod(0o755)
    shown = cli("rust", "--rustc", str(tmp_path / "rustc"), COLUMNS="400").output
    assert "rustc 1.80.0 is built on LLVM 18.1.7, but this library on 22.1" in shown
    assert "-Cllvm-args=-enable-machine-outliner=always" in shown
    assert "compiler-gym-cc" not in shown
    assert "-enable-pre=" not in shown
    assert "cost=-1" in shown.replace("branching", "")


def test_without_rust_the_message_names_the_package_to_install(cli: Run) -> None:
    ran = cli("rust", "--rustc", "no-such-rustc")
    assert ran.status == 2
    assert "apt install rustc-web cargo-web" in ran.errors


@needs_rust
def test_the_settings_are_those_of_this_rustc(cli: Run) -> None:
    rustc = shutil.which("rustc", path=PATH)
    shown = cli("rust", "--rustc", str(rustc), "--minsize", "--json").json
    assert shown["can_link"]
    assert shown["rustflags"][-1] == "-Clink-arg=--minsize"


def test_a_patch_release_of_our_llvm_is_named_next_to_ours(cli: Run, tmp_path: Path) -> None:
    patch = f"{LLVM_VERSION.rpartition('.')[0]}.99"
    (tmp_path / "rustc").write_text(OTHER.replace("18.1.7", patch))
    (tmp_path / "rustc").chmod(0o755)
    shown = cli("rust", "--rustc", str(tmp_path / "rustc"), COLUMNS="400").output
    assert f"LLVM {patch}; this library's {LLVM_VERSION} fits." in shown
    assert "compiler-gym-cc" in shown


@needs_rust
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_guide_and_readme_show_the_present_sizes(cli: Run, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "rust.md").read_text(encoding="utf-8")
    rustc = ("--rustc", str(shutil.which("rustc", path=PATH)))
    shown = cli("rust", *rustc, COLUMNS="400").output
    first = shown.splitlines()[0]
    if first not in guide:
        pytest.skip(f"the guide's output is that of another release of Rust: {first}")
    (profile,) = re.findall(r"  (\[profile.release\]\n(?:  .+\n)+)", shown)
    (program,) = re.findall(r"```rust\n(.+?)```", guide, re.S)
    manifest = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n'
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text(manifest + profile)
    (tmp_path / "src" / "main.rs").write_text(program)
    built = tmp_path / "target" / "release" / "demo"
    cargo(tmp_path, "")
    plain = built.stat().st_size
    for options in ((), ("--minsize",)):
        shutil.rmtree(tmp_path / "target")
        flags = " ".join(cli("rust", *rustc, *options, "--json").json["rustflags"])
        (message,) = re.findall(r"demo-\w+(: .+)", cargo(tmp_path, flags).stderr)
        assert message in guide
    for page in (guide, (ROOT / "README.md").read_text(encoding="utf-8")):
        assert f"{plain:,}" in page
        assert f"{built.stat().st_size:,}" in page
        assert f"{100 - 100 * built.stat().st_size / plain:.0f} %" in page


@needs_rust
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_workspace_is_linked_by_the_policy(cli: Run, tmp_path: Path) -> None:
    project = write_workspace(tmp_path)
    flags = " ".join(cli("rust", "--minsize", "--json").json["rustflags"])
    said = cargo(project, flags).stderr
    release = project / "target" / "release"
    for name in ("app-", "second-", "libcd.so"):
        (line,) = (line for line in said.splitlines() if f"cc: {name}" in line)
        assert re.search(r"loaded bytes with --policy size; the code of rustc [\d,]+ \(-", line)
    assert said.count("compiler-gym cc: ") == 3  # neither build script nor macro
    for name, text in PRINTED.items():
        shown = subprocess.run([release / name], capture_output=True, text=True, check=True)
        assert shown.stdout == text
    assert ctypes.CDLL(str(release / "libcd.so")).twice(21) == 42
    small = measure_sizes(release / "second").loaded
    shutil.rmtree(project / "target")
    manifest = project / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace('lto = "fat"', 'lto = "off"'))
    said = cargo(project, flags).stderr
    assert "linked without --policy size: the standard library is not part of the optimised" in said
    assert measure_sizes(release / "second").loaded > small


@needs_rust
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_cargo_project_is_tuned_tested_and_reproduced(tmp_path: Path) -> None:
    project, output = write_workspace(tmp_path / "project"), tmp_path / "tuned"
    programs = (
        f'test "$(target/release/{name})" = "{text[:-1]}"' for name, text in PRINTED.items()
    )
    words = [
        *COMMAND, "tune", "--budget-compilations", "1", "--output", output,
        "--binary", "second", "--binary", "libcd.so",
        "--check", " && ".join(["cargo test --release --offline", *programs]),
        "--", "cargo", "build", "--release", "--offline",
    ]  # fmt: skip
    subprocess.run(words, cwd=project, check=True, env=os.environ | {"PATH": PATH})
    assert not (project / "target").exists()
    assert ctypes.CDLL(str(output / "bin/target/release/libcd.so")).twice(21) == 42
    script, tree, again = output / "reproduce.sh", output / "work" / "tree", tmp_path / "again"
    subprocess.run(["sh", script, tree, again], check=True)
    for name in ("second", "libcd.so"):
        path = Path("target/release", name)
        assert (again / path).read_bytes() == (output / "bin" / path).read_bytes()
