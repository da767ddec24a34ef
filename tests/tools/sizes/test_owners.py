# SPDX-License-Identifier: MIT
"""Names are demangled as LLVM does it, and bytes go to crates, namespaces and sources."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.sizes import Grouping, Owner, measure_file

from .conftest import BUILDS, Build, analyse

HASH = "17h0123456789abcdefE"


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
    ("mangled", "namespace"),
    [
        ("main", "[no namespace]"),
        ("_Z6globalIiESt6vectorIT_SaIS1_EES1_", "[no namespace]"),  # its result is in std
        ("_ZN3app5plainIiEEN3lib5ThingET_", "app"),
        ("_ZN3app8deduced2IiEEDcT_.constprop.0.cold", "app"),
        ("_ZN3app3viaIiEET_PFS1_S1_ES1_", "app"),
        ("_ZNK3app1CclEN3lib5ThingE", "app"),  # operator()
        ("_ZNK3app1CltERKS0_", "app"),
        ("_ZNK3app1CcvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv", "app"),
        ("_ZN3app4nameB5cxx11Ev", "app"),
        ("_ZN3app12_GLOBAL__N_16hiddenEi", "app"),
        ("_ZN12_GLOBAL__N_14loneEi", "(anonymous namespace)"),
        ("_ZZN3app7pointerIiEEPN3lib5ThingET_E1s", "app"),
        ("_ZGVZN3app7pointerIiEEPN3lib5ThingET_E1s", "app"),
        ("_ZZ4mainENUliE_4_FUNEi", "[no namespace]"),
        ("_ZNK3$_0clEi", "[no namespace]"),
        ("_ZNK3app3$_0clEi", "app"),
        ("_ZNSt6vectorIN3app1CESaIS1_EE9push_backEOS1_", "std"),
        ("_ZSt4sortIPN3app1CEEvT_S3_", "std"),
        ("_ZNKSs4findEPKcmm", "std"),
        ("_ZN9__gnu_cxx3fooEv", "__gnu_cxx"),
        ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std"),
        ("_ZlsRSoRKN3app1CE", "[no namespace]"),
        ("_ZTVN3app1CE", "app"),
        ("_ZTVSt9bad_alloc", "std"),
        ("_ZTIPKN3app1CE", "app"),
        ("_ZTSFvN3app1CEE", "[no namespace]"),
        ("_ZTCN3app1DE0_N3lib1BE", "app"),
        ("_ZThn16_N3app1D1fEv", "app"),
        ("_ZTv0_n24_N3app1D1fEv", "app"),
        ("_ZTchn16_h8_N3app1D1fEv", "app"),
        ("_ZTWN3app5localE", "app"),
        ("_ZGRN3app3refE_", "app"),
        ("_GLOBAL__sub_I__ZN3app5tableE", "app"),
        ("___ZN3app1fEv_block_invoke", "app"),
        ("_ZN4core3fmt5write" + HASH, "core"),
        ("_ZN54_$LT$a..shop..S$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt" + HASH, "a"),
        ("_ZN52_$LT$$u5b$u8$u3b$$u20$4$u5d$$u20$as$u20$a..Price$GT$5price" + HASH, "a"),
        ("_RNvCs6GmmlP4bgsG_1r4main", "r"),
        ("_RNvC5shape3foo", "shape"),
        ("_RNvCsfLfy6EI15iL_7___rustc11___rdl_alloc", "__rustc"),
        ("_RNvMsD_NtCsgEmfK2I1SDS_4core3numy16from_ascii_radix", "core"),
        ("_RNvMsC3_NtCsgEmfK2I1SDS_4core3numy16from_ascii_radix", "core"),
        ("_RNvXs0_Cs6GmmlP4bgsG_1rThNtNtCslNYArtu3iFV_5alloc6string6StringENtB5_5Price5price", "r"),
        ("_RINvMNtCsgEmfK2I1SDS_4core3stre18trim_start_matchesReECsgY6Mt91CT9J_14rustc_demangle",
         "core"),
        ("_R" + "Ms_" * 1000, "[no namespace]"),
    ],
)  # fmt: skip
def test_a_namespace_is_the_outermost_one_of_the_mangled_name(
    tmp_path: Path, mangled: str, namespace: str
) -> None:
    text = f'.globl "{mangled}"\n.type "{mangled}",@function\n"{mangled}": .quad 0\n'
    (tmp_path / "a.s").write_text(text + f'.size "{mangled}", 8\n')
    subprocess.run(["clang-22", "-c", "a.s"], cwd=tmp_path, check=True)
    (row,) = measure_file(tmp_path / "a.o").owners[Grouping.NAMESPACE]
    assert row == Owner(namespace, 8)


def test_the_type_of_a_result_owns_nothing(build: Build) -> None:
    source = """
        namespace lib { struct Thing { int a; }; template <class T> struct Box { T t; }; }
        namespace app {
        template <class T> __attribute__((noinline)) lib::Thing plain(T t) { return {int(t) * 3}; }
        template <class T> __attribute__((noinline)) lib::Box<T> boxed(T t) { return {t * 5}; }
        }
        int main(int c, char **) { return app::plain(c).a + app::boxed(c).t; }
    """
    names = [
        row.name for row in measure_file(build(source, "g++ -xc++ -O1")).owners[Grouping.NAMESPACE]
    ]
    assert [name for name in names if not name.startswith("[")] == ["app"]


@pytest.mark.parametrize("form", ["zlib-gnu", "zlib-gabi", "zstd"])
def test_sources_are_read_from_compressed_debug_information(
    build: Build, tmp_path: Path, form: str
) -> None:
    whole, packed = build("c", "gcc -O1 -g"), tmp_path / "packed"
    subprocess.run(["objcopy", f"--compress-debug-sections={form}", whole, packed], check=True)
    files = measure_file(packed).owners[Grouping.FILE]
    assert files == measure_file(whole).owners[Grouping.FILE] != []


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
