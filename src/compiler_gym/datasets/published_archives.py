# SPDX-License-Identifier: MIT
"""Published source archives: addresses, hashes, counts and licences.

Each is described once, for all compilers that read it. No archive is part of this library, and
this module downloads nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.datasets.run_spec import RunSpec

PUBLISHED_AT = "https://dl.fbaipublicfiles.com/compiler_gym"
"""The base address of most archives and lists of CompilerGym 0.2.5."""


@dataclass(frozen=True, slots=True)
class Archive:
    """One published archive."""

    name: str
    """The name of the dataset, without its scheme."""
    urls: tuple[str, ...]
    """The addresses of the archive, tried in order."""
    sha256: str
    """The sha256 of the archive."""
    count: int
    """The number of programs."""
    license: str
    """The licence of the programs."""
    description: str
    """A one-line description of the programs."""
    strip_prefix: str
    """The folder in the archive that contains the programs; empty if unknown."""
    suffix: str = ".c"
    """The suffix that all program files have."""
    compression: str = "bz2"
    """The compression of the archive."""
    manifest: str | None = None
    """The address of the list of programs, or None."""
    manifest_sha256: str | None = None
    """The sha256 of the compressed list."""
    references: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further reading: titles and URLs."""
    main_files: Mapping[str, str] = field(default_factory=dict[str, str])
    """For programs that are folders: each name, and the file that includes the others."""
    run: RunSpec | None = None
    """The run specification that all programs share, if known."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that `TarDatasetWithManifest` takes for this archive."""
        return {
            "name": f"benchmark://{self.name}",
            "tar_urls": self.urls,
            "tar_sha256": self.sha256,
            "tar_compression": self.compression,
            "strip_prefix": self.strip_prefix,
            "known_size": self.count,
            "manifest_urls": () if self.manifest is None else (self.manifest,),
            "manifest_sha256": self.manifest_sha256,
            "license": self.license,
            "description": self.description,
            "references": dict(self.references),
            "benchmark_file_suffix": self.suffix,
        }


ANGHABENCH = Archive(
    name="anghabench-v1",
    urls=(
        "https://github.com/brenocfg/AnghaBench/archive/"
        "d8034ac8562b8c978376008f4b33df01b8887b19.tar.gz",
    ),
    sha256="85d068e4ce44f2581e3355ee7a8f3ccb92568e9f5bd338bc3a918566f3aff42f",
    count=1_041_333,
    license="unknown",
    description="C functions from GitHub that compile but cannot be run",
    strip_prefix="AnghaBench-d8034ac8562b8c978376008f4b33df01b8887b19",
    compression="gz",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-anghabench-v1-linux-manifest.bz2",
    manifest_sha256="14df85f650199498cf769715e9f0d7841d09f9fa62a95b8ecc242bdaf227f33a",
    references={
        "Licence": "https://github.com/brenocfg/AnghaBench/issues/1",
        "Homepage": "http://cuda.dcc.ufmg.br/angha/",
    },
)

CHSTONE = Archive(
    name="chstone-v0",
    urls=(
        "https://github.com/ChrisCummins/patmos_HLS/archive/"
        "e62d878ceb91e5a18007ca2e0a9602ee44ff7d59.tar.gz",
    ),
    sha256="f7acab9d3c3dc7b971e62c8454bc909d84bddb6d0a96378e41beb94231739acb",
    count=12,
    license="mixed open source and public domain",
    description="C programs for high-level synthesis",
    strip_prefix="patmos_HLS-e62d878ceb91e5a18007ca2e0a9602ee44ff7d59/benchmarks/CHStone",
    compression="gz",
    references={"Homepage": "http://www.ertl.jp/chstone/"},
    main_files={
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
    },
)

CLGEN = Archive(
    name="clgen-v0",
    urls=(
        "https://github.com/ChrisCummins/paper-synthesizing-benchmarks/raw/"
        "e45b6dffe9998f612624f05a6c4878ab4bcc84ec/data/clgen-1000.tar.bz2",
    ),
    sha256="0bbd1b737f2537305e4db09b2971a5fa848b7c3a978bff6b570f45d1a488a72c",
    count=996,
    license="GPL-3.0",
    description="OpenCL kernels written by a neural network",
    strip_prefix="clgen-1000/kernels",
    suffix=".cl",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-clgen-v0-manifest.bz2",
    manifest_sha256="d2bbc1da5a24a8cb03b604d1d8e59227b33bdfcd964ebe741ca8339f1c8d65cc",
    references={"Homepage": "https://github.com/ChrisCummins/clgen"},
)

JOTAIBENCH = Archive(
    name="jotaibench-v0",
    urls=(
        "https://github.com/ChrisCummins/jotai-benchmarks/raw/"
        "ca26ccd27afecf38919c1e101c64e3cc17e39631/benchmarks/jotaibench.bz2",
    ),
    sha256="b5a51af3d4e2f77a66001635ec64ed321e0ece19873c4a888040859af7556401",
    count=18_761,
    license="GPL-3.0",
    description="C functions from GitHub, each with a main function that calls it",
    strip_prefix="jotaibench/jotaibench-v0",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-jotaibench-v0.bz2",
    manifest_sha256="ac4ee456e52073964d472d3e3969058b2f3052f8a4b402719013a3c603eb4b62",
    references={"Homepage": "https://github.com/lac-dcc/jotai-benchmarks"},
    run=RunSpec.single(argv=("0",), time_limit=30.0),
)

POJ104 = Archive(
    name="poj104-v1",
    urls=(f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-poj104-v1.tar.gz",),
    sha256="c0b8ef3ee9c9159c882dc9337cb46da0e612a28e24852a83f8a1cd68c838f390",
    count=49_816,
    license="BSD-3-Clause",
    description="Students' C++ solutions to 104 programming problems",
    strip_prefix="ProgramData",
    suffix=".txt",
    compression="gz",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-poj104-v1-linux-manifest.bz2",
    manifest_sha256="ee6253ee826e171816105e76fa78c0d3cbd319ef66e10da4bcf9cf8a78e12ab9",
    references={"Homepage": "https://sites.google.com/site/treebasedcnn/"},
)
