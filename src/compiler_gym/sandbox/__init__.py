# SPDX-License-Identifier: MIT
"""A sandbox for untrusted programs and for programs that a broken compiler produced.

``tiers`` chooses the strength of a sandbox, among those that this machine offers, and recognises
the user's own programs, which are compiled without one; ``box`` runs one command in a sandbox;
``groups`` bounds the memory and the processes of a whole sandbox with a control group, if the
kernel permits it; ``tools`` runs a compiler, or a step of a build, in a sandbox; ``ways`` has the
two commands that make a sandbox, our helper and bubblewrap, with the files that a program may read,
and explains refusals. ``keeper`` ends all processes that a command started, and ``sessions``
protects a build from Ctrl-C.

A small helper program (``native/src/box``) applies the restrictions, never the calling process.
Whether a program is correct is checked elsewhere.
"""

from compiler_gym.sandbox.box import FOLDER, BoxReport, RunLimits, Workplace, run_boxed
from compiler_gym.sandbox.sessions import (
    Printed,
    build_variables,
    in_own_session,
    run_in_own_session,
)
from compiler_gym.sandbox.tiers import (
    ENVIRONMENT_VARIABLE,
    Sandbox,
    available,
    choose_tier,
    find_requested,
    is_own,
    require,
    use,
    use_sandbox,
    way,
    why_not,
)
from compiler_gym.sandbox.tools import (
    BUILD_FOLDER,
    RootedPlace,
    require_rooted,
    run_rooted,
    run_tool_boxed,
)
from compiler_gym.sandbox.ways import find_helper

__all__ = [
    "BUILD_FOLDER",
    "ENVIRONMENT_VARIABLE",
    "FOLDER",
    "BoxReport",
    "Printed",
    "RootedPlace",
    "RunLimits",
    "Sandbox",
    "Workplace",
    "available",
    "build_variables",
    "choose_tier",
    "find_helper",
    "find_requested",
    "in_own_session",
    "is_own",
    "require",
    "require_rooted",
    "run_boxed",
    "run_in_own_session",
    "run_rooted",
    "run_tool_boxed",
    "use",
    "use_sandbox",
    "way",
    "why_not",
]
