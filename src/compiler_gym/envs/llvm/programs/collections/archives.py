# SPDX-License-Identifier: MIT
"""The facts of the published archives: addresses, hashes, counts and licences.

A hash that is not known to us is None: what is fetched is then accepted as it comes.
"""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["CHSTONE_FILES", "Archive"]

BASE = "https://dl.fbaipublicfiles.com/compiler_gym"
"""Where most of the archives are published."""


@dataclass(frozen=True, slots=True)
class Archive:
    """One published archive."""

    name: str
    """The name of the dataset, without its scheme."""
    urls: tuple[str, ...]
    """Where the archive is, tried in order."""
    sha256: str
    """The hash of the archive."""
    count: int
    """How many programs it has."""
    license: str
    """The licence of the programs."""
    description: str
    """What the programs are."""
    strip_prefix: str
    """The folder of the archive that holds the programs; empty if we do not know it."""
    suffix: str = ".bc"
    """What the name of every program's file ends in."""
    compression: str = "bz2"
    """How the archive is compressed."""
    manifest: str | None = None
    """Where the list of programs is."""
    manifest_sha256: str | None = None
    """The hash of the compressed list."""
    references: dict[str, str] = field(default_factory=dict)
    """Where to read more."""

    def arguments(self) -> dict[str, Any]:
        """Return the facts as the arguments of a `TarDatasetWithManifest`."""
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
            "references": self.references,
            "benchmark_file_suffix": self.suffix,
        }


def _bitcode(
    name: str, version: int, sha256: str, manifest_sha256: str | None, **facts: Any
) -> Archive:
    stem = f"{BASE}/llvm_bitcodes-10.0.0-{name}-v{version}"
    defaults = {
        "urls": (f"{stem}.tar.bz2",),
        "manifest": f"{stem}-manifest.bz2",
        "strip_prefix": f"{name}-v{version}",
    }
    return Archive(
        name=f"{name}-llvm10-v{version}",
        sha256=sha256,
        manifest_sha256=manifest_sha256,
        **(defaults | facts),
    )


