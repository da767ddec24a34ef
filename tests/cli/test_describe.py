# SPDX-License-Identifier: MIT
import pytest
from rich.cells import cell_len
from rich.text import Text

import compiler_gym
from tests.command_line import Run


def test_everything_an_environment_offers_is_described(cli: Run) -> None:
    described = cli("describe", "llvm-v0", "--json").json
    with compiler_gym.make("llvm-v0") as env:
        assert [s["name"] for s in described["observation_spaces"]] == list(env.observation)
        assert [s["name"] for s in described["reward_spaces"]] == list(env.reward)
        spaces = {space["name"]: space for space in described["action_spaces"]}
        assert [a["name"] for a in spaces["Passes"]["actions"]] == env.action_space.names  # type: ignore[attr-defined]
        assert described["compiler_version"] == env.compiler_version
    assert all(space["description"] for space in described["observation_spaces"])
    assert all(action["description"] for action in spaces["Passes"]["actions"])
    assert "benchmark://cbench-v1" in [dataset["name"] for dataset in described["datasets"]]


@pytest.mark.parametrize("env", ["llvm-v0", "gcc-v0", "mlir-v0", "loop_tool-v0"])
def test_a_description_fits_one_screen(cli: Run, env: str) -> None:
    shown = cli("describe", env, COLUMNS="80").output
    lines = shown.splitlines()
    assert len(lines) < 24
    assert all(len(line) <= 80 for line in lines)
    described = cli("describe", env, "--json").json
    names = [name.rstrip(",") for name in shown.split()]
    for kind in ("action_spaces", "observation_spaces", "reward_spaces", "datasets"):
        for entry in described[kind]:
            name = entry["name"].removeprefix("benchmark://")
            assert any(
                name == shown_name or (shown_name[-1] == "*" and name.startswith(shown_name[:-1]))
                for shown_name in names
            ), name


def test_each_part_of_a_description_has_its_own_option(cli: Run) -> None:
    texts = {
        "--actions": "vector-combine",
        "--observations": "Observation ",
        "--rewards": "Reward ",
        "--datasets": "Dataset ",
    }
    shown = {option: cli("describe", "llvm-v0", option).output for option in texts}
    for option, text in texts.items():
        assert [other for other in texts if text in shown[other]] == [option]


def test_every_environment_is_listed(cli: Run) -> None:
    listed = cli("envs", "--json").json["environments"]
    assert [env["id"] for env in listed] == list(compiler_gym.COMPILER_GYM_ENVS)
    shown = cli("envs").output
    assert all(env["id"] in shown for env in listed)


def test_versions_are_those_of_the_library_and_the_compiler(cli: Run) -> None:
    versions = cli("version", "--json").json
    with compiler_gym.make("llvm-v0") as env:
        assert versions["llvm"] == env.compiler_version
    assert versions["compiler_gym"] == compiler_gym.__version__
    assert compiler_gym.__version__ in cli("version").output


def test_a_filter_keeps_what_holds_it_in_its_name_or_description(cli: Run) -> None:
    found = cli("describe", "llvm-v0", "--filter", "TextSize", "--json").json
    names = [spec["name"] for spec in found["observation_spaces"] + found["reward_spaces"]]
    assert "ObjectTextSizeOz" in names
    assert "Autophase" not in names
    shown = cli("describe", "llvm-v0", "--filter", "newgvn").output
    assert "newgvn" in shown  # of another space than the first
    assert "sroa" not in shown


def test_a_filter_that_finds_nothing_says_what_is_near(cli: Run) -> None:
    ran = cli("describe", "llvm-v0", "--filter", "srao")
    assert ran.status == 2
    assert "nothing in llvm-v0 contains 'srao': did you mean sroa" in ran.errors


def test_a_long_name_leaves_the_others_room_for_their_descriptions(cli: Run) -> None:
    shown = cli("describe", "llvm-v0", "--filter", "loop", COLUMNS="80", TTY_COMPATIBLE="1")
    lines = shown.output.splitlines()
    assert all(cell_len(Text.from_ansi(line).plain.rstrip()) <= 80 for line in lines)
    assert any("loop-deletion" in line and "Delete loops" in line for line in lines)


def test_actions_without_names_are_described_by_their_choices(cli: Run) -> None:
    described = cli("describe", "llvm-v0", "--json").json
    spaces = {space["name"]: space for space in described["action_spaces"]}
    codegen = {part["name"]: part for part in spaces["Codegen"]["parts"]}
    assert codegen["regalloc"]["values"] == "default, basic"
    assert all(part["description"] for part in codegen.values())
    parameters = [part["name"] for part in spaces["Parameters"]["parts"]]
    assert parameters.index("licm allowspeculation") == parameters.index("licm") + 1
    assert spaces["Passes"]["parts"] == []
    found = cli("describe", "llvm-v0", "--filter", "allowspeculation").output
    assert "licm allowspeculation" in found
    assert "false, true" in found


def test_an_environment_without_a_version_is_the_latest_and_nothing_is_coloured(cli: Run) -> None:
    ran = cli("describe", "llvm")
    assert ran.output.splitlines()[1:] == cli("describe", "llvm-v0").output.splitlines()[1:]
    assert "\x1b" not in ran.output + ran.errors
    assert "WARN" not in ran.errors
