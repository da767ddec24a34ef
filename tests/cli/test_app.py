# SPDX-License-Identifier: MIT
import inspect
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import compiler_gym.cli
from compiler_gym.cli._app import app
from compiler_gym.cli._commands import commands
from compiler_gym.cli.kit.output import output, show, table
from compiler_gym.lazy import parts
from tests.command_line import Run
from tests.loading import needs_packages

HEAVY = ("numpy", "gymnasium", "compiler_gym.core", "compiler_gym.search", "matplotlib")


@pytest.mark.parametrize(
    ("arguments", "message", "next_step"),
    [
        (("run", "cbench-v1/nothing"), "no program 'nothing'", "describe llvm-v0"),
        (("run", "elsewhere-v0/1"), "no dataset 'benchmark://elsewhere-v0'", "describe llvm-v0"),
        (("run", "missing.c"), "no such file: missing.c", "a program is a URI"),
        (("run", "README", "sroa"), "no file 'README', and no dataset.*: known: ", "is a URI"),
        (("run", "qsrt", "sroa"), "no file 'qsrt', and .* did you mean cbench-v1/qsort", "a URI"),
        (("run", "."), "no program|name a program file|not a benchmark", "a program is a URI"),
        (("run", "cbench-v1/crc32", "srao"), "no action 'srao'.*did you mean sroa", "--actions"),
        (("run", "cbench-v1/crc32", "9999"), "no action number 9999", "--actions"),
        (("run", "cbench-v1/crc32", "--pipeline", "bogus"), "bogus", "--print-passes"),
        (("run", "cbench-v1/crc32", "--observe", "Colour"), "no observation space", "describe"),
        (("run", "cbench-v1/crc32", "--reward", "Fame"), "no reward space 'Fame'", "describe"),
        (("run", "cbench-v1/crc32", "--action-space", "Dances"), "no action space", "describe"),
        (("run", "cbench-v1/crc32?goal=fame"), "no goal 'fame'", "a program is a URI"),
        (("describe", "gcc-v99"), "gcc", "compiler-gym envs"),
        (("search", "cbench-v1/crc32", "--algorithm", "magic"), "no algorithm 'magic'", ""),
        (("search", "cbench-v1/crc32", "--time", "-1"), "--time must be a number of seconds", ""),
        (
            ("search", "cbench-v1/crc32", "--steps", "1", "--jobs", "0"),
            "--jobs must be a whole number",
            "",
        ),
        (("search", "cbench-v1/crc32", "--start", "sraa"), "no action 'sraa'", "--actions"),
        pytest.param(
            ("explore", "nowhere.ll"), "no such file", "a program is a URI", marks=needs_packages
        ),
        (("search", "missing.bc", "--time", "1"), "no such file", "a program is a URI"),
    ],
)
def test_a_bad_request_is_one_line_and_the_next_step(
    cli: Run, arguments: tuple[str, ...], message: str, next_step: str
) -> None:
    ran = cli(*arguments)
    assert ran.status == 2
    assert ran.output == ""
    assert "Traceback" not in ran.errors
    assert re.match(rf"error: .*({message})", ran.errors)
    assert next_step in ran.errors


def test_clangs_own_message_is_shown_for_a_failed_compilation(cli: Run) -> None:
    ran = cli("run", "-", stdin=b"int main( {")
    assert ran.status == 2
    assert ran.errors.startswith("error: clang cannot compile stdin.c")
    assert "expected" in ran.errors


def test_a_clang_that_is_named_and_missing_is_reported(cli: Run) -> None:
    ran = cli("run", "-", stdin=b"int x;", COMPILER_GYM_CLANG="/nowhere/clang")
    assert ran.status == 2
    assert "COMPILER_GYM_CLANG is '/nowhere/clang', which is not a program" in ran.errors
    assert "next step" not in ran.errors


def test_empty_input_is_refused(cli: Run) -> None:
    ran = cli("run", "-", stdin=b" \n")
    assert ran.status == 2
    assert "standard input is empty" in ran.errors


