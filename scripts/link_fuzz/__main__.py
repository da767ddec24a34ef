# SPDX-License-Identifier: MIT
"""Link random commands with compiler-gym-cc and with clang, and print where they differ.

python -m scripts.link_fuzz --cases 5000 --jobs 2
python -m scripts.link_fuzz --first 1234 --cases 1 --shrink --keep build/case

A case is reproduced by its number. It is linked by us, by `clang -O2` and by `clang -Oz -flto`; a
property that we share with one of them is right, and counted as clang's where it is the second.
Exit status 1 if a difference is ours.
"""

import argparse
import re
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.link_fuzz.cases import Case, make_case
from scripts.link_fuzz.comparing import CLANG, Verdict, judge, shrink
from scripts.link_fuzz.linking import Compiler, compile_pool
from scripts.link_fuzz.units import make_pool

__all__ = ["fuzz", "main"]

_GROUP = 25
"""Cases that share their units."""
_WAYS = (("--policy", "size"), ("--policy", "size"), ("--recipe", "small"))


def fuzz(
    group: int, seeds: Sequence[int], driver: Path, *, is_shrunk: bool = False,
    keep: Path | None = None,
) -> Iterator[tuple[Case, Verdict]]:  # fmt: skip
    """Yield the cases of `group` with numbers in `seeds`, each with its verdict."""
    way = _WAYS[group % len(_WAYS)]
    other = driver.with_name(driver.name.removesuffix("cc") + "cxx")
    ours = Compiler((str(driver), *way), (str(other), *way))
    pool = make_pool(group)
    with tempfile.TemporaryDirectory() as folder:
        pools = {name: Path(folder) / name for name in ("ours", *CLANG)}
        for name, compiler in (("ours", ours), *CLANG.items()):
            compile_pool(pool, compiler, pools[name])
        for seed in seeds:
            case = make_case(seed, pool, way)
            verdict = judge(case, ours, pools, keep)
            if is_shrunk and verdict.kinds:
                case, verdict = _shrunk(case, verdict, ours, pools)
            yield case, verdict


def _shrunk(
    case: Case, verdict: Verdict, ours: Compiler, pools: dict[str, Path]
) -> tuple[Case, Verdict]:
    kind = max(verdict.kinds)  # The gravest ones come last in the alphabet.
    smaller = shrink(case, lambda each: kind in judge(each, ours, pools).kinds)
    return smaller, judge(smaller, ours, pools)


def _print_case(case: Case, verdict: Verdict) -> None:
    print(f"case {case.seed} ({case.kind}, {' '.join(case.way)}): {', '.join(verdict.kinds)}")
    for step in case.steps:
        print("   ", shlex.join(step))
    print("   ", "CXX" if case.is_cxx else "CC", shlex.join(case.arguments))
    for name, text in case.files.items():
        if any(name in word for word in case.arguments):
            print(f"    {name}: {text.strip()!r}")
    special = [case.before, case.temporary if case.temporary != "tmp" else ""]
    print("   ", *filter(None, special), f"umask {case.umask:03o}")
    for each in verdict.differences:
        print(f"    - {each.kind}: {each.detail}" + ("" if each.is_ours else " (clang's)"))
    for note in verdict.notes:
        print(f"    {note[:200]}")
    print(flush=True)


def _reason(note: str) -> str:
    """Return a note of the driver without names of files and sizes."""
    note = note.partition(": ")[2].partition(": ")[2]
    return re.sub(r"\S*\.(o|a|so|ld)\b(\(\S+\))?|\bu\d+\b|[-\d.,]*\d[\d.,]*", "N", note)[:150]


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge as many cases as requested and print those that differ, and counts."""
    parser = argparse.ArgumentParser(prog="python -m scripts.link_fuzz", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--driver", type=Path, default=Path(".venv/bin/compiler-gym-cc"))
    parser.add_argument("--shrink", action="store_true", help="drop arguments that do not matter")
    parser.add_argument("--keep", type=Path, help="folder for what one case leaves")
    options = parser.parse_args(arguments)
    if options.keep:
        shutil.rmtree(options.keep, ignore_errors=True)
    groups: dict[int, list[int]] = {}
    for seed in range(options.first, options.first + options.cases):
        groups.setdefault(seed // _GROUP, []).append(seed)
    counts, kinds, notes = Counter[str](), Counter[str](), Counter[str]()

    def run_group(group: int) -> None:
        driver = options.driver.absolute()
        found = fuzz(
            group, groups[group], driver, is_shrunk=options.shrink,
            keep=options.keep and options.keep.absolute(),
        )  # fmt: skip
        for case, verdict in found:
            counts["linked" if verdict.status == 0 else "refused by clang"] += 1
            theirs = "clang's" if verdict.differences else "same"
            counts["ours" if verdict.kinds else theirs] += 1
            kinds.update(verdict.kinds)
            notes.update({_reason(note) for note in verdict.notes})
            if verdict.kinds:
                _print_case(case, verdict)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run_group, groups))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    for kind, count in kinds.most_common():
        print(f"{kind}\t{count}")
    for note, count in notes.most_common():
        print(f"note\t{count}\t{note}")
    raise SystemExit(1 if kinds else 0)


if __name__ == "__main__":
    main()
