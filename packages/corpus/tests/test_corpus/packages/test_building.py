"""A package is built by its own rules, and whatever it does is a row: nothing else is touched."""

import dataclasses
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compiler_gym.options import PackageLimits
from compiler_gym_corpus.packages import (
    BuildOutcome,
    LockedPackage,
    OwnTests,
    PackageResult,
    build_package,
)
from compiler_gym_corpus.packages.building import BuildStopped
from compiler_gym_corpus.packages.roots import Root, base_tree, clone_tree
from test_corpus.packages.sources import (
    LIMITS,
    AssemblyCompiler,
    FolderSupplier,
    built,
    make_source,
    needs_tools,
)

pytestmark = needs_tools

MAIN = {"main.c": "int f(void);\nint main(void) { return f(); }\n"}
LIBRARY = {"lib/f.c": "int f(void) { return 0; }\n"}
MAKEFILE = {
    "Makefile": "all: run\n"
    "lib/f.o: lib/f.c\n\tgcc -O2 -I$(CURDIR)/lib -c lib/f.c -o lib/f.o\n"
    "lib/lib.a: lib/f.o\n\tar rc lib/lib.a lib/f.o\n"
    "run: main.c lib/lib.a\n\tgcc main.c lib/lib.a -lm -o run\n"
    "check: run\n\t./run\n"
}
HELLO = {"a.c": "int main(void) { return 0; }\n"}


def test_a_package_becomes_modules_and_a_program_whose_tests_ran(tmp_path: Path) -> None:
    result, output = built(tmp_path, MAIN | LIBRARY | MAKEFILE, "$(MAKE)")

    assert result.outcome is BuildOutcome.BUILT, result.log_tail
    assert (result.version, result.license) == ("1", "Zlib and MIT")
    assert {(m.file, m.license, m.language) for m in result.modules} == {
        ("main.c", "Zlib", "c"),
        ("lib/f.c", "MIT", "c"),
    }
    (program,) = result.programs
    assert (program.name, program.libraries) == ("run", ("-lm",))
    assert set(program.modules) == {module.sha256 for module in result.modules}
    assert all(module.programs == ("run",) for module in result.modules)
    assert (program.tests, result.test_command[-1]) == (OwnTests.PASSED, "check")
    assert (output / program.tree).is_file()
    assert {p.stem for p in (output / "modules").iterdir()} == set(program.modules)
    assert [p.stem for p in (output / "programs").iterdir()] == [program.sha256]


def test_commands_name_no_place_of_the_machine(tmp_path: Path) -> None:
    result, _ = built(tmp_path, MAIN | LIBRARY | MAKEFILE, "$(MAKE)")

    words = next(module.command for module in result.modules if module.file == "lib/f.c")

    assert words == ("gcc", "-O2", "-I./lib", "-c", "lib/f.c", "-o", "lib/f.o")


def test_a_source_that_was_compiled_twice_is_one_module(tmp_path: Path) -> None:
    build = "gcc -c a.c -o 1.o; gcc -fPIC -DPIC -c a.c -o 2.o; gcc -DOTHER -c a.c -o 3.o"

    result, _ = built(tmp_path, HELLO, build)

    assert [(module.file, "-DOTHER" in module.command) for module in result.modules] == [
        ("a.c", False),
        ("a.c", True),
    ]


def test_test_programs_of_a_configure_step_are_not_modules(tmp_path: Path) -> None:
    build = "cp a.c conftest.c && gcc -c conftest.c && gcc -c a.c"

    result, _ = built(tmp_path, HELLO, build)

    assert [module.file for module in result.modules] == ["a.c"]


def test_a_source_that_our_compiler_refuses_costs_one_module(tmp_path: Path) -> None:
    bad = {"b.c": "int g(void) { return 0; }\n"}
    build = 'gcc -c a.c && gcc -c b.c && echo "no C" > b.c'

    result, output = built(tmp_path, HELLO | bad, build)

    assert [module.file for module in result.modules] == ["a.c"]
    assert result.refused == ("b.c",)
    assert "no C" in (output / "refused.log").read_text()


@pytest.mark.parametrize(
    ("outcome", "build", "reason"),
    [
        (BuildOutcome.NOT_C, "true", "compiled no C"),
        (BuildOutcome.SOURCES_GONE, "gcc -c a.c && rm a.c", r"deleted, for example a\.c"),
        (BuildOutcome.SOURCES_GONE, "gcc -c a.c && rm -rf $(CURDIR)", "deleted"),
        (BuildOutcome.COMPILER, "echo nonsense > b.c; gcc -c b.c", "b.c:1.* error: "),
        (BuildOutcome.CONFIGURE, "echo 'configure: error: no libnothing'; exit 1", "no libnothing"),
        (BuildOutcome.NO_DEPENDENCY, "no-such-tool --all", "no-such-tool"),
        (BuildOutcome.RULES, "false", "Error 1"),
        (BuildOutcome.DISK, "dd if=/dev/zero of=large bs=1M count=2000", "ize limit|large|MiB"),
        (BuildOutcome.DISK, "for i in `seq 999`; do head -c 1000000 /dev/zero > $$i; done", "MiB"),
        (BuildOutcome.MEMORY, "head -c 900000000 /dev/zero | tail -n 1; sleep 20", "MiB"),
        (BuildOutcome.PROCESSES, "while :; do sleep 60 & done", "40 processes"),
        (BuildOutcome.TIME, "sleep 60", "longer than 2 s"),
    ],
)
def test_a_package_that_cannot_be_built_is_a_row(
    tmp_path: Path, outcome: BuildOutcome, build: str, reason: str
) -> None:
    limits = PackageLimits(
        seconds=2 if outcome is BuildOutcome.TIME else 60,
        memory_bytes=300 << 20,
        disk_bytes=40 << 20,
        processes=40,
        test_seconds=0,
    )

    result, output = built(tmp_path, HELLO, build, limits)

    assert result.outcome is outcome, result.log_tail
    assert pytest.approx(0, abs=60) == result.seconds
    assert re.search(reason, result.reason), result.reason
    assert (output / "build.log").is_file()


