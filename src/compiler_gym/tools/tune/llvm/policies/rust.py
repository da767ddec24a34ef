# SPDX-License-Identifier: MIT
"""Links by rustc: which of them a plan can improve, and why it cannot improve the others.

With ``-Clinker-plugin-lto`` and ``lto = "fat"``, rustc optimises the whole program, including its
standard library, and gives the linker a single module. Build scripts, procedural macros and debug
builds are linked the same way, but run only during the build.
"""

import re
from dataclasses import replace

from compiler_gym.builds import RUST_OBJECT, CompilerCommand, is_bitcode
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import read_regular
from compiler_gym.tools.tune.llvm.policies.features import list_functions
from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = [
    "FOR_RUST_CODE",
    "explain_refusal",
    "is_rust_object",
    "list_rust_objects",
    "uses_link_time",
    "with_minsize",
]

FOR_RUST_CODE = ("-O2", "-fPIC", "-ffunction-sections", "-fdata-sections",
                 "-Xclang", "-disable-llvm-passes")  # fmt: skip
"""Flags with which clang generates the code of rustc's modules as rustc does."""
_LIBRARY = re.compile(r"lib(core|proc_macro)-[0-9a-f]+\.rlib")
"""The standard library as separate machine code, in the command line of a linker."""
_LEVEL = "-plugin-opt=O"
"""The option by which rustc tells the linker its level; it adds none without link-time
optimisation."""
_DEBUG = f"{_LEVEL}0"
_SET_RUSTFLAGS = "add -Clinker-plugin-lto to RUSTFLAGS"
_SET_PROFILE = (
    'set lto = "fat", codegen-units = 1 and incremental = false in [profile.release] of Cargo.toml'
)


def is_rust_object(name: str) -> bool:
    """Return whether rustc gives this name to its own objects."""
    return name.endswith(RUST_OBJECT)


def list_rust_objects(command: CompilerCommand) -> list[str]:
    """Return the objects in the link `command` that rustc wrote."""
    return [name for name in command.objects if is_rust_object(name)]


def uses_link_time(command: CompilerCommand) -> bool:
    """Return whether rustc expects the linker to optimise, so that only lld can link."""
    return any(_LEVEL in word for word in command.link_flags)


def explain_refusal(command: CompilerCommand) -> str | None:
    """Return why no plan can link rustc's `command`; None if one can.

    The text is empty for what runs only during the build and for debug builds.
    """
    libraries = {match[1] for name in command.objects if (match := _LIBRARY.search(name))}
    if "proc_macro" in libraries or any(_DEBUG in word for word in command.link_flags):
        return ""
    modules = [read_regular(command.cwd / name) for name in list_rust_objects(command)]
    if not any(map(is_bitcode, modules)):
        return f"rustc passes machine code instead of bitcode: {_SET_RUSTFLAGS}"
    if "core" in libraries:
        return f"the standard library is not part of the optimised program: {_SET_PROFILE}"
    try:
        list(list_functions(filter(is_bitcode, modules)))
    except CompilerGymError as error:
        return f"{error}: use a rustc built on our LLVM; see `compiler-gym rust`"
    return None


def with_minsize(plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the mark `minsize` on every function."""
    return replace(plan, options={**plan.options, "force-attribute": "minsize"})
