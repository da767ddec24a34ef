# SPDX-License-Identifier: MIT
"""Make ``debian-sample-v0``, which comes with the library, of packages that were built.

    python -m scripts.corpus_sample FOLDER... --sources CACHE/sources

Takes modules and linked programs whose licence asks for no more than a notice, in turns from
every package and in the order of their digests, and writes the corpus and the notices of its
packages where the library has them. The same packages give the same files.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from compiler_gym.datasets import CorpusDataset
from compiler_gym.datasets.corpus import SAMPLE, sample_folder
from compiler_gym.envs.llvm.programs.shapes import find_shapes
from compiler_gym_corpus.packages import (
    BuildOutcome,
    BuiltModule,
    PackageResult,
    gather,
    read_results,
    write_result,
)

MODULES, PROGRAMS = 200, 10
MOST_BYTES = 5_000_000
LARGEST = {"module": 50_000, "program": 250_000}
"""Bytes of bitcode of the largest that are taken."""

_PERMISSIVE = re.compile(
    r"(?:Expat|MIT(?:-[\w.]+)?|X11|BSD|(?:0|1|2|3)?-?BSD(?:-[023]-?clause)?|BSD-[23]-clause[\w-]*"
    r"|ISC|Zlib|zlib/libpng|libpng|Apache-2(?:\.0)?|public-domain|PD|CC0(?:-1\.0)?|BSL-1(?:\.0)?"
    r"|Boost(?:-1\.0)?|Unlicense|NTP|HPND|curl|Lucent|Libutil-David-Ireland)",
    re.IGNORECASE,
)


def is_permissive(expression: str) -> bool:
    """Return whether one way to read a licence of ``debian/copyright`` asks for a notice only.

    >>> is_permissive("GPL-2+ or Expat"), is_permissive("GPL-2+ and Expat"), is_permissive("")
    (True, False, False)
    """
    if "(" in expression or "with" in expression.split():
        return False
    ways = re.split(r"\s+or\s+", expression)
    return any(
        all(_PERMISSIVE.fullmatch(part.strip()) for part in re.split(r"\s+and\s+|,", way))
        for way in ways
    )


def permissive_modules(result: PackageResult) -> list[BuiltModule]:
    """Return the modules of a package whose licence asks for a notice only."""
    return [one for one in result.modules if is_permissive(one.license or result.license)]


def chosen(results: Iterable[PackageResult]) -> set[str]:
    """Return the digests of what is taken: in turns of the packages, the least digests first."""
    modules: list[list[str]] = []
    programs: list[list[str]] = []
    for result in results:
        free = permissive_modules(result)
        digests = {one.sha256 for one in free}
        small = [one.sha256 for one in free if one.size <= LARGEST["module"] and one.functions]
        modules.append(sorted(small))
        linked = [
            one.sha256
            for one in result.programs
            if not one.is_shared
            and one.size <= LARGEST["program"]
            and digests.issuperset(one.modules)
            and len(one.modules) > 1
        ]
        programs.append(sorted(linked))
    return {*_in_turns(modules, MODULES), *_in_turns(programs, PROGRAMS)}


def _in_turns(lists: Sequence[Sequence[str]], most: int) -> Iterator[str]:
    taken = 0
    for turn in range(max(map(len, lists), default=0)):
        for some in lists:
            if turn < len(some) and taken < most:
                taken += 1
                yield some[turn]


def notices(packages: Sequence[Any], sources: Path) -> str:
    """Return ``debian/copyright`` of each package, out of its source."""
    texts = [
        "The programs of debian-sample-v0 are parts of these packages of Debian, compiled to\n"
        "bitcode and otherwise unchanged. What follows are their own files debian/copyright.\n"
    ]
    for package in packages:
        (description,) = sources.glob(f"{package.name}_*/{package.name}_*.dsc")
        with TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            words = ["dpkg-source", "--no-check", "--no-copy", "-x", str(description), str(tree)]
            subprocess.run(words, check=True, capture_output=True)
            text = (tree / "debian" / "copyright").read_text(errors="replace").strip()
        title = f"{package.name} {package.version}"
        texts.append(f"{title}\n{'=' * len(title)}\n\n{text}\n")
    return "\n\n".join(texts)


def join(folders: Sequence[Path], joined: Path) -> None:
    """Make one folder of the packages in `folders`, without the trees that tests are run in."""
    for place, result in (found for one in folders for found in read_results(one.absolute())):
        if result.outcome is not BuildOutcome.BUILT:
            continue
        target = joined / "packages" / place.name
        target.mkdir(parents=True)
        for name in ("modules", "programs"):
            (target / name).symlink_to(place / name)
        programs = tuple(replace(one, tree="") for one in result.programs)
        write_result(target, replace(result, programs=programs))


def main(arguments: Sequence[str]) -> int:
    """Write the sample; return 1 if it became too large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders of built packages")
    parser.add_argument("--sources", type=Path, required=True, help="where their sources are kept")
    parser.add_argument("--output", type=Path, default=sample_folder())
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as joined:
        folder = Path(joined)
        join(options.folders, folder)
        taken = chosen(result for _, result in read_results(folder))
        done = gather(
            folder,
            options.output / SAMPLE,
            name="debian-sample-v0",
            shapes=find_shapes,
            description="Modules and linked programs of Debian's packages, in splits",
            license="permissive: NOTICES.txt",
            choose=lambda result, built: built.sha256 in taken,
        )
    packages = CorpusDataset(done.path).packages()
    text = notices(packages, options.sources)
    (options.output / "NOTICES.txt").write_text(text, encoding="utf-8")
    size = done.path.stat().st_size + len(text.encode())
    print(f"{done}; {size:,} bytes")
    return int(size > MOST_BYTES)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
