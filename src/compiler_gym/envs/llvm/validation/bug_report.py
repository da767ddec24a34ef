# SPDX-License-Identifier: MIT
"""Write reports for LLVM's issue tracker: IR, one command, and the expected result.

The folder reproduces the bug with LLVM's own tools alone. If ``llvm-reduce`` is installed, it
reduces the IR, with the script in the folder as its interestingness test. The script runs the
program and reduced versions, so everything happens in a sandbox, on a copy of the folder.
"""

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from compiler_gym.datasets import RunCase, RunLimits, RunReport, run_contained
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.tools import MAJOR, find_tool, tool_name
from compiler_gym.envs.llvm.validation.build import paths_in
from compiler_gym.errors import BenchmarkInitError, CacheError
from compiler_gym.files import writing

__all__ = ["BugReport", "write_bug_report"]

_OPT = tool_name("opt")
_REDUCE = tool_name("llvm-reduce")
_COMMAND_SECONDS = 60
_REDUCE_SECONDS = 900.0
_SCRIPT = "interesting.sh"
_REPORT_LIMITS = RunLimits(
    memory_bytes=0, output_bytes=256 << 20, processes=256, total_memory_bytes=8 << 30,
    open_files=1024,
)  # fmt: skip

_CRASH = """\
#!/bin/sh
# Succeeds if {opt} fails on the IR file "$1" in the same way as on the whole program.
output=$(timeout {seconds} {opt} {arguments} "$1" -o /dev/null 2>&1)
[ $? -eq {status} ] || exit 1
{signature}
"""

_MISCOMPILE = """\
#!/bin/sh
# Succeeds if the program in the IR file "$1" behaves differently after the pipeline.
# The program itself must be sound: it terminates by itself, is deterministic, and
# AddressSanitizer reports nothing.
here=$(cd "$(dirname "$0")" && pwd)
ir=$(realpath "$1")
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
run() {{
  rm -rf scratch && {{ [ ! -d "$here/case" ] || cp -r "$here/case" scratch; }} || exit 1
  mkdir -p scratch && chmod -R u+w scratch && cd scratch || exit 1
  timeout {seconds} "../$1" {argv} < "$here/stdin" > ../stdout 2> ../stderr
  echo "exit status $?" > "../$1.did"
  cat ../stdout {outputs} >> "../$1.did" 2> /dev/null
  cd ..
}}
{clang} -w -O0 -x ir "$ir" -x none -o before {link} || exit 1
run before && mv before.did first.did && run before && cmp -s first.did before.did || exit 1
head -1 before.did | grep -qE 'exit status ([0-9]|[1-9][0-9]|1[01][0-9])$' || exit 1
{opt} -passes=forceattrs,asan -force-attribute=sanitize_address "$ir" -o asan.bc || exit 1
if {clang} -w -O0 -x ir asan.bc -x none -o asan -fsanitize=address {link} 2> /dev/null; then
  ASAN_OPTIONS=detect_leaks=0 run asan
  grep -q AddressSanitizer: stderr && exit 1
fi
timeout {seconds} {opt} {arguments} "$ir" -o after.bc || exit 1
{clang} -w -O1 -Xclang -disable-llvm-passes -x ir after.bc -x none -o after {link} || exit 0
run after
! cmp -s before.did after.did
"""


@dataclass(frozen=True, slots=True)
class BugReport:
    """A written report, and whether LLVM's own tools reproduce the bug."""

    folder: Path
    command: str
    """The command that reproduces the bug, run inside the folder."""
    is_shown: bool
    """True if the command reproduces the bug on this machine."""
    is_reduced: bool
    """True if the IR was reduced."""
    lines: int
    """The number of lines of the IR that the command reads."""


def write_bug_report(
    folder: Path,
    *,
    module: bytes,
    pipeline: str,
    kind: Literal["crash", "miscompile"],
    case: RunCase | None = None,
    link: tuple[str, ...] = (),
    details: str = "",
) -> BugReport:
    """Write a report on the effect of `pipeline` on `module` into `folder`.

    A miscompile needs the `case` on which the program fails. The program and its reduced versions
    run in the current sandbox.
    """
    folder = folder.absolute()  # the tools run inside it
    _create(folder)
    (folder / "program.bc").write_bytes(module)
    arguments = f"-passes={shlex.quote(pipeline)}"
    script = folder / _SCRIPT
    if kind == "crash":
        text, symptom = _crash_script(folder / "program.bc", arguments)
    else:
        assert case is not None
        text, symptom = _miscompile_script(folder, case, link, arguments), details
    script.write_text(text, encoding="utf-8")
    script.chmod(0o755)
    is_shown = bool(text) and _is_interesting(folder, "program.bc", link)
    reduced = _reduce_ir(folder, link) if is_shown else None
    target = _as_text(folder, reduced or folder / "program.bc")
    command = f"{_OPT} {arguments} {target.name} -S -o output.ll"
    report = BugReport(
        folder, command, is_shown, reduced is not None, len(target.read_bytes().splitlines())
    )
    _readme(report, kind, symptom)
    return report


def _create(folder: Path) -> None:
    with writing(folder, CacheError):
        folder.mkdir(parents=True, exist_ok=True)


