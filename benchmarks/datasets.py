# SPDX-License-Identifier: MIT
"""What a corpus of ten thousand programs costs: on disk, to open, to read, to parse.

The programs are the functions of the bundled ones, each after several passes. They
resemble one another more than a stranger's would, so a real corpus is larger for
its contents than this one.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.measure import Figure, median_seconds
from compiler_gym import _llvm
from compiler_gym.datasets import CorpusDataset
from compiler_gym.datasets.bundled import find_bundled_folder
from compiler_gym_corpus.collections.corpus_writer import CorpusWriter

PROGRAMS = 10_000
_PASSES = (
    "",
    "function(sroa)",
    "function(instcombine<no-verify-fixpoint>)",
    "function(simplifycfg)",
    "function(sroa,instcombine<no-verify-fixpoint>)",
    "function(sroa,early-cse,simplifycfg)",
    "function(sroa,instcombine<no-verify-fixpoint>,gvn)",
    "function(sroa,loop-simplify,lcssa)",
    "function(mem2reg,reassociate)",
    "default<O1>",
    "default<Os>",
    "default<O2>",
)

_PARSE = """
import re, sys, time
from pathlib import Path
from compiler_gym import _llvm
from compiler_gym.datasets import CorpusDataset
corpus = CorpusDataset(sys.argv[1])
_llvm.Module(corpus.program_at(0).contents)
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
started = time.perf_counter()
for program in corpus.programs():
    _llvm.Module(program.contents)
rate = corpus.size / (time.perf_counter() - started)
print(rate, peak() - before)
"""


def measure() -> list[Figure]:
    directory = Path(tempfile.mkdtemp(prefix="compiler_gym-bench-"))
    try:
        return _measure(directory)
    finally:
        shutil.rmtree(directory)


def _measure(directory: Path) -> list[Figure]:
    programs = dict(islice(_programs(), PROGRAMS))
    raw = sum(len(contents) for contents in programs.values())
    path = directory / "corpus.sqlite"
    write = _seconds(lambda: _write(path, programs))
    files = directory / "files"
    unpack = _seconds(lambda: _write_files(files, programs))
    corpus = CorpusDataset(path)
    names = list(corpus.benchmark_uris())
    random.Random(0).shuffle(names)
    numbers = random.Random(1).sample(range(corpus.size), 2000)
    parse, grown = _parse_elsewhere(path)
    iterate = median_seconds(lambda: sum(1 for _ in corpus.programs()), repeats=5)
    benchmarks = median_seconds(lambda: sum(1 for _ in corpus.benchmarks()), repeats=5)
    find = median_seconds(lambda: [corpus.program_at(number) for number in numbers], repeats=5)
    lookup = median_seconds(lambda: [corpus[name] for name in names[:2000]], repeats=5)
    return [
        Figure("programs in the corpus", corpus.size, ""),
        Figure("mean size of a program", raw / len(programs), "bytes"),
        Figure("size on disk, of the raw bytes", 100 * path.stat().st_size / raw, "%", 50),
        Figure("the same as files, of the raw bytes", 100 * _blocks(files) / raw, "%"),
        Figure("write the corpus", write, "s", 60),
        Figure("write the same as files", unpack, "s"),
        Figure("open and count", 1e3 * median_seconds(lambda: _open(path), repeats=50), "ms", 1),
        Figure("read at random, as stored", 1e6 * find / 2000, "us", 50),
        Figure("read at random, as a benchmark by its address", 1e6 * lookup / 2000, "us", 100),
        Figure("iterate, as stored", corpus.size / iterate, "/s", 20_000, "at least"),
        Figure("iterate, as benchmarks", corpus.size / benchmarks, "/s", 15_000, "at least"),
        Figure("iterate and parse", parse, "/s", 1000, "at least"),
        Figure("memory that iterating and parsing adds", grown / 2**10, "MiB", 64),
    ]


def _programs() -> Iterator[tuple[str, bytes]]:
    seen: set[bytes] = set()
    functions = [
        (f"{path.stem}/{name}", contents)
        for path in sorted(find_bundled_folder().glob("*/*.bc"))
        for name, contents in _llvm.split_functions(path.read_bytes())
    ]
    for number, pipeline in enumerate(_PASSES):
        for name, original in functions:
            module = _llvm.Module(original)
            if pipeline:
                module.run(pipeline)
            contents = module.bitcode()
            if contents not in seen:
                seen.add(contents)
                yield f"{name}/{number}.bc", contents


def _write(path: Path, programs: dict[str, bytes]) -> None:
    with CorpusWriter(path, name="measured-v0", license="MIT") as writer:
        for name, contents in programs.items():
            writer.add(name, contents, suffix=".bc")


def _write_files(root: Path, programs: dict[str, bytes]) -> None:
    for name, contents in programs.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
    os.sync()


def _blocks(root: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in root.rglob("*"))


def _open(path: Path) -> int:
    return CorpusDataset(path).size


def _parse_elsewhere(path: Path) -> tuple[float, float]:
    """Return programs a second and KiB that a fresh process needs more than at its start."""
    command = [sys.executable, "-c", _PARSE, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rate, kibibytes = output.split()
    return float(rate), float(kibibytes)


def _seconds(call: Callable[[], None]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
