# SPDX-License-Identifier: MIT
"""``compiler-gym rust``."""

import shlex
from typing import Annotated

import typer

from compiler_gym.cli.kit.output import Json, output, print_command, print_json


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
    from compiler_gym.tools.tune import recipe_named
    from compiler_gym.tools.tune.llvm import driver as ours

    found = ours.find_rustc(rustc)
    own = [("--minsize", minsize), ("--old-loaders", old_loaders)]
    flags = list(ours.LINKER_FLAGS)
    flags += [f"-Clink-arg={option}" for option, is_chosen in own if is_chosen]
    if not found.is_ours:
        flags = found.list_llvm_flags(recipe_named("small").plan)
    if json:
        print_json(
            {
                "rustc": found.release,
                "llvm": found.llvm,
                "our_llvm": ours.our_llvm(),
                "can_link": found.is_ours,
                "profile": ours.PROFILE,
                "rustflags": flags,
            }
        )
        return
    versions = f"rustc {found.release} is built on LLVM {found.llvm}"
    if found.is_ours:
        output().print(f"{versions}; this library's {ours.our_llvm()} fits.", soft_wrap=True)
    else:
        version = ".".join(ours.our_llvm().split(".")[:2])
        output().print(
            f"{versions}, but this library on {version}: its linker cannot be used. Install a "
            f"rustc with LLVM {version} (see `rustc -vV`), or use only these flags.",
            soft_wrap=True,
        )
    output().print("\nIn Cargo.toml:\n\n  [profile.release]", markup=False)
    for name, value in ours.PROFILE.items():
        output().print(f"  {name} = {value}", markup=False, highlight=False)
    output().print("\nBuild with:\n")
    print_command(f"RUSTFLAGS={shlex.quote(' '.join(flags))} cargo build --release")
    if found.is_ours and not minsize:
        output().print(
            "\nMost of a small program is the standard library, which is compiled for speed. With "
            "--minsize it is compiled for size, too.",
            soft_wrap=True,
        )
