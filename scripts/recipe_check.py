# SPDX-License-Identifier: MIT
"""Look for programs that a recipe breaks: random ones by csmith, compiled twice.

python -m scripts.recipe_check small --seeds 1000 --first 0

Each program prints a checksum of all that it computed. It is compiled with the words that
``compiler-gym recipe show`` prints, and with the same compiler's -O1; both run, and must print
the same and end alike. Programs that run longer than the limit in either build tell nothing and
are replaced by further seeds. Exit status 1 where one differs or does not compile.
"""

import argparse
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from compiler_gym.tools.tune import recipe_named, tuner_named

_INCLUDE = "/usr/include/csmith"
_SECONDS = 3.0
_COMPILING = 120.0
_USELESS = "useless"
_LATE, _CRASHES = "does not end", "crashes"
_NO_ANSWERS = (_LATE, _CRASHES)


def words_of(name: str) -> list[str]:
    """Return the command of the recipe `name`, without sources."""
    recipe = recipe_named(name)
    return list(tuner_named(recipe.compiler).plain_words(recipe.plan))


def verdict(words: Sequence[str], seed: int, folder: Path, functions: int) -> str:
    """Return ``same``, ``useless``, or what went wrong with the program of `seed`."""
    source = folder / f"{seed}.c"
    made = ["csmith", "--seed", str(seed), "--max-funcs", str(functions), "--output", str(source)]
    subprocess.run(made, check=True, capture_output=True, timeout=_COMPILING)
    try:
        expected = _answer([words[0], "-O1"], source)
        if expected in _NO_ANSWERS:
            return _USELESS
        found = _answer(words, source)
        if found == expected:
            return "same"
        # A loop without an end may be left out by one level: then nothing can be expected.
        return f"wrong: {found}" if _answer([words[0], "-O0"], source) == expected else _USELESS
    finally:
        source.unlink()


def _answer(command: Sequence[str], source: Path) -> str:
    """Return what `source` prints, compiled by `command`, or why there is nothing."""
    program = source.with_suffix("")
    compiled = [*command, "-w", "-I", _INCLUDE, str(source), "-o", str(program)]
    done = subprocess.run(compiled, check=False, capture_output=True, timeout=_COMPILING)
    if done.returncode:
        return f"does not compile: {done.stderr.decode(errors='replace')[-500:]}"
    try:
        ran = subprocess.run([program], check=False, capture_output=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return _LATE
    finally:
        program.unlink()
    return _CRASHES if ran.returncode < 0 else f"status {ran.returncode}: {ran.stdout.decode()}"


def main() -> None:
    """Check as many programs as were asked for, and say which differ."""
    given = argparse.ArgumentParser(prog="python -m scripts.recipe_check", description=__doc__)
    given.formatter_class = argparse.RawDescriptionHelpFormatter
    given.add_argument("recipe")
    given.add_argument("--seeds", type=int, default=1000)
    given.add_argument("--first", type=int, default=0)
    given.add_argument("--jobs", type=int, default=1)
    given.add_argument("--functions", type=int, default=10, help="of a program, at most")
    asked = given.parse_args()
    words, found = words_of(asked.recipe), Counter[str]()
    seeds = count(asked.first)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
        while found.total() - found[_USELESS] < asked.seeds:
            missing = min(asked.seeds - found.total() + found[_USELESS], 20)
            batch = [next(seeds) for _ in range(missing)]
            told = pool.map(lambda seed: verdict(words, seed, Path(folder), asked.functions), batch)
            for seed, said in zip(batch, told, strict=True):
                found[said.partition(":")[0]] += 1
                if said not in ("same", _USELESS):
                    print(f"seed {seed}: {said}", flush=True)
            print(f"up to seed {batch[-1]}: {dict(found)}", flush=True)
    raise SystemExit(1 if found.keys() - {"same", _USELESS} else 0)


if __name__ == "__main__":
    main()
