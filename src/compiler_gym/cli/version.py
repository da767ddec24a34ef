# SPDX-License-Identifier: MIT
"""``compiler-gym version``."""

import platform

from compiler_gym.cli._output import Json, print_json, show, table

__all__ = ["version"]


def version(json: Json = False) -> None:
    """Print the versions of this library, its compilers and what they run on."""
    import gymnasium

    from compiler_gym.errors import EnvironmentNotSupported
    from compiler_gym.registration import compilers, make
    from compiler_gym.version import __version__

    versions = {"compiler_gym": __version__}
    for name, compiler in compilers().items():
        try:
            with make(compiler.environments[0].id) as env:
                versions[name] = env.compiler_version
        except EnvironmentNotSupported as error:
            versions[name] = f"not available: {error}"
    versions["sandbox"] = _sandbox()
    versions |= {"gymnasium": gymnasium.__version__, "python": platform.python_version()}
    if json:
        print_json(versions)
        return
    rows = table("Part", "Version")
    for name, number in versions.items():
        rows.add_row(name, number)
    show(rows)


def _sandbox() -> str:
    """Return what programs are run in here, and why in no stronger one."""
    from compiler_gym.errors import CompilerGymError
    from compiler_gym.sandbox import Sandbox, chosen, way, why_not

    try:
        tier = chosen()
        if tier is Sandbox.NAMESPACES:
            return f"{tier.value} ({way().name})"
        reason = why_not(Sandbox.NAMESPACES) or "COMPILER_GYM_SANDBOX asks for it"
    except CompilerGymError as error:
        return f"not available: {error}"
    return f"{tier.value} (not namespaces: {reason})"
