# SPDX-License-Identifier: MIT
"""Programs out of a distribution's source packages: each is built once, and its modules are kept.

``records`` is what a build leaves, and the contract between who builds and who reads; ``gathering``
makes the corpus of it. A folder that was built holds::

    lock.toml                               the packages, their sources, what they are built against
    packages/NAME_VERSION/result.json       a `PackageResult`; written last: it says that it is done
    packages/NAME_VERSION/build.log         what the build printed
    packages/NAME_VERSION/refused.log       what the compiler said of sources that it refused
    packages/NAME_VERSION/modules/SHA256.bc     a `BuiltModule`
    packages/NAME_VERSION/programs/SHA256.bc    a `LinkedProgram`
    packages/NAME_VERSION/tree.tar.zst      the tree as it was built, where tests ran in it

``apt`` fetches, ``supplying`` gives a source and a system to build it in (``roots``, which are what
``lock`` says), ``building`` builds one package (``units`` are the sources it compiled, ``modules``
what becomes of them, ``trying`` its tests, ``failures`` why it failed, ``copyright`` its licences)
and ``several`` many; ``kept_trees`` lends a tree once more. ``compiling`` is what a compiler
offers; none is named here.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.corpus.packages.apt import PrivateApt
    from compiler_gym.tools.corpus.packages.building import Supplier, build_package
    from compiler_gym.tools.corpus.packages.compiling import UnitCompiler
    from compiler_gym.tools.corpus.packages.copyright import Licences, paragraphs
    from compiler_gym.tools.corpus.packages.gathering import (
        GatherReport,
        ShapeReader,
        gather,
        gather_dataset,
        holds_packages,
    )
    from compiler_gym.tools.corpus.packages.kept_trees import BuiltPackage, lend_tree
    from compiler_gym.tools.corpus.packages.lock import (
        LockedPackage,
        PackageLock,
        find_lock,
        read_lock,
        write_lock,
    )
    from compiler_gym.tools.corpus.packages.records import (
        BuildOutcome,
        BuiltModule,
        LinkedProgram,
        OwnTests,
        PackageResult,
        read_result,
        read_results,
        write_result,
    )
    from compiler_gym.tools.corpus.packages.roots import Root
    from compiler_gym.tools.corpus.packages.several import (
        PackageBuilder,
        build_packages,
        open_output,
        split_packages,
    )
    from compiler_gym.tools.corpus.packages.supplying import (
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
