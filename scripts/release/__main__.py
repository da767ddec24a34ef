# SPDX-License-Identifier: MIT
"""``python -m scripts.release``: check a release, or write its part of the changelog.

python -m scripts.release check                         everything, for every Python there is
python -m scripts.release check --python python3.11     for one only
python -m scripts.release changelog                     join changelog.d/ into CHANGELOG.md
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compiler_gym.version import __version__
from scripts.release import changelog, pythons, trying, wheels
from scripts.release.places import Environment, Place, Root

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/start.md")
"""What a newcomer reads; each block of them runs."""
PLUGIN = ROOT / "examples" / "plugin_pass" / "run.py"
"""A program that builds a pass plug-in and uses it."""
ROOTS = ("trixie:python3.13", "sid:python3.14", "sid:python3.15")
"""Other releases of Debian, and the Pythons that they bring."""


def of_version(root: Path) -> Iterator[str]:
    """Return what is wrong with the version and with what the changelog says of it."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", __version__):
        yield f"version.py: expected a version such as 1.2.3 or 1.2.3rc1, found {__version__}"
    page = root / "CHANGELOG.md"
    released = rf"^## {re.escape(__version__)} \(\d{{4}}-\d\d-\d\d\)$"
    if not page.exists() or not re.search(released, page.read_text(encoding="utf-8"), re.MULTILINE):
        yield f"CHANGELOG.md says nothing of {__version__}: python -m scripts.release changelog"
    try:
        if changelog.fragments(root / "changelog.d"):
            yield "changelog.d/ has sentences of no release: python -m scripts.release changelog"
    except ValueError as error:
        yield str(error)


def of_place(place: Place, *made: Path) -> Iterator[str]:
    """Return how wheels disappoint a newcomer in a place where nothing else is."""
    try:
        place.install(*made)
    except (OSError, subprocess.CalledProcessError) as error:
        yield f"the wheels cannot be installed: {error}"
        return
    done = place.run("python", "-c", trying.SNIPPET)
    if done.returncode or "define " not in done.stdout:
        yield f"the snippet fails: {done.stderr.strip()[-500:]}"
    for name in PAGES:
        for block in trying.blocks((ROOT / name).read_text(encoding="utf-8")):
            if (found := trying.run_block(block, place)) is not None:
                yield f"{name}: {found}"
    if isinstance(place, Environment):  # the plug-in and its LLVM are this machine's
        done = place.run("python", str(PLUGIN), clang=True)
        if done.returncode or "changed something: True" not in done.stdout:
            yield f"{PLUGIN.name} fails with a plug-in: {done.stderr.strip()[-500:]}"
    if len(made) > 1:
        done = place.run("python", "-c", trying.LOOPS)
        if done.returncode:
            yield f"loop nests fail: {done.stderr.strip()[-500:]}"


def of_commands(root: Path) -> Iterator[str]:
    """Return which of the release's other commands fail."""
    commands = [["compiler-gym", "leaderboard", "verify", "--sample", "2"], ["make", "site"]]
    for words in commands:
        if subprocess.run(words, cwd=root, check=False).returncode:
            yield f"`{' '.join(words)}` failed"


def places(options: argparse.Namespace, folder: Path) -> Iterator[Place]:
    """Return where wheels are tried: with each Python of this machine, and on newer Debians."""
    for number, python in enumerate(options.python):
        yield Environment(python, folder / str(number))
    for root in options.root:
        suite, _, python = root.partition(":")
        yield Root(suite, python, folder / root.replace(":", "-"))


def of_wheels(options: argparse.Namespace) -> Iterator[str]:
    """Build the wheels and return what is wrong with them, or goes wrong where they are tried."""
    fetched = ROOT / "build" / "pythons"
    if not options.python:
        pythons.stable(fetched)  # gets one if there is none
    options.python = options.python or pythons.found(fetched)
    made: dict[bool, list[Path]] = {}
    source = wheels.build_source(ROOT, options.into)
    print(f"{source.name}: {source.stat().st_size:,} bytes", flush=True)
    yield from wheels.metadata_complaints([source])
    with tempfile.TemporaryDirectory() as folder:
        for place in places(options, Path(folder)):
            is_stable = place.version >= (3, 12)
            if is_stable not in made:
                made[is_stable] = []
                for kind in wheels.MAIN, wheels.JIT:
                    given = [wheel for wheel in options.wheel if kind.is_of(wheel, is_stable)]
                    python = pythons.stable(fetched) if is_stable else place.python
                    origin = source if kind is wheels.MAIN else ROOT / kind.folder
                    wheel = (given or [wheels.build(origin, python, options.into, kind)])[0]
                    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes", flush=True)
                    found = [*wheels.complaints(wheel, kind), *wheels.metadata_complaints([wheel])]
                    yield from (f"{wheel.name}: {line}" for line in found)
                    made[is_stable].append(wheel)
            print(f"Trying them: {place}", flush=True)
            yield from (f"{place}: {line}" for line in of_place(place, *made[is_stable]))
            place.remove()


def check(options: argparse.Namespace) -> int:
    """Check everything, print each complaint, and return the exit status."""
    options.into.mkdir(parents=True, exist_ok=True)
    complaints = itertools.chain(
        of_version(ROOT),
        of_wheels(options),
        () if options.wheels_only else of_commands(ROOT),
    )
    is_ready = True
    for line in complaints:
        is_ready = False
        print(f"NOT READY {line}", file=sys.stderr, flush=True)
    print(f"{__version__} is ready" if is_ready else "not ready")
    return not is_ready


def main() -> int:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(prog="scripts.release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check")
    checking.add_argument(
        "--python",
        action="append",
        default=[],
        help="[default: all there are, and one from 3.12 on is fetched if there is none]",
    )
    checking.add_argument(
        "--root",
        action="append",
        metavar="SUITE:PYTHON",
        help=f"a Debian to make and to try in [default: {', '.join(ROOTS)}]",
    )
    checking.add_argument("--no-root", action="store_const", dest="root", const=[])
    checking.add_argument(
        "--wheel",
        type=Path,
        action="append",
        default=[],
        help="not to be built again, for the Pythons that are tried",
    )
    checking.add_argument("--wheels-only", action="store_true", help="no site, no leaderboard")
    checking.add_argument("--into", type=Path, default=ROOT / "dist")
    commands.add_parser("changelog")
    options = parser.parse_args()
    if options.command == "check" and options.root is None:
        options.root = list(ROOTS)
    if options.command == "check":
        return check(options)
    print(changelog.release(ROOT, __version__), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
