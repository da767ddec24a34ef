# SPDX-License-Identifier: MIT
"""Programs out of a distribution's source packages: each is built once, and its modules are kept.

``records`` is what a build leaves, and the contract between who builds and who reads; ``gathering``
makes the corpus of it. A folder
that was built holds::

    lock.toml                               the packages, their sources, what they are built against
    packages/NAME_VERSION/result.json       a `PackageResult`; written last: it says that it is done
    packages/NAME_VERSION/build.log         what the build printed
    packages/NAME_VERSION/modules/SHA256.bc     a `BuiltModule`
    packages/NAME_VERSION/programs/SHA256.bc    a `LinkedProgram`
    packages/NAME_VERSION/tree.tar.zst      the tree as it was built, where tests ran in it

No compiler is named here.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.datasets.packages.gathering import (
        GatherReport,
        ShapeReader,
        gather,
        gather_dataset,
        holds_packages,
    )
    from compiler_gym.datasets.packages.records import (
        BuiltModule,
        LinkedProgram,
        Outcome,
        OwnTests,
        PackageResult,
        read_result,
        read_results,
        write_result,
    )

__all__ = [
    "BuiltModule",
    "GatherReport",
    "LinkedProgram",
    "Outcome",
    "OwnTests",
    "PackageResult",
    "ShapeReader",
    "gather",
    "gather_dataset",
    "holds_packages",
    "read_result",
    "read_results",
    "write_result",
]

_WHERE = {
    "gathering": ("GatherReport", "ShapeReader", "gather", "gather_dataset", "holds_packages"),
    "records": (
        "BuiltModule",
        "LinkedProgram",
        "Outcome",
        "PackageResult",
        "OwnTests",
        "read_result",
        "read_results",
        "write_result",
    ),
}

__getattr__ = door(
    __name__, {name: f"{__name__}.{file}" for file, names in _WHERE.items() for name in names}
)
