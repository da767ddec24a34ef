"""The command that builds packages says what it needs, how far it is and how each ended."""

from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError, InvalidParameterError
from compiler_gym.options import PackageChoice
from compiler_gym_corpus.commands.packages import (
    Distribution,
    build_with_progress,
    lock_for,
    show_outcomes,
)
from compiler_gym_corpus.packages import (
    BuildOutcome,
    LockedPackage,
    PackageBuilder,
    PackageLock,
    PackageResult,
    write_lock,
)
from test_corpus.packages.sources import (
    LIMITS,
    AssemblyCompiler,
    FolderSupplier,
    make_source,
    needs_tools,
)
from tests.command_line import Run

BUILD = ("datasets", "build", "debian", "--output")


def test_a_missing_distribution_is_reported() -> None:
    with pytest.raises(InvalidParameterError, match="choose debian"):
        Distribution("plan9", "llvm-v0")


def test_an_unsuitable_compiler_is_reported() -> None:
    with pytest.raises(DatasetInitError, match="cannot build packages"):
        Distribution("debian", "gcc-v0")


def test_the_command_asks_what_to_build(cli: Run, tmp_path: Path) -> None:
    failed = cli(*BUILD, str(tmp_path / "o"))

    assert "exactly one of --lock FILE, --packages FILE and --count N" in failed.errors


def test_a_machine_without_bubblewrap_names_the_package_to_install(
    cli: Run, tmp_path: Path
) -> None:
    write_lock(tmp_path / "lock.toml", PackageLock((), ()))
    lock, output = str(tmp_path / "lock.toml"), str(tmp_path / "o")

    failed = cli(*BUILD, output, "--lock", lock, PATH="/nowhere")

    assert "apt install bubblewrap" in failed.errors


def test_names_are_read_without_comments(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("# only this\n\n")

    with pytest.raises(DatasetInitError, match="contains no package names"):
        lock_for(Distribution("debian", "llvm-v0"), PackageChoice(packages=str(tmp_path / "names")))


@needs_tools
def test_each_package_is_a_line_with_counts_and_the_time_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_source(tmp_path, "tiny", {"a.c": "int x;\n"}, "gcc -c a.c")
    lock = PackageLock((), (LockedPackage("tiny", "1"), LockedPackage("nothing", "1")))
    builder = PackageBuilder(tmp_path / "o", FolderSupplier(tmp_path), AssemblyCompiler(), LIMITS)

    results = build_with_progress(lock, builder, jobs=1, ray=None)

    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("[1/2] tiny 1: built, 1 modules, 0 programs, ")
    assert said[0].endswith(" s left")
    assert said[1].startswith("[2/2] nothing 1: no such package: ")
    assert build_with_progress(lock, builder, jobs=1, ray=None) == results
    assert capsys.readouterr().err == ""


def test_the_table_counts_outcomes_and_gives_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = [
        PackageResult(name, "1", "", "", outcome, reason)
        for name, outcome, reason in (
            ("a", BuildOutcome.BUILT, ""),
            ("b", BuildOutcome.BUILT, ""),
            ("c", BuildOutcome.COMPILER, "x.c:1: error: " + "long " * 30),
        )
    ]

    show_outcomes(results, Path("/o"))

    shown = capsys.readouterr().out
    assert "67 %" in shown
    assert "compiler refused" in shown
    assert "0 modules and 0 linked programs in /o" in shown
    assert max(map(len, shown.splitlines())) <= 80
