"""Many packages into one folder: whatever stops a build costs the packages in work."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, DatasetInitError
from compiler_gym_corpus.packages import (
    BuildOutcome,
    LockedPackage,
    PackageBuilder,
    PackageLock,
    build_packages,
    open_output,
    read_results,
)
from test_corpus.packages.sources import (
    LIMITS,
    AssemblyCompiler,
    FolderSupplier,
    make_source,
    needs_tools,
)
from tests.stand_ins import always

pytestmark = needs_tools

HELLO = {"a.c": "int main(void) { return 0; }\n"}
NAMES = ("first", "second", "third")
LOCK = PackageLock((), tuple(LockedPackage(name, "1") for name in NAMES))
SCRIPT = """
import sys
from pathlib import Path
from compiler_gym_corpus.packages import *
from test_corpus.packages.test_several import LOCK, builder
for result in build_packages(LOCK, builder(Path(sys.argv[1]))):
    print(result.package, flush=True)
"""


def builder(folder: Path) -> PackageBuilder:
    return PackageBuilder(
        folder / "output", FolderSupplier(folder / "sources"), AssemblyCompiler(), LIMITS
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sources").mkdir()
    for name in NAMES:
        build = (
            "test -e /run/build/go && gcc -c a.c || sleep 60" if name == "second" else "gcc -c a.c"
        )
        make_source(tmp_path / "sources", name, HELLO, build)
    return tmp_path


@pytest.mark.parametrize(
    "signal_number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL]
)
def test_a_build_that_is_ended_goes_on_with_the_package_in_work(
    folder: Path, signal_number: signal.Signals
) -> None:
    ours = [str(Path(__file__).parents[index]) for index in (2, 5)]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(ours)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        _wait_until(lambda: bool(_sleeping()))
        os.kill(process.pid, signal_number)
        process.wait(30)
    _wait_until(lambda: not _sleeping())

    assert [result.package for _, result in read_results(folder / "output")] == ["first"]
    make_source(folder / "sources", "second", HELLO, "gcc -c a.c")
    again = builder(folder)
    results = list(build_packages(LOCK, again))
    assert [(result.package, result.outcome) for result in results] == [
        (name, BuildOutcome.BUILT) for name in NAMES
    ]
    assert again.supplier.fetched == ["second", "third"]  # type: ignore[attr-defined]  # ours
    left = {path.name for path in (folder / "output" / "packages").iterdir()}
    assert left == {f"{name}_1" for name in NAMES}


def test_two_jobs_build_what_one_does(folder: Path) -> None:
    make_source(folder / "sources", "second", HELLO, "gcc -c a.c")

    results = list(build_packages(LOCK, builder(folder), jobs=2))

    assert sorted(result.package for result in results) == sorted(NAMES)
    assert {result.outcome for result in results} == {BuildOutcome.BUILT}


def test_an_iteration_that_is_left_ends_what_is_in_work(folder: Path) -> None:
    for _ in build_packages(LOCK, builder(folder)):
        break

    assert not _sleeping()


def test_a_folder_with_packages_is_taken_only_to_go_on(tmp_path: Path) -> None:
    open_output(tmp_path, PackageLock((), ()), resume=False).release()
    open_output(tmp_path, LOCK, resume=False).release()  # nothing was built with the other lock
    (tmp_path / "packages" / "first_1").mkdir(parents=True)

    with pytest.raises(DatasetInitError, match="--resume"):
        open_output(tmp_path, LOCK, resume=False)
    with pytest.raises(DatasetInitError, match="another lock"):
        open_output(tmp_path, PackageLock((), ()), resume=True)
    held = open_output(tmp_path, LOCK, resume=True)
    with held, pytest.raises(CacheError, match="is in use by"):
        open_output(tmp_path, LOCK, resume=True)


def test_a_full_disk_stops_the_build_and_gives_the_fix(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 5})()
    monkeypatch.setattr("shutil.disk_usage", always(usage))

    with pytest.raises(DatasetInitError, match="free some space and continue with --resume"):
        list(build_packages(LOCK, builder(folder)))


def _sleeping() -> list[str]:
    """Return the builds that sleep, whoever started them."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", b"60"] and _in_box(path.parent):
            found.append(path.parent.name)
    return found


def _in_box(process: Path) -> bool:
    try:
        return os.readlink(process / "cwd").startswith("/run/build/second")
    except OSError:
        return False


def _wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    pytest.fail("it did not come to that within 30 s")
