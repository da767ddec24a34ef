# SPDX-License-Identifier: MIT
"""Policies that choose a link plan for a program from its features, in a single compilation.

``features`` computes the features of a program's modules, ``choosing`` ranks a policy's plans for
them, ``linking`` describes a plan to the compiled driver, which links, and ``rustc`` finds the
flags for an installed rustc. None of them imports numpy, because a build calls its compiler often.
The shipped policies are files in this folder; the sibling package ``learning`` trains them.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.tune.llvm.policies.choosing import Policy, read_policy, write_policy
    from compiler_gym.tools.tune.llvm.policies.features import (
        FEATURES,
        compute_features,
        list_functions,
    )
    from compiler_gym.tools.tune.llvm.policies.linking import describe_plan
    from compiler_gym.tools.tune.llvm.policies.rustc import (
        LINKER_FLAGS,
        PROFILE,
        Rustc,
        find_rustc,
        our_llvm,
    )

__all__ = [
    "FEATURES",
    "LINKER_FLAGS",
    "PROFILE",
    "Policy",
    "Rustc",
    "compute_features",
    "describe_plan",
    "find_rustc",
    "list_functions",
    "our_llvm",
    "read_policy",
    "write_policy",
]

__getattr__ = door(__name__)
