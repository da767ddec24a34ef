# SPDX-License-Identifier: MIT
"""Which options may be changed: each of a GCC is allowed or refused, for a reason."""

from compiler_gym.envs.gcc.toolchain.spec import get_spec
from compiler_gym.tools.tune.gcc.flags import FLAGS, REFUSED, choices, find_option
from tests.tools.tune.gcc.projects import GCC, needed

ALLOWED = {name.partition("=")[0] for name in FLAGS}
KEPT = {name for names in REFUSED.values() for name in names}


def test_every_option_of_the_compiler_is_allowed_or_refused_with_a_reason() -> None:
    needed()
    names = {option.name for option in get_spec(GCC).options if option.name.startswith("-f")}
    listed = {name.removeprefix("-f").rstrip("=") for name in names}
    assert not listed - ALLOWED - KEPT
    assert not ALLOWED & KEPT


def test_what_changes_meaning_is_never_offered() -> None:
    needed()
    flags, parameters = choices(get_spec(GCC).options, {})
    offered = {find_option(flag).removeprefix("-f") for flag in flags}
    assert not offered & {
        "fast-math", "short-enums", "pack-struct", "delete-null-pointer-checks", "wrapv",
        "strict-aliasing", "trapping-math", "optimize-sibling-calls", "exceptions",
    }  # fmt: skip
    assert all(flag.startswith("-f") for flag in flags)
    assert parameters
    assert all(flag.startswith("--param=") for flag in parameters)


def test_only_changes_are_offered_and_none_that_the_project_decides() -> None:
    needed()
    options = get_spec(GCC).options
    flags, _ = choices(options, {"-fgcse": "enabled", "-fweb": "disabled"}, {"-fipa-pta"})
    assert "-fno-gcse" in flags
    assert "-fgcse" not in flags
    assert "-fweb" in flags
    assert "-fno-web" not in flags
    assert not {"-fipa-pta", "-fno-ipa-pta"} & set(flags)
    assert "-fipa-pta" in choices(options, {})[0]


def test_settings_of_one_option_are_known_as_such() -> None:
    assert find_option("-fira-region=all") == find_option("-fira-region=mixed")
    assert find_option("-fno-web") == find_option("-fweb")
    assert find_option("-Oz") == find_option("-O2")
