# SPDX-License-Identifier: MIT
"""The options of the leaderboard of CompilerGym 0.2.5."""

import pytest

from compiler_gym.tools.learn.leaderboard.llvm import instcount


@pytest.mark.parametrize(
    ("arguments", "validate", "resume"),
    [
        ([], True, False),
        (["--novalidate", "--resume"], False, True),
        (["--validate=false", "--resume=true"], False, True),
        (["--no-validate", "--noresume"], False, False),
    ],
)
def test_switches_are_spelled_as_absl_does(
    arguments: list[str], validate: bool, resume: bool
) -> None:
    options = instcount._parse_arguments(arguments)  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert (options.validate, options.resume) == (validate, resume)


@pytest.mark.parametrize("wrong", ["--nonsense=1", "--n=0", "--validate=perhaps"])
def test_unknown_options_are_refused(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        instcount._parse_arguments([wrong])  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert wrong.partition("=")[0] in capsys.readouterr().err


def test_flags_that_a_script_defines_with_absl_are_handed_to_absl() -> None:
    flags = pytest.importorskip("absl.flags", reason="absl is not installed")
    values = flags.FlagValues()
    flags.DEFINE_float("epsilon", 0.1, "of the policy", flag_values=values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flags, "FLAGS", values)
        assert instcount._parse_arguments(["--n=3", "--epsilon=0.5"]).n == 3  # pyright: ignore[reportPrivateUsage]  # tested on its own
        assert values.epsilon == 0.5
