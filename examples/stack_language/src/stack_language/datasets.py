# SPDX-License-Identifier: MIT
"""The programs: two written by hand, and as many random ones as there are numbers."""

import itertools
import random
from collections.abc import Iterator, Mapping

from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset
from compiler_gym.errors import UnknownNameError

__all__ = ["GeneratedPrograms", "WrittenPrograms", "make_datasets"]

_WRITTEN: Mapping[str, str] = {
    "polynomial": """
        push 3  store x         # 2x^2 + x*1 + 0, printed twice
        load x  load x  mul  push 2  mul
        load x  push 1  mul  add  push 0  add
        store y  load y  print  load y  print
    """,
    "constants": """
        push 6  push 7  mul  print
        push 1  push 2  swap  add  neg  neg  print
        push 9  drop  push 5  store unused
    """,
}


class WrittenPrograms(Dataset):
    """``benchmark://stack-v0/polynomial`` and its like."""

    def __init__(self) -> None:
        super().__init__("benchmark://stack-v0", "Programs written by hand", "MIT")

    @property
    def size(self) -> int:
        """How many there are."""
        return len(_WRITTEN)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield every address."""
        yield from (f"{self.name}/{name}" for name in _WRITTEN)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program of that name."""
        name = uri.path.strip("/")
        if name not in _WRITTEN:
            raise UnknownNameError(f"no program {name!r}; there are {', '.join(_WRITTEN)}")
        return Benchmark(uri, _lines(_WRITTEN[name]).encode())


class GeneratedPrograms(Dataset):
    """``benchmark://stack-generator-v0/N``: random programs without end."""

    def __init__(self) -> None:
        super().__init__("benchmark://stack-generator-v0", "Random programs", "MIT", sort_order=1)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield an address for every number."""
        yield from (f"{self.name}/{number}" for number in itertools.count())

    def benchmark_uri_at(self, index: int) -> str:
        """Return the address of a number without counting up to it."""
        return f"{self.name}/{index}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program that its number seeds."""
        number = uri.path.strip("/")
        if not number.isdecimal():
            raise UnknownNameError(f"no program {number!r} in {self.name}: expected a number")
        return Benchmark(uri, _generate(random.Random(int(number))).encode())


def make_datasets() -> list[Dataset]:
    """Return every dataset."""
    return [WrittenPrograms(), GeneratedPrograms()]


def _generate(choose: random.Random) -> str:
    lines: list[str] = []
    depth = 0
    for _ in range(choose.randrange(20, 60)):
        if depth < 2:
            lines.append(
                choose.choice((f"push {choose.randrange(4)}", f"load {choose.choice('xyz')}"))
            )
            depth += 1
        else:
            line, change = choose.choice(_STEPS)
            lines.append(line.replace("?", choose.choice("xyz")))
            depth += change
    return "\n".join([*lines, *["print"] * depth, ""])


_STEPS = (
    ("push 0", 1), ("push 1", 1), ("push 2", 1), ("load ?", 1), ("dup", 1), ("swap", 0), ("neg", 0),
    ("add", -1), ("sub", -1), ("mul", -1), ("store ?", -1), ("drop", -1), ("print", -1),
)  # fmt: skip


def _lines(source: str) -> str:
    words = [word for line in source.splitlines() for word in line.split("#")[0].split()]
    text = ""
    for word in words:
        text += f" {word}" if text.endswith(("push", "load", "store")) else f"\n{word}"
    return text.strip() + "\n"
