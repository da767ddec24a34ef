# SPDX-License-Identifier: MIT
"""Every test run has caches of its own, so that nothing of a user's is read or written."""

import importlib.util
import os
import re
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from compiler_gym.service import busy_workers
from compiler_gym.testing import descendants
from tests.command_line import cli as cli
from tests.command_line import other_warm as other_warm
from tests.command_line import source as source
from tests.command_line import states as states
from tests.effort import examples
from tests.warm import Warm

_OF_EVERYTHING = {"agents", "architecture", "benchmarks", "docs", "examples", "programs", "scripts"}
"""Folders of tests that are about the repository as a whole, not about the core."""
_MISSING = re.compile(
    "is missing here: pip|No module named 'compiler_gym_|It may be in compiler_gym_"
)

# Nothing is judged by how long the machine took. A fixture may serve all examples of a test.
settings.register_profile(
    "any machine",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("any machine")
# Tests of the core use helpers of a package's tests.
sys.path.extend(str(folder) for folder in sorted(Path(__file__).parent.glob("packages/*/tests")))
# As in an activated environment: a path with a blank cannot be a part of ``CC``.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point every cache at a directory of this run."""
    base = tmp_path_factory.mktemp("compiler_gym")
    names = (
        "COMPILER_GYM_CACHE",
        "COMPILER_GYM_LOGS",
        "COMPILER_GYM_SITE_DATA",
        "COMPILER_GYM_TRANSIENT_CACHE",
    )
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(base / name.lower()) for name in names})
    yield base
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Keep a process that has the library loaded, to run programs in forks of it."""
    process = Warm()
    yield process
    process.close()


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> None:
    """Undo what a shell does to a background job, which ignores SIGINT, and a library to us."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def set_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Say how many workers can compute at once, and have no more cores than that."""
    there = sorted(os.sched_getaffinity(0))

    def set_to(count: int) -> None:
        monkeypatch.setattr(busy_workers, "cores", count)
        os.sched_setaffinity(0, there[:count])
        busy_workers.clear()

    yield set_to
    for pid in (os.getpid(), *descendants(os.getpid())):  # what began meanwhile may stay
        with suppress(ProcessLookupError):
            os.sched_setaffinity(pid, there)
    monkeypatch.undo()
    busy_workers.clear()


@pytest.fixture
def one_core(set_cores: Callable[[int], None]) -> None:
    """Have more workers busy than there are cores, as soon as there are two."""
    set_cores(1)


if os.environ.get("TEST_EFFORT") == "changed":
    from tests import proven

    def pytest_report_header() -> str:
        """Say what is omitted."""
        count = len(proven.unchanged())
        return f"omitted: tests of {count} parts as they were when they passed (make test-all)"

    @pytest.hookimpl(tryfirst=True)  # before slow tests are left out
    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        """Mark the tests of unchanged parts as slow."""
        proven.omit(items)


if importlib.util.find_spec("compiler_gym_gcc") is None:  # tests/without_packages hides them

    def pytest_ignore_collect(collection_path: Path) -> bool | None:
        """Leave out tests of what needs a package or all of them."""
        if collection_path.is_dir():
            return True if collection_path.name in _OF_EVERYTHING else None
        text = collection_path.read_text() if collection_path.suffix == ".py" else ""
        return (
            True if re.search(r"^(?:from|import) (?:compiler_gym|test)_\w+", text, re.M) else None
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Skip a test that a missing package fails."""
        report = yield
        if report.failed and _MISSING.search(str(report.longrepr)):
            report.outcome = "skipped"
            report.longrepr = ("", 0, "needs a package that is missing")
        return report
