# SPDX-License-Identifier: MIT
"""Building a distribution's source packages into modules and linked programs.

``records`` defines the results of builds, and ``gathering`` creates a corpus from them. An output
folder contains::

    lock.toml                               the packages, sources and build dependencies
    packages/NAME_VERSION/result.json       a `PackageResult`; written last, when all is complete
    packages/NAME_VERSION/build.log         the output of the build
    packages/NAME_VERSION/refused.log       the compiler's errors for rejected sources
    packages/NAME_VERSION/modules/SHA256.bc     a `BuiltModule`
    packages/NAME_VERSION/programs/SHA256.bc    a `LinkedProgram`
    packages/NAME_VERSION/tree.tar.zst      the built tree, if the package's tests passed in it

``apt`` downloads; ``supplying`` provides sources and the systems to build in (``roots``), in the
versions of ``lock``; ``building`` builds one package (``units``: its compiled sources, ``modules``:
their bitcode, ``trying``: its tests, ``failures``: the reason of a failure, ``copyright``: its
licences) and ``several`` builds many; ``kept_trees`` unpacks a built tree again. ``compiling`` is
the interface of compiler plug-ins.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_corpus.packages.apt import PrivateApt
    from compiler_gym_corpus.packages.building import Supplier, build_package
    from compiler_gym_corpus.packages.compiling import UnitCompiler
    from compiler_gym_corpus.packages.copyright import Licences, paragraphs
    from compiler_gym_corpus.packages.gathering import (
        GatherReport,
        ShapeReader,
        gather,
        gather_dataset,
        holds_packages,
    )
    from compiler_gym_corpus.packages.kept_trees import BuiltPackage, lend_tree
    from compiler_gym_corpus.packages.lock import (
        LockedPackage,
        PackageLock,
        find_lock,
        read_lock,
        write_lock,
    )
    from compiler_gym_corpus.packages.records import (
        BuildOutcome,
        BuiltModule,
        LinkedProgram,
        OwnTests,
        PackageResult,
        read_result,
        read_results,
        write_result,
    )
    from compiler_gym_corpus.packages.roots import Root
    from compiler_gym_corpus.packages.several import (
        PackageBuilder,
        build_packages,
        open_output,
        split_packages,
    )
    from compiler_gym_corpus.packages.supplying import (
        InstalledSupplier,
        UnpackedSupplier,
        may_be_c,
    )

__all__ = [
    "BuildOutcome",
    "BuiltModule",
    "BuiltPackage",
    "GatherReport",
    "InstalledSupplier",
    "Licences",
    "LinkedProgram",
    "LockedPackage",
    "OwnTests",
    "PackageBuilder",
    "PackageLock",
    "PackageResult",
    "PrivateApt",
    "Root",
    "ShapeReader",
    "Supplier",
    "UnitCompiler",
    "UnpackedSupplier",
    "build_package",
    "build_packages",
    "find_lock",
    "gather",
    "gather_dataset",
    "holds_packages",
    "lend_tree",
    "may_be_c",
    "open_output",
    "paragraphs",
    "read_lock",
    "read_result",
    "read_results",
    "split_packages",
    "write_lock",
    "write_result",
]

__getattr__ = door(__name__)
