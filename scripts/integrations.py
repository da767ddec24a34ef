# SPDX-License-Identifier: MIT
"""Run the example of each library with its newest release, in a separate environment.

python -m scripts.integrations trl minari

Each row of integrations.toml is installed into .venv-integrations/NAME together with our
dependencies; our package is linked from the environment of this interpreter. Then the code on the
row's pages runs, and its tests. Versions and outcomes are stored in docs/results/integrations.json,
which `make docs` shows. An interrupted run keeps the rows that have finished. Exit status 1 if a
row's outcome is worse than the stored one.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["RESULTS", "Integration", "Outcome", "main", "read_outcomes", "read_table"]

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "integrations.json"
_TABLE = Path(__file__).with_suffix(".toml")
_BLOCKS = ROOT / "tests" / "docs" / "blocks.py"
_ENVIRONMENTS = ROOT / ".venv-integrations"
_OURS = ("_editable_skbc_compiler_gym_next.*", "compiler_gym", "compiler_gym_next-*.dist-info")
_TESTING = ("hypothesis", "pytest", "pytest-randomly", "pytest-timeout")
_BESIDE = ("gymnasium", "torch", "numpy")
_LIST = """
import json, importlib.metadata as metadata
found = metadata.distributions()
print(json.dumps({one.name.lower().replace("_", "-"): one.version for one in found}))
"""
_TIME_LIMIT = 900.0


@dataclass(frozen=True, slots=True)
class Integration:
    """A library that we work with."""

    package: str
    """The name on the package index."""
    pages: Sequence[str]
    """The pages whose code is run, relative to the repository; the table links the first."""
    title: str = ""
    """The name that the table shows; the package's if empty."""
    needs: Sequence[str] = ()
    """The libraries of the pages' blocks to run, as those blocks name them."""
    extras: Sequence[str] = ()
    """Our extras to install."""
    also: Sequence[str] = ()
    """Other requirements to install."""
    tests: Sequence[str] = ()
    """Test files to run, relative to the repository."""
    python: str = ""
    """The version of Python that the library needs; the code then runs in our environment."""
    note: str = ""
    """A limitation of the library for our users."""

    @property
    def requirements(self) -> list[str]:
        """The arguments of `uv pip install` for the library and what its example needs."""
        extras = [word for extra in self.extras for word in ("--extra", extra)]
        ours = [] if self.python else ["-r", "pyproject.toml", *extras, *_TESTING]
        return [*ours, self.package, *self.also]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of running one row."""

    package: str
    version: str
    date: str
    error: str = ""
    """The last line of what failed; empty if everything worked."""
    beside: dict[str, str] = field(default_factory=dict[str, str])
    """The versions of other libraries in the environment."""


def read_table() -> list[Integration]:
    """Return the rows of the table."""
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return [Integration(package, **row) for package, row in rows.items()]


def read_outcomes() -> dict[str, Outcome]:
    """Return the stored outcomes by package."""
    if not RESULTS.exists():
        return {}
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {row["package"]: Outcome(**row) for row in rows}


def try_integration(row: Integration) -> Outcome:
    """Install the newest release of a library, run its example and return the outcome."""
    environment = _ENVIRONMENTS / row.package
    python = environment / "bin" / "python"
    version, beside = "", {}
    try:
        _run(
            "uv", "venv", "--allow-existing", "--python", row.python or sys.executable, environment
        )
        _run("uv", "pip", "install", "--upgrade", "--python", python, *row.requirements)
        version, beside = _read_versions(row.package, python)
        if not row.python:
            _link_ours(python)
        runner = sys.executable if row.python else python
        for page in row.pages:
            with tempfile.TemporaryDirectory() as folder:
                _run(runner, _BLOCKS, ROOT / page, "--heavy", *row.needs, folder=folder)
        if row.tests:
            pytest = ("-m", "pytest", "-q", "-m", "not docs", "-W", "default", "-n0")
            _run(runner, *pytest[: None if row.python else -1], *row.tests)
        error = ""
    except subprocess.TimeoutExpired as stopped:
        error = f"no end after {stopped.timeout:.0f} s"
    except subprocess.CalledProcessError as failed:
        error = _find_reason(failed)
    return Outcome(row.package, version, f"{datetime.date.today()}", error, beside)


def _find_reason(failed: subprocess.CalledProcessError) -> str:
    """Return the last line of the output that names an error."""
    lines = [line.strip() for line in failed.stdout.splitlines() if line.strip()]
    last = lines[-1] if lines else f"exit status {failed.returncode}"
    return next((line for line in reversed(lines) if "rror" in line), last)


def _run(program: str | Path, *arguments: str | Path, folder: str | Path = ROOT) -> str:
    """Run a program to its end and return its output; a failure prints and raises it."""
    if program == "uv":
        program = Path(sys.executable).with_name("uv")
    folders = (Path(program).parent, Path(sys.executable).parent)
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    done = subprocess.run(
        [program, *arguments], cwd=folder, env={**os.environ, "PATH": path}, timeout=_TIME_LIMIT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        done.check_returncode()
    return done.stdout


def _link_ours(python: Path) -> None:
    """Link our package, which is compiled once, from this environment into another."""
    ours = Path(sysconfig.get_path("purelib"))
    theirs = python.parents[1] / ours.relative_to(sys.prefix)
    for path in [path for pattern in _OURS for path in ours.glob(pattern)]:
        (theirs / path.name).unlink(missing_ok=True)
        (theirs / path.name).symlink_to(path)


def _read_versions(package: str, python: Path) -> tuple[str, dict[str, str]]:
    """Return the installed versions of `package` and of the libraries it is installed with."""
    listed = json.loads(_run(python, "-c", _LIST))
    beside = {name: listed[name] for name in _BESIDE if name in listed and name != package}
    return listed[package], beside


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the named integrations, or all, and store the outcomes."""
    table = read_table()
    parser = argparse.ArgumentParser(prog="python -m scripts.integrations", description=__doc__)
    names = [row.package for row in table]
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(names))
    chosen = parser.parse_args(arguments).packages
    if unknown := set(chosen).difference(names):
        parser.error(f"no row for {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    worse = 0
    for row in table:
        if chosen and row.package not in chosen:
            continue
        outcome, before = try_integration(row), read_outcomes()
        print(f"{row.package} {outcome.version}: {outcome.error or 'works'}", flush=True)
        known = before.get(row.package)
        worse += bool(outcome.error) and not (known and known.error)
        stored = {**before, row.package: outcome}
        rows = [asdict(stored[name]) for name in names if name in stored]
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
