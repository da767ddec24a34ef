# SPDX-License-Identifier: MIT
"""How much of a published gain the attributes of functions give: both baselines, measured.

    python -m scripts.two_baselines docs/results/baselines.md

It fills the tables of a page, between its marks: every bundled program and random programs of
csmith (where it is installed), by instructions and by bytes of code.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.statistics import geometric_mean

__all__ = ["Costs", "bundled", "fill", "generated", "measure", "table", "totals"]

COSTS = (("IrInstructionCount", "IR instructions"), ("ObjectTextSize", "Bytes of code"))
LINKED = (
    ("IrInstructionCount", "IrInstructionCount"),
    ("ObjectTextSize", "ObjectTextSizeBytes"),
    ("LinkedTextSize", "LinkedTextSizeBytes"),
)
"""Of whole programs: costs, and the observations of them."""
SEEDS = 50
_LEVELS = ("O0", "OptOz", "Oz", "O3")
_SCOPE = "?scope=program"
_MARKS = re.compile(r"(<!-- baselines (?P<name>[\w-]+) -->\n).*?(<!-- end baselines -->)", re.S)


@dataclass(frozen=True, slots=True)
class Costs:
    """One cost of one program."""

    program: str
    o0: float
    opt_oz: float
    oz: float
    o3: float
    linked_oz: float | None = None
    """After -Oz with link-time optimisation, where it is a whole program."""
    program_oz: float | None = None
    """After the action -Oz on a module whose names are local."""

    @property
    def share(self) -> float | None:
        """``(C0-COz)/(C0-COptOz)``: what the attributes alone score; None if nothing is saved."""
        saved = self.o0 - self.opt_oz
        return (self.o0 - self.oz) / saved if saved > 0 else None

    @property
    def more(self) -> float:
        """By how much, as a share, opt's -Oz without attributes leaves more than clang's."""
        return self.opt_oz / self.oz - 1


def measure(env: CompilerEnv, uri: str, cost: str) -> Costs:
    """Return what the program at `uri` costs at every baseline."""
    env.reset(benchmark=uri)
    at = [float(env.observation[f"{cost}{level}"]) for level in _LEVELS]
    return Costs(uri.partition("://")[2], *at)


def linked(env: CompilerEnv, uri: str, cost: str, observation: str) -> Costs:
    """Return the same, with what the program costs where its module is all there is."""
    plain = measure(env, uri, cost)
    env.reset(benchmark=uri + _SCOPE)
    linked_oz = float(env.observation[f"{cost}Oz"])
    env.step(env.action_space["-Oz"])
    program_oz = float(env.observation[observation])
    return Costs(plain.program, plain.o0, plain.opt_oz, plain.oz, plain.o3, linked_oz, program_oz)


def bundled(env: CompilerEnv) -> Iterator[str]:
    """Yield the addresses of the bundled programs."""
    yield from env.datasets["benchmark://cbench-v1"].benchmark_uris()


def generated(seeds: int = SEEDS) -> Iterator[str]:
    """Yield the addresses of the first random programs of csmith."""
    yield from (f"generator://csmith-v0/{seed}" for seed in range(seeds))


def table(rows: Sequence[Costs]) -> str:
    """Return the costs of each program as Markdown, and the geometric means."""
    lines = [
        "| program | -O0 | opt -Oz | clang -Oz | -O3 | opt over clang | the attributes' share |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for row in rows:
        numbers = (row.o0, row.opt_oz, row.oz, row.o3)
        cells = (*(f"{n:,.0f}" for n in numbers), f"{row.more:+.1%}", _number(row.share))
        lines.append(f"| {row.program} | {' | '.join(cells)} |")
    return "\n".join([*lines, totals("geometric mean", rows)])


def totals(name: str, rows: Sequence[Costs]) -> str:
    """Return the geometric means over programs as a row of `table`."""
    more = geometric_mean([row.more + 1 for row in rows])
    share = geometric_mean([row.share for row in rows if row.share is not None])
    left = "-" if more is None else f"{more - 1:+.1%}"
    return f"| **{name}, {len(rows)} programs** | | | | | **{left}** | **{_number(share)}** |"


def linked_table(rows: Sequence[Costs]) -> str:
    """Return what each program costs as a module and as a whole program, as Markdown."""
    lines = [
        "| program | clang -Oz | clang -Oz -flto | action -Oz with `scope=program` |",
        "| --- | --: | --: | --: |",
    ]
    for row in rows:
        assert row.linked_oz is not None
        assert row.program_oz is not None
        others = (f"{n:,.0f} ({n / row.oz - 1:+.1%})" for n in (row.linked_oz, row.program_oz))
        lines.append(f"| {row.program} | {row.oz:,.0f} | {' | '.join(others)} |")
    return "\n".join(lines)


def fill(text: str, tables: dict[str, str]) -> str:
    """Return a page with each table of `tables` between the marks that name it."""

    def filled(found: re.Match[str]) -> str:
        name = found["name"]
        return f"{found[1]}\n{tables[name]}\n\n{found[3]}" if name in tables else found[0]

    return _MARKS.sub(filled, text)


def _number(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _tables() -> Iterator[tuple[str, str]]:
    with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
        for cost, _ in COSTS:
            yield f"bundled-{cost}", table([measure(env, uri, cost) for uri in bundled(env)])
            rows = [measure(env, uri, cost) for uri in generated()]
            yield f"csmith-{cost}", "\n".join([*table([]).splitlines()[:2], totals("csmith", rows)])
        for cost, observation in LINKED:
            rows = [linked(env, uri, cost, observation) for uri in bundled(env)]
            yield f"linked-{cost}", linked_table(rows)


def main(arguments: Iterable[str] | None = None) -> None:
    """Fill the tables of pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path)
    options = parser.parse_args(None if arguments is None else list(arguments))
    tables = dict(_tables()) if options.pages else {}
    for page in options.pages:
        page.write_text(fill(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
