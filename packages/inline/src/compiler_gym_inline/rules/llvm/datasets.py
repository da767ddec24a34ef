# SPDX-License-Identifier: MIT
"""Sets of programs on which a rule is judged; each set is one benchmark."""

from collections.abc import Iterator

from compiler_gym.datasets import Benchmark, BenchmarkUri, BundledPrograms, Dataset
from compiler_gym.errors import UnknownNameError, unknown_name

__all__ = ["SETS", "RuleProgramSets"]

SETS = {
    "small": ("crc32", "qsort"),
    "train": ("adpcm", "bitcount", "blowfish", "crc32", "gsm", "jpeg-d", "lame", "qsort",
              "rijndael"),
    "practice": ("adpcm", "bitcount", "blowfish", "gsm", "rijndael"),
    "validation": ("ispell", "patricia", "susan"),
    "test": ("bzip2", "dijkstra", "ghostscript", "sha", "stringsearch", "tiff2bw", "tiffmedian"),
}  # fmt: skip
"""The named sets. ``practice`` has the programs of ``train`` that ``small`` does not have, without
the largest. Programs that share code are never in two of the three splits."""


class RuleProgramSets(Dataset):
    """``benchmark://rule-programs-v0``: sets of bundled programs, and each program alone."""

    def __init__(self) -> None:
        super().__init__(
            "benchmark://rule-programs-v0",
            "Sets of bundled programs on which a rule is judged, and each program alone",
            "MIT",
            validatable="Yes",
        )

    @property
    def size(self) -> int:
        """The number of sets."""
        return len(self._list_sets())

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every set."""
        for name in self._list_sets():
            yield f"{self.name}/{name}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the set at `uri`."""
        sets, name = self._list_sets(), uri.path.strip("/")
        if name not in sets:
            raise UnknownNameError(unknown_name("set of programs", name, list(sets)))
        return Benchmark(uri, "\n".join(sets[name]).encode())

    @staticmethod
    def _list_sets() -> dict[str, tuple[str, ...]]:
        names = [uri.rpartition("/")[2] for uri in BundledPrograms().benchmark_uris()]
        return {**SETS, **{name: (name,) for name in names}}
