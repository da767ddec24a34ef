# SPDX-License-Identifier: MIT
"""``compiler-gym rust``."""

import shlex
from typing import Annotated

import typer

from compiler_gym.cli.kit.output import Json, output, print_command, print_json

__all__ = ["rust"]


def rust(
    minsize: Annotated[
        bool,
        typer.Option(
            "--minsize", help="Compile all code for size, also the standard library: slower."
        ),
    ] = False,
    old_loaders: Annotated[
        bool, typer.Option("--old-loaders", help="Support systems with glibc before 2.36.")
    ] = False,
    rustc: Annotated[str, typer.Option(help="Name or path of the compiler.")] = "rustc",
    json: Json = False,
) -> None:
    """Print the settings with which cargo builds small programs with this rustc.

    With `compiler-gym-cc` as its linker, rustc leaves the last optimisation to our size policy.
    If rustc is built on another LLVM, only flags remain.

    compiler-gym rust --minsize
    """
    from compiler_gym.lazy import part
    from compiler_gym.tools.tune.commands.recipes import policy_named

    policies = part("policies")
    found = policies.find_rustc(rustc)
    own = [("--minsize", minsize), ("--old-loaders", old_loaders)]
    flags = list(policies.LINKER_FLAGS)
    flags += [f"-Clink-arg={option}" for option, is_chosen in own if is_chosen]
    if not found.is_ours:
        flags = found.list_llvm_flags(policies.read_policy(policy_named("size")))
    if json:
        print_json(
            {"rustc": found.release, "llvm": found.llvm, "our_llvm": policies.our_llvm(),
             "can_link": found.is_ours, "profile": policies.PROFILE, "rustflags": flags}
        )  # fmt: skip
        return
    versions = f"rustc {found.release} is built on LLVM {found.llvm}"
    if found.is_ours:
        output().print(f"{versions}, like this library.", soft_wrap=True)
    else:
        ours = ".".join(policies.our_llvm().split(".")[:2])
        output().print(
            f"{versions}, but this library on {ours}: its linker cannot be used. Install a rustc "
            f"with LLVM {ours} (see `rustc -vV`), or use only these flags.",
            soft_wrap=True,
        )
    output().print("\nIn Cargo.toml:\n\n  [profile.release]", markup=False)
    for name, value in policies.PROFILE.items():
        output().print(f"  {name} = {value}", markup=False, highlight=False)
    output().print("\nBuild with:\n")
    print_command(f"RUSTFLAGS={shlex.quote(' '.join(flags))} cargo build --release")
    if found.is_ours and not minsize:
        output().print(
            "\nMost of a small program is the standard library, which is compiled for speed. With "
            "--minsize it is compiled for size, too.", soft_wrap=True,
        )  # fmt: skip
