# SPDX-License-Identifier: MIT
"""A dataset without end: a program for every seed, written by a tool.

A seed always gives the same program with the same version of its generator. What was
generated is kept as source; nothing is fetched, and no program is run here.
"""

import hashlib
import subprocess
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path

from compiler_gym.datasets.benchmark import Benchmark
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError
from compiler_gym.files import scratch_directory, tool_identity, write_whole

__all__ = ["SeededDataset"]

SEEDS = 2**32 - 1
"""Number of seeds: 0 to 2**32 - 2, as in CompilerGym 0.2.5."""

_TOOL_SECONDS = 120.0


class SeededDataset(Dataset):
    """A dataset whose programs are named by a number and written by a tool.

    A subclass says which tool, how it is called, and what becomes of its output.
    """

    tool: str
    """What the tool is called, for messages."""
    install_command: str
    """What installs the tool."""

    @property
    def size(self) -> int:
        """Return 0: there is no end of programs."""
        return 0

    @property
    def installed(self) -> bool:
        """True if the generator is there."""
        return self._find() is not None

    @property
    def needs(self) -> str:
        """The command that installs the generator."""
        return self.install_command

    def install(self) -> None:
        """Raise `DatasetInitError` with the command that installs the generator, if need be."""
        super().install()
        if self._find() is None:
            raise DatasetInitError(
                f"{self.name} needs {self.tool}: install it with `{self.install_command}`"
            )

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every seed, from 0."""
        yield from (f"{self.name}/{seed}" for seed in range(SEEDS))

    def benchmark_uri_at(self, index: int) -> str:
        """Return the address of the seed `index`."""
        if not 0 <= index < SEEDS:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return f"{self.name}/{index}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program of the seed that `uri` names."""
        text = uri.path.strip("/")
        plain = text.isascii() and text.isdecimal() and text == str(int(text))
        if not plain or int(text) >= SEEDS:
            raise UnknownNameError(
                f"no program {text!r} in {self.name}: expected a seed from 0 to {SEEDS - 1}"
            )
        return self.benchmark_from_seed(int(text))

    def benchmark_from_seed(self, seed: int) -> Benchmark:
        """Return the program of `seed`; raise `BenchmarkInitError` if it does not build."""
        self.install()
        return self._benchmark(seed, self._source(seed))

    def _source(self, seed: int) -> bytes:
        path = self._source_path(seed)
        if path is not None and path.is_file():
            return path.read_bytes()
        source = self._generate(seed)
        if path is not None:
            try:
                write_whole(path, source)
            except OSError as error:
                raise DatasetInitError(
                    f"cannot keep {path}: {error.strerror}: "
                    "set COMPILER_GYM_SITE_DATA to a directory that can be written"
                ) from error
        return source

    def _source_path(self, seed: int) -> Path | None:
        if not self.has_site_data:
            return None
        # Another version of a generator may write another program for a seed.
        tool = hashlib.sha256(tool_identity(self._need()).encode()).hexdigest()[:12]
        return self.site_data_path / tool / f"{seed >> 12:05x}" / f"{seed}{self._suffix}"

    def _generate(self, seed: int) -> bytes:
        # csmith leaves a file of platform facts in the directory it runs in.
        with scratch_directory("seeded") as directory:
            command = [self._need(), *self._arguments(seed)]
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_TOOL_SECONDS,
                    cwd=directory,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise BenchmarkInitError(
                    f"{self.tool} wrote no program for the seed {seed} in {_TOOL_SECONDS:g} s"
                ) from None
            except OSError as error:
                raise BenchmarkInitError(f"cannot run {self.tool}: {error.strerror}") from error
        if done.returncode or not done.stdout:
            words = done.stderr.decode(errors="replace").strip() or f"status {done.returncode}"
            raise BenchmarkInitError(f"{self.tool} wrote no program for the seed {seed}:\n{words}")
        return done.stdout

    def _need(self) -> str:
        found = self._find()
        if found is None:
            self.install()
        assert found is not None
        return found

    _suffix: str

    @abstractmethod
    def _find(self) -> str | None:
        """Return the path of the generator, or None."""

    @abstractmethod
    def _arguments(self, seed: int) -> list[str]:
        """Return what the generator is called with."""

    @abstractmethod
    def _benchmark(self, seed: int, source: bytes) -> Benchmark:
        """Return the program whose source is `source`."""