def test_a_hostile_name_is_only_a_name(tmp_path: Path) -> None:
    name = "a b;$(touch evil)'\"-x.c"

    result, _ = built(tmp_path, {name: "int x;\n", "Makefile": "all:\n\tgcc -c *.c\n"}, "$(MAKE)")

    assert [module.file for module in result.modules] == [name]
    assert not list(tmp_path.rglob("evil"))


def test_a_build_sees_no_file_of_the_user_and_writes_none(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    build = f"gcc -c a.c; cat {secret}; touch /usr/evil; touch {tmp_path}/evil; true"

    result, output = built(tmp_path, HELLO, build)

    assert result.outcome is BuildOutcome.BUILT
    log = (output / "build.log").read_text()
    assert log.count("Read-only file system") == 1
    assert log.count("No such file or directory") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["output", "secret", "sources"]


def test_a_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    build = "gcc -c a.c -o a.o; ln -s /etc/passwd b.c; ln -s /dev/zero c.o; gcc a.o -o run; true"

    result, _ = built(tmp_path, HELLO, build)

    assert [module.file for module in result.modules] == ["a.c"]


def test_a_package_that_does_not_exist_is_a_row(tmp_path: Path) -> None:
    result = _without_source(tmp_path, FolderSupplier(tmp_path))

    assert result.outcome is BuildOutcome.NO_PACKAGE


def test_a_package_whose_dependency_is_not_there_is_a_row(tmp_path: Path) -> None:
    make_source(tmp_path, "tiny", HELLO, "gcc -c a.c")

    result = _without_source(tmp_path, FolderSupplier(tmp_path, without=["tiny"]))

    assert result.outcome is BuildOutcome.NO_DEPENDENCY
    assert "libnothing-dev" in result.reason


def test_a_package_whose_dependency_is_damaged_is_a_row(tmp_path: Path) -> None:
    class DamagedSupplier(FolderSupplier):
        @contextmanager
        def root(self, package: LockedPackage) -> Generator[Root]:
            archive = self.folder / "damaged.deb"
            archive.write_bytes(b"no archive")
            with clone_tree(base_tree(self.folder / "bases", []), [archive]) as tree:
                yield Root(tree, ())

    make_source(tmp_path, "tiny", HELLO, "gcc -c a.c")

    result = _without_source(tmp_path, DamagedSupplier(tmp_path))

    assert result.outcome is BuildOutcome.NO_DEPENDENCY
    assert "cannot unpack damaged.deb" in result.reason


def test_a_source_that_is_not_the_one_of_the_lock_is_a_row(tmp_path: Path) -> None:
    make_source(tmp_path, "tiny", HELLO, "gcc -c a.c")

    result = _without_source(tmp_path, FolderSupplier(tmp_path), sha256="ab" * 32)

    assert result.outcome is BuildOutcome.BAD_SOURCE


def test_a_build_ends_soon_when_it_is_to_stop(tmp_path: Path) -> None:
    make_source(tmp_path, "tiny", HELLO, "sleep 60")

    with pytest.raises(BuildStopped):
        build_package(
            LockedPackage("tiny", "1"),
            _made(tmp_path / "output"),
            supplier=FolderSupplier(tmp_path),
            compiler=AssemblyCompiler(),
            limits=LIMITS,
            is_stopped=lambda: True,
        )


def _without_source(folder: Path, supplier: FolderSupplier, sha256: str = "") -> PackageResult:
    return build_package(
        dataclasses.replace(LockedPackage("tiny", "1"), sha256=sha256),
        _made(folder / "output"),
        supplier=supplier,
        compiler=AssemblyCompiler(),
        limits=LIMITS,
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("depth", [400, 1_500])
def test_a_tree_of_deeply_nested_folders_is_a_row(tmp_path: Path, depth: int) -> None:
    loop = f"for _ in range({depth}):\\n os.mkdir('d' * 9)\\n os.chdir('d' * 9)\\n"
    command = f'$(MAKE) && printf "import os\\n{loop}" | python3 -'
    result, _ = built(tmp_path, MAIN | LIBRARY | MAKEFILE, command)

    assert result.outcome in (BuildOutcome.BUILT, BuildOutcome.BAD_SOURCE), result.log_tail
    assert result.reason or result.outcome is BuildOutcome.BUILT
