# SPDX-License-Identifier: MIT
"""Policies for one compilation: which plan a program is linked by, chosen from what it is made of.

``features`` counts what is in its modules, ``choosing`` ranks the plans of a policy for them, and
``linking`` does what a call of ``cc --policy`` asks for. None of them needs numpy: a build calls
its compiler often. The policies that are shipped are files here; ``learning`` beside this folder
makes them.
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
    from compiler_gym.tools.tune.llvm.policies.linking import link

__all__ = [
    "FEATURES",
    "Policy",
    "compute_features",
    "link",
    "list_functions",
    "read_policy",
    "write_policy",
]

__getattr__ = door(__name__)