def _crash_script(program: Path, arguments: str) -> tuple[str, str]:
    """Return the script that recognises the crash (empty if opt does not fail), and the symptom."""
    command = [_OPT, *shlex.split(arguments), str(program), "-o", "/dev/null"]
    if shutil.which(_OPT) is None:
        return "", f"{_OPT} is not installed"
    try:
        result = subprocess.run(command, capture_output=True, timeout=_COMMAND_SECONDS, check=False)
        status, stderr = result.returncode, result.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        status, stderr = 124, ""
    if status == 0:
        return (
            "",
            f"{_OPT} does not fail: the cause is a memory limit, a time limit or this library",
        )
    status = 128 - status if status < 0 else status
    error = next((line for line in stderr.splitlines() if "LLVM ERROR:" in line), "")
    signature = f'printf "%s" "$output" | grep -qF {shlex.quote(error)}' if error else "exit 0"
    text = _CRASH.format(
        opt=_OPT, seconds=_COMMAND_SECONDS, arguments=arguments, status=status, signature=signature
    )
    symptom = error or f"{_OPT} exits with status {status}"
    return text, "\n\n".join(
        [symptom, *_code_block(_stack_dump(stderr.replace(f"{program.parent}/", "")))]
    )


def _stack_dump(stderr: str) -> str:
    """Return the numbered lines of LLVM's stack dump, without arguments and addresses."""
    lines = stderr.partition("Stack dump:\n")[2].splitlines()
    return "\n".join(line for line in lines if re.match(r"[1-9]\d*\.", line))


def _code_block(text: str) -> list[str]:
    return [f"```\n{text}\n```"] if text else []


def _version() -> str:
    """Return the lines of ``opt --version`` that a bug report needs."""
    try:
        result = subprocess.run(
            [_OPT, "--version"],
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"{_OPT} is not installed"
    lines = [line.strip() for line in result.stdout.splitlines()]
    return ", ".join(line for line in lines if re.search(r"version|target|CPU", line))


def _miscompile_script(folder: Path, case: RunCase, link: tuple[str, ...], arguments: str) -> str:
    scratch = folder / "case"
    scratch.mkdir(exist_ok=True)
    case.write_files(scratch)
    (folder / "stdin").write_bytes(case.stdin)
    quoted = [shlex.quote(word).replace("{dir}", ".") for word in case.argv]
    return _MISCOMPILE.format(
        opt=_OPT,
        clang=shlex.join(clang_command()),
        seconds=10,
        arguments=arguments,
        argv=" ".join(quoted),
        outputs=shlex.join(case.outputs),
        link=shlex.join(link),
    )


def _is_interesting(folder: Path, program: str, link: tuple[str, ...]) -> bool:
    """Return whether the script succeeds on the file `program` in the folder."""
    command = ["/bin/sh", _SCRIPT, program]
    try:
        return _run_on_copy(folder, command, link, 5 * _COMMAND_SECONDS).exit_status == 0
    except BenchmarkInitError:
        return False


def _reduce_ir(folder: Path, link: tuple[str, ...]) -> Path | None:
    """Return the reduced IR, or None if ``llvm-reduce`` is missing or cannot reduce it."""
    if shutil.which(_REDUCE) is None:
        return None
    target = folder / "reduced.bc"
    test = ["--test=/bin/sh", f"--test-arg={_SCRIPT}"]
    command = [_REDUCE, *test, "program.bc", "-o", target.name]
    reduced = _run_on_copy(folder, command, link, _REDUCE_SECONDS, target.name).files.get(
        target.name
    )
    if reduced is None:
        return None
    target.write_bytes(reduced)
    return target if _is_interesting(folder, target.name, link) else None


def _run_on_copy(
    folder: Path, command: list[str], link: tuple[str, ...], seconds: float, *outputs: str
) -> RunReport:
    """Run a command, which can run the program or a reduced version, on a copy of the report."""
    names = ("program.bc", "reduced.bc", "stdin", _SCRIPT)
    files = [folder / name for name in names] + [*(folder / "case").rglob("*")]
    inputs = {str(path.relative_to(folder)): path for path in files if path.is_file()}
    tools = [path for tool in (_OPT, clang_command()[0]) if (path := shutil.which(tool))]
    homes = [
        home for tool in tools for home in (Path(tool).parent, Path(tool).parent.parent / "lib")
    ]
    return run_contained(
        command,
        RunCase(files=inputs, outputs=outputs),
        limits=replace(_REPORT_LIMITS, seconds=seconds),
        visible=[*homes, *paths_in(link)],
    )


def _as_text(folder: Path, module: Path) -> Path:
    """Return `module` as a text file next to it, or itself if there is no disassembler."""
    tool = find_tool("llvm-dis")
    if tool is None:
        return module
    target = module.with_suffix(".ll")
    command = [tool, module.name, "-o", target.name]  # relative: the text contains this path
    result = subprocess.run(command, cwd=module.parent, capture_output=True, check=False)
    return target if result.returncode == 0 else module


def _readme(report: BugReport, kind: str, symptom: str) -> None:
    expected = {
        "crash": "the command exits with status 0 and writes valid IR",
        "miscompile": "the program behaves the same before and after the command",
    }[kind]
    note = "" if report.is_shown else "LLVM's own tools did not reproduce this bug.\n"
    (report.folder / "README.md").write_text(
        f"# LLVM {MAJOR}: {kind}\n\n"
        f"Version: {_version()}\n\n"
        f"Command:\n\n```\n{report.command}\n```\n\n"
        f"Expected: {expected}.\n\nFound: {symptom.strip() or 'see interesting.sh'}\n{note}\n"
        "`interesting.sh FILE` succeeds on IR that shows the bug, for `llvm-reduce --test`.\n",
        encoding="utf-8",
    )
    (report.folder / "command.txt").write_text(report.command + "\n", encoding="utf-8")
