# SPDX-License-Identifier: MIT
"""``python -m tools.release``: check a release, or write its part of the changelog.

python -m tools.release check                         everything, for every Python there is
python -m tools.release check --wheel dist/NAME.whl   a wheel that was built before
python -m tools.release changelog                     join changelog.d/ into CHANGELOG.md
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compiler_gym.version import __version__
from tools.release import changelog, trying, wheels

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/start.md")
"""What a newcomer reads; each block of them runs."""


def of_version(root: Path) -> Iterator[str]:
    """Return what is wrong with the version and with what the changelog says of it."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", __version__):
        yield f"version.py: expected a version such as 1.2.3, found {__version__}"
    page = root / "CHANGELOG.md"
    if not page.exists() or f"## {__version__} (" not in page.read_text(encoding="utf-8"):
        yield f"CHANGELOG.md says nothing of {__version__}: python -m tools.release changelog"
    try:
        if changelog.fragments(root / "changelog.d"):
            yield "changelog.d/ has sentences of no release: python -m tools.release changelog"
    except ValueError as error:
        yield str(error)


def of_wheel(wheel: Path, python: str, into: Path) -> Iterator[str]:
    """Return what is wrong with a wheel: its content, and how it works where nothing else is."""
    yield from wheels.complaints(wheel)
    inside = trying.install(wheel, python, into / "environment")
    done = trying.run_bare(inside, str(inside), "-c", trying.SNIPPET, home=into / "home")
    if done.returncode or "define " not in done.stdout:
        yield f"the snippet fails: {done.stderr.strip()[-500:]}"
    for name in PAGES:
        page = ROOT / name
        if not page.exists():
            continue
        for block in trying.blocks(page.read_text(encoding="utf-8")):
            if (found := trying.run_block(block, inside, into / "home")) is not None:
                yield f"{name}: {found}"


def of_commands(root: Path) -> Iterator[str]:
    """Return which of the release's other commands fail."""
    commands = [["compiler-gym", "leaderboard", "verify", "--sample", "2"]]
    if re.search(r"^site:", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        commands.append(["make", "site"])
    for words in commands:
        if subprocess.run(words, cwd=root, check=False).returncode:
            yield f"`{' '.join(words)}` failed"


def check(options: argparse.Namespace) -> int:
    """Check everything, print each complaint, and return the exit status."""
    found = list(of_version(ROOT))
    options.into.mkdir(parents=True, exist_ok=True)
    for python in wheels.pythons(options.python):
        wheel = options.wheel or wheels.build(ROOT, python, options.into)
        print(f"{python}: {wheel.name}, {wheel.stat().st_size:,} bytes", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            found += [f"{python}: {line}" for line in of_wheel(wheel, python, Path(folder))]
    if not options.wheels_only:
        found += of_commands(ROOT)
    for line in found:
        print(f"NOT READY {line}", file=sys.stderr)
    print("not ready" if found else f"{__version__} is ready")
    return bool(found)


def main() -> int:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(prog="tools.release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check")
    checking.add_argument("--python", action="append", default=[], help="[default: all there are]")
    checking.add_argument("--wheel", type=Path, help="do not build one")
    checking.add_argument("--wheels-only", action="store_true", help="no site, no leaderboard")
    checking.add_argument("--into", type=Path, default=ROOT / "dist")
    commands.add_parser("changelog")
    options = parser.parse_args()
    if options.command == "check":
        return check(options)
    print(changelog.release(ROOT, __version__), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
