# SPDX-License-Identifier: MIT
"""An option is a list of settings: counted, spelled and found again."""

import pytest

from compiler_gym_gcc import (
    GccFlagAlignOption,
    GccFlagEnumOption,
    GccFlagIntOption,
    GccFlagOption,
    GccOOption,
    GccParamEnumOption,
    GccParamIntOption,
    Option,
)

OPTIONS = [
    (GccOOption(("0", "1", "fast", "s")), ["-O0", "-O1", "-Ofast", "-Os"]),
    (GccFlagOption("-fgcse"), ["-fgcse", "-fno-gcse"]),
    (GccFlagOption("-fstack-protector-all", no_fno=True), ["-fstack-protector-all"]),
    (GccFlagOption("-fno-threadsafe-statics"), ["-fno-threadsafe-statics", "-fthreadsafe-statics"]),
    (GccFlagEnumOption("-fira-region=", ("all", "one")), ["-fira-region=all", "-fira-region=one"]),
    (GccFlagIntOption("-flifetime-dse=", 0, 2), [f"-flifetime-dse={n}" for n in range(3)]),
    (GccParamEnumOption("--param=x=", ("a", "b")), ["--param=x=a", "--param=x=b"]),
    (GccParamIntOption("--param=y=", 5, 8, 6), [f"--param=y={n}" for n in range(5, 9)]),
]


@pytest.mark.parametrize(("option", "settings"), OPTIONS, ids=lambda v: str(v)[:30])
def test_settings_are_listed_and_found(option: Option, settings: list[str]) -> None:
    assert list(option) == settings
    assert len(option) == len(settings)
    assert [option.index(setting) for setting in settings] == list(range(len(settings)))
    assert list(option.candidates()) == list(range(len(settings)))
    assert str(option) == option.name


@pytest.mark.parametrize(("option", "settings"), OPTIONS, ids=lambda v: str(v)[:30])
def test_an_invalid_setting_is_refused(option: Option, settings: list[str]) -> None:
    for index in (-1, len(settings)):
        with pytest.raises(IndexError, match="has settings 0 to"):
            option[index]
    for text in ("-fother", settings[0] + "1x", option.name + " "):
        with pytest.raises(ValueError, match=r"\w"):
            option.index(text)


def test_an_alignment_is_on_off_or_a_power_of_two() -> None:
    option = GccFlagAlignOption("-falign-loops")
    assert list(option)[:4] == [
        "-falign-loops", "-fno-align-loops", "-falign-loops=1", "-falign-loops=2",
    ]  # fmt: skip
    assert option[len(option) - 1] == "-falign-loops=64"


@pytest.mark.parametrize(("default", "start"), [(None, 3), (-1, 3), (7, 7), (999, 64)])
def test_counting_starts_within_the_range_wherever_the_default_lies(
    default: int | None, start: int
) -> None:
    option = GccParamIntOption("--param=z=", 3, 64, default)
    assert option[option.start] == f"--param=z={start}"


def test_a_long_range_offers_a_few_dozen_candidates_with_its_start() -> None:
    option = GccParamIntOption("--param=z=", 0, 2**31 - 1, 450)
    candidates = list(option.candidates())
    assert len(candidates) <= 40
    assert candidates == sorted(set(candidates))
    assert {0, 450, 900} <= set(candidates)
    assert all(0 <= index < len(option) for index in candidates)


@pytest.mark.parametrize("text", ["--param=z=007", "--param=z=+5", "--param=z= 5", "--param=z="])
def test_a_number_has_one_spelling(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        GccParamIntOption("--param=z=", 0, 9).index(text)
