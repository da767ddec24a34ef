# SPDX-License-Identifier: MIT
"""What does each option of the code generator do to the size of code? Measure, and write it down.

    python -m scripts.codegen_effects --write

Bundled programs are taken through -Oz, the first through -O2 too, and code is made of them with
each value of each option of ``codegen.tsv``, in a forked process which may crash. The table gets
the change of the text of -Oz in per cent: its mean over the programs, the least and the most. A
value that changed no object at either level, that crashed LLVM, or with which two processes made
different objects is taken out of the table, and named at its end with the reason. Its rows are
also what the engine is built with: build again before more candidates are measured.
"""

import argparse
import hashlib
import json
import os
import signal
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["Measured", "main", "row_of", "tier_of"]

TABLE = Path(__file__).parent.parent / "src/compiler_gym/envs/llvm/codegen.tsv"
LEVELS = ("Oz", "O2")
SECONDS = 60
"""To make code of one program."""
HEADING = "name\tvalues\ttier\tmean\tleast\tmost\tdescription"
REFUSED = "# not offered: "


@dataclass
class Measured:
    """What a value did to programs."""

    percents: list[float] = field(default_factory=list[float])
    changed: int = 0
    reason: str = ""

    @property
    def is_offered(self) -> bool:
        """Whether it works, and does something."""
        return not self.reason and self.changed > 0

    @property
    def why_not(self) -> str:
        """Why it is not offered."""
        return self.reason or "changed no object"


def tier_of(values: Sequence[Measured]) -> str:
    """Return ``core`` where a value made some program smaller, and ``rare`` where none did.

    >>> tier_of([Measured([0.5, -0.1], 2)]), tier_of([Measured([0.5, 0.0], 1)])
    ('core', 'rare')
    """
    return "core" if any(min(value.percents, default=0) < 0 for value in values) else "rare"


def row_of(name: str, values: dict[str, Measured], description: str) -> str:
    """Return the row of an option with what was measured of its values.

    >>> row_of("regalloc", {"basic": Measured([1.0, -2.0], 2)}, "Which").split("\\t")
    ['regalloc', 'basic', 'core', '-0.50', '-2.00', '+1.00', 'Which']
    """
    found = list(values.values())

    def column(pick: object) -> str:
        assert callable(pick)
        return "|".join(f"{pick(value.percents):+.2f}" for value in found)

    columns = [column(statistics.fmean), column(min), column(max)]
    return "\t".join([name, "|".join(values), tier_of(found), *columns, description])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every value in every program, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table in its place")
    parser.add_argument("--only", action="append", default=[], metavar="PROGRAM")
    options = parser.parse_args(arguments)
    rows, notes = _read_table()
    found = {(name, value): Measured() for name, values, _ in rows for value in values}
    for uri, level, bitcode in _programs(options.only):
        print(uri, level, file=sys.stderr)
        base = _in_a_fork(bitcode, "")
        for (name, value), measured in found.items():
            if measured.reason:
                continue
            code = _in_a_fork(bitcode, f"codegen<{name}={value}>")
            measured.reason = code.reason
            if code.digest != base.digest and not measured.changed:
                again = _in_a_fork(bitcode, f"codegen<{name}={value}>")
                if again.digest != code.digest:
                    measured.reason = "made another object in another process"
            measured.changed += code.digest != base.digest
            if level == "Oz" and not measured.reason:
                measured.percents.append(100 * (code.size / base.size - 1))
    lines = [HEADING]
    for name, values, description in rows:
        offered = {value: found[name, value] for value in values if found[name, value].is_offered}
        if offered:
            lines.append(row_of(name, offered, description))
        notes += [
            f"{REFUSED}{name}={value}: {found[name, value].why_not}"
            for value in values
            if value not in offered
        ]
    text = "\n".join([*lines, *notes]) + "\n"
    if options.write:
        TABLE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


_Row = tuple[str, list[str], str]


@dataclass(frozen=True, slots=True)
class _Code:
    size: int = 0
    digest: str = ""
    reason: str = ""


def _read_table() -> tuple[list[_Row], list[str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:] if line and not line.startswith("#")]
    notes = [line for line in lines if line.startswith("#")]
    return [(row[0], row[1].split("|"), row[-1]) for row in rows], notes


def _programs(only: Sequence[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield bundled programs at -Oz of clang, and the first at each level, as bitcode."""
    import compiler_gym
    from compiler_gym import _llvm

    levels = LEVELS
    with compiler_gym.make("llvm-v0") as env:
        for uri in sorted(env.datasets["benchmark://cbench-v1"].benchmark_uris()):
            if only and uri.rpartition("/")[2] not in only:
                continue
            contents = env.datasets.benchmark(uri).contents
            assert contents is not None
            for level in levels:
                module = _llvm.Module(contents)
                module.apply_level(level)
                yield uri, level, module.bitcode()
            levels = LEVELS[:1]


def _in_a_fork(bitcode: bytes, pipeline: str) -> _Code:
    """Return what comes of making code after `pipeline`."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        signal.alarm(SECONDS)
        os.write(writes, json.dumps(asdict(_code(bitcode, pipeline))).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return _Code(reason=f"LLVM ended with status {os.waitstatus_to_exitcode(status)}")
    return _Code(**json.loads(text))


def _code(bitcode: bytes, pipeline: str) -> _Code:
    from compiler_gym import _llvm
    from compiler_gym.errors import CompilerGymError

    module = _llvm.Module(bitcode)
    try:
        if pipeline:
            module.run(pipeline)
        code = module.object_code()
    except CompilerGymError as error:
        return _Code(reason=str(error).partition("\n")[0][:80])
    return _Code(_llvm.code_size(code), hashlib.sha256(code).hexdigest())


if __name__ == "__main__":
    main()