ANGHABENCH = Archive(
    "anghabench-v1",
    (
        "https://github.com/brenocfg/AnghaBench/archive/"
        "d8034ac8562b8c978376008f4b33df01b8887b19.tar.gz",
    ),
    "85d068e4ce44f2581e3355ee7a8f3ccb92568e9f5bd338bc3a918566f3aff42f",
    1_041_333,
    "unknown",
    "C functions from GitHub, compilable and not runnable",
    "AnghaBench-d8034ac8562b8c978376008f4b33df01b8887b19",
    suffix=".c",
    compression="gz",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-anghabench-v1-linux-manifest.bz2",
    manifest_sha256="14df85f650199498cf769715e9f0d7841d09f9fa62a95b8ecc242bdaf227f33a",
    references={
        "Licence": "https://github.com/brenocfg/AnghaBench/issues/1",
        "Homepage": "http://cuda.dcc.ufmg.br/angha/",
    },
)
BLAS = _bitcode(
    "blas",
    0,
    "e724a8114709f8480adeb9873d48e426e8d9444b00cddce48e342b9f0f2b096d",
    "6946437dcb0da5fad3ed8a7fd83eb4294964198391d5537b1310e22d7ceebff4",
    count=300,
    license="BSD-3-Clause",
    description="Linear algebra kernels, by LLVM 10",
    references={"Homepage": "http://www.netlib.org/blas/"},
)
CBENCH = _bitcode(
    "cbench",
    1,
    "601fff3944c866f6617e653b6eb5c1521382c935f56ca1f36a9f5cf1a49f3de5",
    "eeffd7593aeb696a160fd22e6b0c382198a65d0918b8440253ea458cfe927741",
    urls=(f"{BASE}/llvm_bitcodes-10.0.0-cBench-v1-linux.tar.bz2",),
    strip_prefix="",
    count=23,
    license="BSD-3-Clause",
    description="The original cBench, by LLVM 10",
    references={"Homepage": "https://github.com/ctuning/ctuning-programs"},
)
CHSTONE = Archive(
    "chstone-v0",
    (
        "https://github.com/ChrisCummins/patmos_HLS/archive/"
        "e62d878ceb91e5a18007ca2e0a9602ee44ff7d59.tar.gz",
    ),
    "f7acab9d3c3dc7b971e62c8454bc909d84bddb6d0a96378e41beb94231739acb",
    12,
    "mixed open source and public domain",
    "C programs for high-level synthesis",
    "patmos_HLS-e62d878ceb91e5a18007ca2e0a9602ee44ff7d59/benchmarks/CHStone",
    suffix=".c",
    compression="gz",
    references={"Homepage": "http://www.ertl.jp/chstone/"},
)
CHSTONE_FILES = {
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
"""The programs of CHStone and the file of each that includes the others."""
CLGEN = Archive(
    "clgen-v0",
    (
        "https://github.com/ChrisCummins/paper-synthesizing-benchmarks/raw/"
        "e45b6dffe9998f612624f05a6c4878ab4bcc84ec/data/clgen-1000.tar.bz2",
    ),
    "0bbd1b737f2537305e4db09b2971a5fa848b7c3a978bff6b570f45d1a488a72c",
    996,
    "GPL-3.0",
    "OpenCL kernels written by a neural network",
    "clgen-1000/kernels",
    suffix=".cl",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-clgen-v0-manifest.bz2",
    manifest_sha256="d2bbc1da5a24a8cb03b604d1d8e59227b33bdfcd964ebe741ca8339f1c8d65cc",
    references={"Homepage": "https://github.com/ChrisCummins/clgen"},
)
GITHUB = _bitcode(
    "github",
    0,
    "880269dd7a5c2508ea222a2e54c318c38c8090eb105c0a87c595e9dd31720764",
    "aede9ca78657b4694ada9a4592d93f0bbeb3b3bd0fff3b537209850228480d3b",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-github-v0-linux-manifest.bz2",
    count=49_738,
    license="CC-BY-4.0",
    description="C and C++ objects from GitHub, by LLVM 10",
    references={"Paper": "https://arxiv.org/pdf/2012.01470.pdf"},
)
JOTAIBENCH = Archive(
    "jotaibench-v0",
    (
        "https://github.com/ChrisCummins/jotai-benchmarks/raw/"
        "ca26ccd27afecf38919c1e101c64e3cc17e39631/benchmarks/jotaibench.bz2",
    ),
    "b5a51af3d4e2f77a66001635ec64ed321e0ece19873c4a888040859af7556401",
    18_761,
    "GPL-3.0",
    "C functions from GitHub with a main that calls them",
    "jotaibench/jotaibench-v0",
    suffix=".c",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-jotaibench-v0.bz2",
    manifest_sha256="ac4ee456e52073964d472d3e3969058b2f3052f8a4b402719013a3c603eb4b62",
    references={"Homepage": "https://github.com/lac-dcc/jotai-benchmarks"},
)
LINUX = _bitcode(
    "linux",
    0,
    "a1ae5c376af30ab042c9e54dc432f89ce75f9ebaee953bc19c08aff070f12566",
    "32ceb8576f683798010816ac605ee496f386ddbbe64be9e0796015d247a73f92",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-linux-v0-linux-manifest.bz2",
    count=13_894,
    license="GPL-2.0",
    description="Objects of the Linux kernel, by LLVM 10",
    references={"Homepage": "https://www.linux.org/"},
)
MIBENCH = _bitcode(
    "mibench",
    1,
    "795b80d3198bc96e394823a4cb294d256845beffccce52fea0e3446395212bb5",
    "8ed985d685b48f444a3312cd84ccc5debda4a839850e442a3cdc93910ba0dc5f",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-mibench-v0-manifest.bz2",
    strip_prefix="",
    count=40,
    license="BSD-3-Clause",
    description="C programs of embedded systems, by LLVM 10",
    references={"Paper": "http://vhosts.eecs.umich.edu/mibench/Publications/MiBench.pdf"},
)
NPB = _bitcode(
    "npb",
    0,
    "793ac2e7a4f4ed83709e8a270371e65b724da09eaa0095c52e7f4209f63bb1f2",
    "89eccb7f1b0b9e1f82b9b900b9f686ff5b189a2a67a4f8969a15901cd315dba2",
    count=122,
    license="NASA-1.3",
    description="NASA's parallel benchmarks, by LLVM 10",
    references={"Homepage": "https://www.nas.nasa.gov/software/npb.html"},
)
OPENCV = _bitcode(
    "opencv",
    0,
    "003df853bd58df93572862ca2f934c7b129db2a3573bcae69a2e59431037205c",
    "8de96f722fab18f3a2a74db74b4038c7947fe8b3da867c9260206fdf5338cd81",
    count=442,
    license="Apache-2.0",
    description="C++ objects of OpenCV, by LLVM 10",
    references={"Homepage": "https://opencv.org/"},
)
POJ104 = Archive(
    "poj104-v1",
    (f"{BASE}/llvm_bitcodes-10.0.0-poj104-v1.tar.gz",),
    "c0b8ef3ee9c9159c882dc9337cb46da0e612a28e24852a83f8a1cd68c838f390",
    49_816,
    "BSD-3-Clause",
    "Students' C++ solutions to 104 programming problems",
    "ProgramData",
    suffix=".txt",
    compression="gz",
    manifest=f"{BASE}/llvm_bitcodes-10.0.0-poj104-v1-linux-manifest.bz2",
    manifest_sha256="ee6253ee826e171816105e76fa78c0d3cbd319ef66e10da4bcf9cf8a78e12ab9",
    references={"Homepage": "https://sites.google.com/site/treebasedcnn/"},
)
TENSORFLOW = _bitcode(
    "tensorflow",
    0,
    "f77dd1988c772e8359e1303cc9aba0d73d5eb27e0c98415ac3348076ab94efd1",
    "cffc45cd10250d483cb093dec913c8a7da64026686284cccf404623bd1da6da8",
    count=1_985,
    license="Apache-2.0",
    description="C++ objects of TensorFlow, by LLVM 10",
    references={"Homepage": "https://www.tensorflow.org/"},
)
