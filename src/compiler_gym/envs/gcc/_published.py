# SPDX-License-Identifier: MIT
"""The archives of C source that CompilerGym 0.2.5 published, as programs for GCC.

They are installed where the other compilers find them too. Nothing of an archive is
part of this library, and nothing is fetched before it is used.
"""

from pathlib import Path
from types import MappingProxyType
from typing import Any

from compiler_gym.datasets import Benchmark, BenchmarkUri, TarDatasetWithManifest
from compiler_gym.envs.gcc.machine.gcc import DEFAULT_GCC, Gcc
from compiler_gym.envs.gcc.programs.own import benchmark_of
from compiler_gym.envs.gcc.programs.source import collect
from compiler_gym.errors import UnknownNameError

__all__ = ["AnghaBenchDataset", "CHStoneDataset"]

_OLD_C = ("-fpermissive", "-std=gnu99")
"""What GCC 14 and newer need to take C that was valid until then; others ignore it."""

_ANGHABENCH: MappingProxyType[str, Any] = MappingProxyType(
    {
        "name": "benchmark://anghabench-v1",
        "tar_urls": (
            "https://github.com/brenocfg/AnghaBench/archive/"
            "d8034ac8562b8c978376008f4b33df01b8887b19.tar.gz",
        ),
        "tar_sha256": "85d068e4ce44f2581e3355ee7a8f3ccb92568e9f5bd338bc3a918566f3aff42f",
        "tar_compression": "gz",
        "strip_prefix": "AnghaBench-d8034ac8562b8c978376008f4b33df01b8887b19",
        "known_size": 1_041_333,
        "manifest_urls": (
            "https://dl.fbaipublicfiles.com/compiler_gym/"
            "llvm_bitcodes-10.0.0-anghabench-v1-linux-manifest.bz2",
        ),
        "manifest_sha256": "14df85f650199498cf769715e9f0d7841d09f9fa62a95b8ecc242bdaf227f33a",
        "license": "unknown",
        "description": "C functions from GitHub, compilable and not runnable",
        "references": {"Homepage": "http://cuda.dcc.ufmg.br/angha/"},
        "benchmark_file_suffix": ".c",
    }
)
_CHSTONE: MappingProxyType[str, Any] = MappingProxyType(
    {
        "name": "benchmark://chstone-v0",
        "tar_urls": (
            "https://github.com/ChrisCummins/patmos_HLS/archive/"
            "e62d878ceb91e5a18007ca2e0a9602ee44ff7d59.tar.gz",
        ),
        "tar_sha256": "f7acab9d3c3dc7b971e62c8454bc909d84bddb6d0a96378e41beb94231739acb",
        "tar_compression": "gz",
        "strip_prefix": "patmos_HLS-e62d878ceb91e5a18007ca2e0a9602ee44ff7d59/benchmarks/CHStone",
        "known_size": 12,
        "manifest_urls": (),
        "manifest_sha256": None,
        "license": "mixed open source and public domain",
        "description": "C programs for high-level synthesis",
        "references": {"Homepage": "http://www.ertl.jp/chstone/"},
        "benchmark_file_suffix": ".c",
    }
)
_CHSTONE_MAIN_FILES = MappingProxyType(
    {
        "adpcm": "adpcm.c",
        "aes": "aes.c",
        "blowfish": "bf.c",
        "dfadd": "dfadd.c",
        "dfdiv": "dfdiv.c",
        "dfmul": "dfmul.c",
        "dfsin": "dfsin.c",
        "gsm": "gsm.c",
        "jpeg": "main.c",
        "mips": "mips.c",
        "motion": "mpeg2.c",
        "sha": "sha_driver.c",
    }
)
"""The programs of CHStone and the file of each that includes the others."""


class _PublishedSource(TarDatasetWithManifest):
    """An archive of sources, one program in each file that is listed."""

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`."""
        self.install()
        return benchmark_of(collect([self.path_of(uri)], _OLD_C), uri)


class AnghaBenchDataset(_PublishedSource):
    """``benchmark://anghabench-v1``: C functions that were mined from GitHub."""

    def __init__(
        self, site_data_base: str | Path | None = None, sort_order: int = 0, **dataset_args: Any
    ) -> None:
        own = {"site_data_base": site_data_base, "sort_order": sort_order}
        super().__init__(**{**_ANGHABENCH, **own, **dataset_args})


class CHStoneDataset(_PublishedSource):
    """``benchmark://chstone-v0``: programs for high-level synthesis."""

    def __init__(
        self,
        gcc_bin: str | Path = DEFAULT_GCC,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        **dataset_args: Any,
    ) -> None:
        own = {"site_data_base": site_data_base, "sort_order": sort_order}
        super().__init__(**{**_CHSTONE, **own, **dataset_args})
        self.gcc_bin = str(gcc_bin)
        """The compiler that the programs are for."""

    @property
    def gcc(self) -> Gcc:
        """The compiler that the programs are for."""
        return Gcc(self.gcc_bin)

    def path_of(self, uri: BenchmarkUri) -> Path:
        """Return the main file of the program; raise `UnknownNameError` if there is none."""
        name = uri.path.strip("/")
        path = self.dataset_root / name / _CHSTONE_MAIN_FILES.get(name, "")
        if not path.is_file():
            raise UnknownNameError(f"no program {uri}")
        return path

    def verify(self) -> list[str]:
        """Return what differs from what was installed, as sentences."""
        # The names that are listed are folders.
        return [finding for finding in super().verify() if "is listed" not in finding]

    def _fetched_manifest(self) -> bytes:
        return "\n".join(_CHSTONE_MAIN_FILES).encode()
