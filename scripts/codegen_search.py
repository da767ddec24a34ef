# SPDX-License-Identifier: MIT
"""How much smaller than -Oz is code with the best options of the code generator that is found?

    python -m scripts.codegen_search --steps 60

Each bundled program is searched in `PipelinesAndCodegen`, where a step is one compilation, the
levels included. What was found goes into ``docs/codegen_found.tsv``, from which the reference page
is made; programs that are not searched this time keep their rows.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import compiler_gym
from compiler_gym.search import Budget, run_search

__all__ = ["main"]

FOUND = Path(__file__).parent.parent / "docs/codegen_found.tsv"
HEADING = "program\t-Oz\tfound\tsmaller\tlevel\toptions"


def main(arguments: Sequence[str] | None = None) -> None:
    """Search each program and write what was found after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60, help="compilations of each program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=FOUND)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args(arguments)
    note = (
        "# Bytes of text of bundled programs, after -Oz and with what `compiler_gym.search` found "
        f"in `PipelinesAndCodegen` with {options.steps} compilations, seed {options.seed}. Each "
        "was validated: replayed, run on its inputs, compared."
    )
    rows = _known(options.output)
    for uri in _uris(options.programs):
        name = uri.rpartition("/")[2]
        rows[name] = _row(uri, options.steps, options.seed)
        print(rows[name], file=sys.stderr)
        lines = [note, HEADING, *(rows[name] for name in sorted(rows))]
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _known(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    rows = path.read_text(encoding="utf-8").splitlines()[2:]
    return {row.partition("\t")[0]: row for row in rows}


def _uris(names: Sequence[str]) -> list[str]:
    with compiler_gym.make("llvm-v0") as env:
        uris = [str(uri) for uri in env.datasets["benchmark://cbench-v1"].benchmark_uris()]
    return [uri for uri in sorted(uris) if not names or uri.rpartition("/")[2] in names]


def _row(uri: str, steps: int, seed: int) -> str:
    (found,) = run_search(_make, [uri], budget=Budget(steps=steps), jobs=1, seed=seed)
    with _make() as env:
        env.reset(benchmark=uri)
        baseline = env.observation["ObjectTextSizeOz"]
        env.multistep(found.actions)
        size = env.observation["ObjectTextSizeBytes"]
        result = env.validate()
        if not result.okay():
            raise SystemExit(f"{uri} with {found.action_names}: {result}")
    level = " ".join(name for name in found.action_names if "=" not in name)
    chosen = " ".join(name for name in found.action_names if "=" in name)
    saved = f"{100 * (1 - size / baseline):.1f} %"
    name = uri.rpartition("/")[2]
    return "\t".join(
        [name, f"{baseline}", f"{size}", saved, level, f"`{chosen}`" if chosen else ""]
    )


def _make() -> compiler_gym.CompilerEnv:
    return compiler_gym.make(
        "llvm-v0", reward_space="ObjectTextSizeOz", action_space="PipelinesAndCodegen"
    )


if __name__ == "__main__":
    main()