def test_corrupt_bitcode_is_refused(cli: Run) -> None:
    ran = cli("run", "-", stdin=b"BC\xc0\xde" + bytes(64))
    assert ran.status == 2
    assert ran.errors.startswith("error: ")


def test_an_unexpected_option_is_a_usage_error(cli: Run) -> None:
    assert cli("envs", "--colour").status == 2


def test_the_short_help_of_each_command_is_its_first_sentence() -> None:
    for name, row in commands().items():
        command = row.load(name)
        assert command.name == name
        first = " ".join(inspect.cleandoc(command.help).partition("\n\n")[0].split())
        assert row.help == first


def test_a_command_loads_no_other() -> None:
    program = (
        "import json, os, sys\n"
        "from compiler_gym.cli import main\n"
        "for command in sys.argv[1:]:\n"
        "    if os.fork():\n"
        "        os.wait()\n"
        "        continue\n"
        "    out, sys.stdout = sys.stdout, open(os.devnull, 'w')\n"
        "    sys.argv = ['', command, '--version' if command == 'cc' else '--help']\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "    print(json.dumps([command, *sys.modules]), file=out, flush=True)\n"
        "    os._exit(0)\n"
    )
    words = [sys.executable, "-c", program, *commands()]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    tables = {entry.value.partition(":")[0] for entry in parts("commands").values()}
    owners = {row.path.partition(":")[0] for row in commands().values()} - tables
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [command for command, *_ in lines] == list(commands())
    for command, *loaded in lines:
        assert commands()[command].path.partition(":")[0] in loaded, command
        # One may use another's words, as bisect does replay's status.
        assert len(owners.intersection(loaded)) <= 2, command
        assert not set(HEAVY).intersection(loaded), command


def test_brackets_in_help_stay(cli: Run) -> None:
    assert "[default: one per processor]" in cli("search", "--help").output


def test_the_nearest_environment_and_command_are_named(cli: Run) -> None:
    assert "did you mean llvm-v0" in cli("describe", "lvm-v0").errors
    assert "Did you mean 'search'" in cli("serach").errors


@pytest.mark.parametrize("arguments", [("envs",), ("describe", "llvm-v0"), ("--help",)])
def test_output_into_a_closed_pipe_ends_as_it_does_for_other_tools(
    arguments: tuple[str, ...],
) -> None:
    command = [sys.executable, "-m", "compiler_gym.cli", *arguments]
    read, write = os.pipe()
    with subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE) as process:
        os.close(write)
        os.close(read)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGPIPE
    assert errors == b""


def test_no_command_reads_its_text_as_markup() -> None:
    markup = re.compile(r"\[/|\[(bold|dim|red|green|yellow)\b")
    folder = Path(compiler_gym.cli.__file__).parent
    for path in folder.glob("*.py"):
        assert not markup.search(path.read_text()), path


def test_text_in_brackets_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table("Program", "[bold]", title="[red]title", typed=("Program",))
    rows.add_row("[plot]", "compiler_gym[plot] :bug:")
    show(rows)
    output().print("[/nothing] :smile:")
    printed = capsys.readouterr().out
    for text in ("[plot]", "[bold]", "[red]title", "compiler_gym[plot] :bug:", "[/nothing]"):
        assert text in printed
    assert ":smile:" in printed


@pytest.mark.parametrize("width", ["40", "80"])
def test_commands_to_type_are_never_cut(cli: Run, width: str) -> None:
    ids = [env["id"] for env in cli("envs", "--json").json["environments"]]
    shown = cli("envs", COLUMNS=width).output
    assert all(re.search(rf"^ *{id} ", shown, re.MULTILINE) for id in ids)
    shown = cli("datasets", COLUMNS=width).output
    names = [d["name"] for d in cli("datasets", "--json").json["datasets"] if not d["hidden"]]
    assert all(name.removeprefix("benchmark://") in shown for name in names)


