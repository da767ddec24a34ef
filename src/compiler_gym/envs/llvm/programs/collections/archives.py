# SPDX-License-Identifier: MIT
"""Descriptions of the published bitcode archives: addresses, hashes, counts and licences.

LLVM 10 produced them, and only LLVM reads them; archives of source, which any compiler can read,
are in `compiler_gym.datasets`.
"""

from typing import Any

from compiler_gym.datasets import PUBLISHED_AT, Archive

__all__ = ["BLAS", "CBENCH", "GITHUB", "LINUX", "MIBENCH", "NPB", "OPENCV", "TENSORFLOW"]


def _bitcode(
    name: str, version: int, sha256: str, manifest_sha256: str | None, **facts: Any
) -> Archive:
    stem = f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-{name}-v{version}"
    defaults: dict[str, Any] = {
        "urls": (f"{stem}.tar.bz2",),
        "manifest": f"{stem}-manifest.bz2",
        "strip_prefix": f"{name}-v{version}",
        "suffix": ".bc",
    }
    return Archive(
        name=f"{name}-llvm10-v{version}",
        sha256=sha256,
        manifest_sha256=manifest_sha256,
        **(defaults | facts),
    )


BLAS = _bitcode(
    "blas",
    0,
    "e724a8114709f8480adeb9873d48e426e8d9444b00cddce48e342b9f0f2b096d",
    "6946437dcb0da5fad3ed8a7fd83eb4294964198391d5537b1310e22d7ceebff4",
    count=300,
    license="BSD-3-Clause",
    description="Linear algebra kernels, from LLVM 10",
    references={"Homepage": "http://www.netlib.org/blas/"},
)
CBENCH = _bitcode(
    "cbench",
    1,
    "601fff3944c866f6617e653b6eb5c1521382c935f56ca1f36a9f5cf1a49f3de5",
    "eeffd7593aeb696a160fd22e6b0c382198a65d0918b8440253ea458cfe927741",
    urls=(f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-cBench-v1-linux.tar.bz2",),
    strip_prefix="",
    count=23,
    license="BSD-3-Clause",
    description="The original cBench, from LLVM 10",
    references={"Homepage": "https://github.com/ctuning/ctuning-programs"},
)
GITHUB = _bitcode(
    "github",
    0,
    "880269dd7a5c2508ea222a2e54c318c38c8090eb105c0a87c595e9dd31720764",
    "aede9ca78657b4694ada9a4592d93f0bbeb3b3bd0fff3b537209850228480d3b",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-github-v0-linux-manifest.bz2",
    count=49_738,
    license="CC-BY-4.0",
    description="C and C++ objects from GitHub, from LLVM 10",
    references={"Paper": "https://arxiv.org/pdf/2012.01470.pdf"},
)
LINUX = _bitcode(
    "linux",
    0,
    "a1ae5c376af30ab042c9e54dc432f89ce75f9ebaee953bc19c08aff070f12566",
    "32ceb8576f683798010816ac605ee496f386ddbbe64be9e0796015d247a73f92",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-linux-v0-linux-manifest.bz2",
    count=13_894,
    license="GPL-2.0",
    description="Objects of the Linux kernel, from LLVM 10",
    references={"Homepage": "https://www.linux.org/"},
)
MIBENCH = _bitcode(
    "mibench",
    1,
    "795b80d3198bc96e394823a4cb294d256845beffccce52fea0e3446395212bb5",
    "8ed985d685b48f444a3312cd84ccc5debda4a839850e442a3cdc93910ba0dc5f",
    manifest=f"{PUBLISHED_AT}/llvm_bitcodes-10.0.0-mibench-v0-manifest.bz2",
    strip_prefix="",
    count=40,
    license="BSD-3-Clause",
    description="C programs of embedded systems, from LLVM 10",
    references={"Paper": "http://vhosts.eecs.umich.edu/mibench/Publications/MiBench.pdf"},
)
NPB = _bitcode(
    "npb",
    0,
    "793ac2e7a4f4ed83709e8a270371e65b724da09eaa0095c52e7f4209f63bb1f2",
    "89eccb7f1b0b9e1f82b9b900b9f686ff5b189a2a67a4f8969a15901cd315dba2",
    count=122,
    license="NASA-1.3",
    description="NASA's parallel benchmarks, from LLVM 10",
    references={"Homepage": "https://www.nas.nasa.gov/software/npb.html"},
)
OPENCV = _bitcode(
    "opencv",
    0,
    "003df853bd58df93572862ca2f934c7b129db2a3573bcae69a2e59431037205c",
    "8de96f722fab18f3a2a74db74b4038c7947fe8b3da867c9260206fdf5338cd81",
    count=442,
    license="Apache-2.0",
    description="C++ objects of OpenCV, from LLVM 10",
    references={"Homepage": "https://opencv.org/"},
)
TENSORFLOW = _bitcode(
    "tensorflow",
    0,
    "f77dd1988c772e8359e1303cc9aba0d73d5eb27e0c98415ac3348076ab94efd1",
    "cffc45cd10250d483cb093dec913c8a7da64026686284cccf404623bd1da6da8",
    count=1_985,
    license="Apache-2.0",
    description="C++ objects of TensorFlow, from LLVM 10",
    references={"Homepage": "https://www.tensorflow.org/"},
)
