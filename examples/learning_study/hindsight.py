# SPDX-License-Identifier: MIT
"""Average savings of the best of a run's sequences on each file, chosen with hindsight.

    python examples/learning_study/hindsight.py runs/clone-sequences corpus

Every sequence that the run's searches found runs on every file below `corpus`, which
`record_corpus.py` recorded. `clang -Oz` counts as a choice. Of equal files one is measured.
"""

import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from mining import make_env
from training_programs import COST, recorded

from compiler_gym.search import level_sequences
from compiler_gym.service.caching import TranspositionCache

PACKAGES = ("lua5.4", "lz4", "mawk", "zlib")
LARGEST = 50_000
"""The study's limit is 6,000 instructions, but functions inlined at the start make lz4 larger."""


def read_sequences(run: Path) -> list[tuple[str, ...]]:
    """Return the sequences that the searches of a run found, each once."""
    records = map(json.loads, (run / "episodes.jsonl").read_text(encoding="utf-8").splitlines())
    found = [tuple(r["result"]["actions"]) for r in records if r["key"].startswith("search ")]
    return list(dict.fromkeys(sequence for sequence in found if len(sequence) > 1))


def measure(program: str, sequences: list[tuple[str, ...]], cache: TranspositionCache) -> list[int]:
    """Return the instructions of `program` after ``clang -Oz``, every level and every sequence."""
    with make_env(cache) as env:
        names = env.action_space.names
        actions = [level for level in level_sequences(names) if names[level[0]] != "-O0"]
        counts: list[int] = []
        for sequence in [*actions, *([names.index(n) for n in names_] for names_ in sequences)]:
            env.reset(benchmark=program)
            counts = counts or [int(env.observation[f"{COST}Oz"])]
            truncated = env.multistep(sequence)[3]
            counts.append(counts[0] if truncated else int(env.observation[COST]))
    return counts


def main() -> None:
    run, corpus = map(Path, sys.argv[1:])
    sequences, seen = read_sequences(run), set[str]()
    packages: dict[str, list[tuple[int, int]]] = defaultdict(list)
    with TranspositionCache() as cache:
        for package in PACKAGES:
            for program in recorded(corpus, [package], largest=LARGEST):
                file = Path(program.removeprefix("file://"))
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                if digest not in seen:
                    seen.add(digest)
                    counts = measure(program, sequences, cache)
                    packages[package].append((counts[0], min(counts)))
                    print(f"{package} {file.name}: {counts[0]} -> {min(counts)}", flush=True)
    ratios = {p: [np.log(oz / best) for oz, best in pairs] for p, pairs in packages.items()}
    every = [ratio for own in ratios.values() for ratio in own]
    pooled = np.array([pair for pairs in packages.values() for pair in pairs]).sum(0)
    print(f"{len(every)} files, {len(sequences)} sequences; -Oz / best:")
    print(f"geometric mean of files   {np.exp(np.mean(every)):.4f}")
    print(f"median file               {np.exp(np.median(every)):.4f}")
    print(f"mean of packages' means   {np.exp(np.mean([np.mean(r) for r in ratios.values()])):.4f}")
    print(f"pooled instructions       {pooled[0] / pooled[1]:.4f}")


if __name__ == "__main__":
    main()