def run_in_terminal(*arguments: str, pager: str) -> str:
    """Return what a command shows in a terminal of 24 lines."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "PAGER": pager, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    command = [sys.executable, "-m", "compiler_gym.cli", *arguments]
    shown = b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, env=environment) as run:
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            shown += part
    os.close(ours)
    assert run.returncode == 0
    return shown.decode()


def test_a_terminal_shows_what_is_long_in_the_pager() -> None:
    shown = run_in_terminal("describe", "llvm-v0", "--actions", pager="sed s/^/paged:/")
    assert shown.count("paged:") > 24
    short = run_in_terminal("describe", "llvm-v0", "--filter", "gvn-sink", pager="sed s/^/paged:/")
    assert "gvn-sink" in short
    assert "paged:" not in short


def test_without_a_pager_it_is_printed(cli: Run) -> None:
    assert "Autophase" in run_in_terminal("describe", "llvm-v0", pager="no-such-pager")
    assert "Autophase" in run_in_terminal("describe", "llvm-v0", pager="")
    assert "paged" not in cli("describe", "llvm-v0", PAGER="sed s/^/paged:/").output


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_one_line(cli: Run, flag: str) -> None:
    ran = cli(flag)
    assert (ran.status, ran.output) == (0, f"compiler-gym {compiler_gym.__version__}\n")


def test_help_is_a_command_too(cli: Run) -> None:
    assert cli("help").output == cli("-h").output
    assert cli("help", "datasets", "install").output == cli("datasets", "install", "-h").output
    assert "Did you mean 'search'" in cli("help", "serch").errors
    assert cli("help", "envs", "x").status == 2


def test_the_usage_of_tune_shows_where_the_build_goes(cli: Run) -> None:
    assert "Usage: compiler-gym tune [OPTIONS] -- BUILD..." in cli("tune", "-h").output


@pytest.mark.parametrize("command", sorted(commands().keys() - {"cc", "cxx"}))
def test_the_types_in_help_are_plain_words(cli: Run, command: str) -> None:
    assert not re.search(r"<(list|str|int|float|path)\b", cli("help", command).output)


@pytest.mark.parametrize("time", ["0", "0s", "soon", "1d", "-1", "10 m"])
@pytest.mark.parametrize(
    "command", ["search cbench-v1/crc32", pytest.param("hunt .", marks=needs_packages), "tune"]
)
def test_every_time_has_one_syntax(cli: Run, command: str, time: str) -> None:
    ran = cli(*command.split(), f"--time={time}", *(["--", "true"] if command == "tune" else []))
    assert "--time must be a number of seconds, or a time" in ran.errors


# What a command needs besides options to read them.
_WORDS = {
    "tune": ("--", "true"),
    "search": ("cbench-v1/crc32",),
    "run": ("cbench-v1/crc32",),
    "hunt": (".",),
    "size": (sys.executable,),
    "replay": ("x",),
    "validate": ("x",),
    "reduce": ("x",),
    "evaluate-heuristic": ("x.c",),
    "datasets sample": ("cbench-v1",),
    "datasets export": ("cbench-v1", "x"),
    "leaderboard verify": ("x",),
}


def _options_with_numbers() -> Iterator[tuple[str, str]]:
    """Yield each option that is a number, a time, a percentage or a size, after its command."""
    for path, command in _leaves("", typer.main.get_command(app)):
        for parameter in command.params:
            kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
            help = getattr(parameter, "help", None) or ""
            is_read = kind is str and re.search(r"\(seconds\)|such as \d", help)
            if kind in (int, float) or is_read:
                yield path, max(parameter.opts, key=len)


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in command.commands:
        yield from _leaves(f"{path} {name}".strip(), command.commands[name])


@needs_packages
def test_an_option_that_is_not_a_number_names_itself(cli: Run) -> None:
    options = list(_options_with_numbers())
    assert len(options) > 60
    assert {("tune", "--check-time"), ("tune", "--max-slowdown"), ("size", "--budget")} <= {
        *options
    }
    for path, option in options:
        ran = cli(*path.split(), f"{option}=nonsense", *_WORDS.get(path, ()))
        assert ran.status == 2, (path, option)
        assert option in ran.errors.splitlines()[-1], (path, option, ran.errors)
