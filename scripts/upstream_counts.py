# SPDX-License-Identifier: MIT
"""Count the bytes that each finding of ``docs/upstream`` would save in real packages.

    python -m scripts.upstream_counts > docs/upstream/counts.json    # 5 to 10 minutes
    python -m scripts.upstream_counts --modules 20

Each module of ``debian-sample-v0`` goes through ``opt-22 -passes='default<Oz>'`` and ``llc-22``,
once as LLVM is and once with each option that does the work of a finding. Functions are compared
by the size of their symbol. The finding about epilogues has no option: its sites are counted in
the assembly.
"""

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import compiler_gym

__all__ = ["Effect", "count_pops", "main"]

OPTIONS = {
    "branches": "--x86-br-merging-base-cost=-1",
    "constants": "--disable-machine-licm",
}
DATASET = "benchmark://debian-sample-v0"
_EPILOGUE = re.compile(r"^\taddq\t\$8, %rsp\n(?:\t\.cfi_[^\n]*\n)*(?=\tpopq\t)", re.M)
_FUNCTION = re.compile(r"^\t\.type\t(\S+),@function\n(.*?)^\t\.size\t", re.M | re.S)
_SAVED = 3
"""Bytes: ``addq $8, %rsp`` takes four, ``popq %rcx`` one."""


@dataclass
class Effect:
    """The difference that a finding makes, over all modules."""

    functions: int = 0
    """Functions that would be smaller."""
    saved: int = 0
    """Bytes, in functions that would be smaller."""
    larger: int = 0
    added: int = 0
    """Bytes, in functions that would be larger."""
    packages: set[str] = field(default_factory=set[str])

    def add(self, package: str, before: int, after: int) -> None:
        """Count a function of `package` with its two sizes."""
        if after < before:
            self.functions += 1
            self.saved += before - after
            self.packages.add(package)
        elif after > before:
            self.larger += 1
            self.added += after - before


def count_pops(assembly: str) -> dict[str, int]:
    """Return the number of epilogues of each function that could pop instead of adding.

    >>> epilogue = "\\taddq\\t$8, %rsp\\n\\tpopq\\t%rbx\\n\\tretq\\n"
    >>> count_pops(f"\\t.type\\tf,@function\\n{epilogue}\\t.size\\tf, 9\\n")
    {'f': 1}
    """
    found = {name: len(_EPILOGUE.findall(body)) for name, body in _FUNCTION.findall(assembly)}
    return {name: sites for name, sites in found.items() if sites}


def _modules(count: int | None) -> Iterator[tuple[str, bytes]]:
    """Yield the package and the bitcode of every module, or of about `count`."""
    with compiler_gym.make("llvm-v0") as env:
        dataset = env.datasets[DATASET]
        uris = sorted(str(uri) for uri in dataset.benchmark_uris())
        uris = [uri for uri in uris if uri.endswith((".c", ".cc", ".cpp", ".cxx", ".C"))]
        for uri in uris[:: max(1, len(uris) // count) if count else 1]:
            contents = env.datasets.benchmark(uri).contents
            assert contents is not None
            yield uri.removeprefix(f"{DATASET}/").partition("/")[0], contents


def _sizes(module: Path, *options: str) -> dict[str, int]:
    """Return the size of each function of the object that ``llc-22`` makes."""
    made = module.with_suffix(".o")
    subprocess.run(["llc-22", *options, "-filetype=obj", "-o", made, module], check=True)
    names = subprocess.run(
        ["llvm-nm-22", "--print-size", "--defined-only", made],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows = [line.split() for line in names.stdout.splitlines()]
    return {row[3]: int(row[1], 16) for row in rows if len(row) == 4 and row[2] in "tTwW"}


def _measure(modules: Iterable[tuple[str, bytes]]) -> tuple[dict[str, int], dict[str, Effect]]:
    totals = {"modules": 0, "functions": 0, "bytes": 0}
    effects = {name: Effect() for name in ("epilogues", *OPTIONS)}
    packages = set[str]()
    with tempfile.TemporaryDirectory() as folder:
        for package, bitcode in modules:
            module = Path(folder) / "module.bc"
            subprocess.run(
                ["opt-22", "-passes=default<Oz>", "-o", module, "-"], input=bitcode, check=True
            )
            before = _sizes(module)
            packages.add(package)
            totals["modules"] += 1
            totals["functions"] += len(before)
            totals["bytes"] += sum(before.values())
            assembly = subprocess.run(
                ["llc-22", "-o", "-", module], check=True, capture_output=True, text=True
            ).stdout
            for sites in count_pops(assembly).values():
                effects["epilogues"].add(package, _SAVED * sites, 0)
            for name, option in OPTIONS.items():
                after = _sizes(module, option)
                for function, size in before.items():
                    effects[name].add(package, size, after[function])
    return {**totals, "packages": len(packages)}, effects


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure, and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--modules", type=int, help="measure about this many, evenly spread")
    options = parser.parse_args(None if arguments is None else list(arguments))
    totals, effects = _measure(_modules(options.modules))
    rows = {name: {**vars(row), "packages": len(row.packages)} for name, row in effects.items()}
    print(json.dumps({"measured": totals, **rows}, indent=1))


if __name__ == "__main__":
    main()
