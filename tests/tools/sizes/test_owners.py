# SPDX-License-Identifier: MIT
"""Names are demangled as LLVM does it, and bytes go to crates, namespaces and sources."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.sizes import Grouping, measure_file
from compiler_gym.tools.sizes.owners import group_by_namespace

from .conftest import BUILDS, Build, analyse


@pytest.mark.skipif(not shutil.which("llvm-cxxfilt-22"), reason="needs llvm-cxxfilt-22")
def test_names_of_cxx_are_those_of_llvm_cxxfilt(build: Build) -> None:
    analysis = analyse(build(*BUILDS["clang++ -g"]))
    indices: list[int] = analysis.items.symbol.tolist()
    mangled = [analysis.binary.symbols.name[index] for index in indices if index >= 0]
    listing = subprocess.run(
        ["llvm-cxxfilt-22"], input="\n".join(mangled), capture_output=True, text=True, check=True
    )
    named = [name for name in analysis.names if not name.startswith("[")]
    assert named == listing.stdout.splitlines()
    assert any(name.startswith("shop::Till::add(") for name in named)


@pytest.mark.parametrize("name", ["rustc", "rustc v0"])
def test_names_of_rust_have_no_hashes(build: Build, name: str) -> None:
    report = measure_file(build(*BUILDS[name]))
    names = [row.name for row in report.owners[Grouping.FUNCTION]]
    assert any(name.endswith("::main") for name in names)
    assert not [
        name for name in names if "::h" in name[-19:] and len(name.rpartition("::h")[2]) == 16
    ]
    assert not [name for name in names if "$LT$" in name or ".llvm." in name]
    crates = {row.name: row.loaded for row in report.owners[Grouping.NAMESPACE]}
    assert {"std", "core", "alloc"} < set(crates)
    assert crates["std"] > 50_000
    functions = sum(row.loaded for row in report.owners[Grouping.FUNCTION])
    assert sum(crates.values()) == functions


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("core::fmt::write", "core"),
        ("<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", "alloc"),
        ("<&T as core::fmt::Debug>::fmt", "core"),
        ("llvm::Pass::run(llvm::Module&)", "llvm"),
        ("vtable for std::bad_alloc", "std"),
        ("main", "[no namespace]"),
        ("sort(std::vector<int>&)", "[no namespace]"),
    ],
)
def test_a_namespace_is_the_outermost_one(build: Build, name: str, namespace: str) -> None:
    binary = analyse(build(*BUILDS["clang"])).binary
    assert group_by_namespace(binary, [name]) == [namespace]


@pytest.mark.parametrize("name", ["gcc -g", "clang -flto -g", "clang++ -g", "rustc v0", "riscv64"])
def test_sources_are_read_from_debug_information(build: Build, name: str) -> None:
    files = measure_file(build(*BUILDS[name])).owners[Grouping.FILE]
    suffix = {"c": ".c", "cpp": ".cpp", "rs": "main"}[BUILDS[name][0]]
    assert any(suffix in row.name or ".rs" in row.name for row in files)
    assert sum(row.loaded for row in files) > 100


@pytest.mark.parametrize("linker", ["-fuse-ld=lld", "-fuse-ld=bfd"])
def test_a_linker_map_names_objects_and_archive_members(tmp_path: Path, linker: str) -> None:
    (tmp_path / "one.c").write_text("int one(int n) { return n * 12345 + 678; }\n")
    (tmp_path / "main.c").write_text("int one(int); int main(int n, char **w) { return one(n); }\n")
    for command in (
        "gcc -O1 -c one.c main.c", "ar rc libone.a one.o",
        f"clang-22 {linker} main.o libone.a -o program -Wl,-Map=program.map",
    ):  # fmt: skip
        subprocess.run(command.split(), cwd=tmp_path, check=True)
    report = measure_file(tmp_path / "program", tmp_path / "program.map")
    sizes = {row.name: row.loaded for row in report.owners[Grouping.FILE]}
    (member,) = (size for name, size in sizes.items() if name.endswith("libone.a(one.o)"))
    assert 10 < member < 200
    assert sizes["main.o"] > 10
    assert sum(sizes.values()) <= report.loaded


def test_another_file_is_not_a_map(build: Build, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("nothing here\n")
    with pytest.raises(ProjectError, match="is not a map of lld or GNU ld: link with -Wl,-Map="):
        measure_file(build(*BUILDS["gcc"]), tmp_path / "notes")
    with pytest.raises(ProjectError, match="cannot read the linker map"):
        measure_file(build(*BUILDS["gcc"]), tmp_path / "none")
