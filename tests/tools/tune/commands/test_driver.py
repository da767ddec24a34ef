# SPDX-License-Identifier: MIT
"""``compiler-gym-cc --plan`` does what the compiler alone does, but for the plan."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    shutil.which("ld.lld-22") is None or shutil.which("clang-22") is None,
    reason="needs clang-22 and lld-22",
)
DRIVER = str(Path(sys.executable).with_name("compiler-gym-cc"))
PLAN = (
    'version = 1\ncompiler = "llvm 22.1.8"\ngoal = "size"\nmade_by = "1"\n'
    '[[binaries]]\nname = "run"\nmethod = "program"\npasses = "lto-pre-link<Oz>,lto<Oz>"\n'
    'scope = "internalize<preserve-gv=main>"\n'
)
Drive = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same file for all: reading a plan takes the library a second."""
    path = tmp_path_factory.mktemp("plan") / "tuned.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def tree(tmp_path: Path, plan: Path) -> Path:
    (tmp_path / "tuned.toml").symlink_to(plan)
    (tmp_path / "main.c").write_text("int part(int);\nint main(void) { return part(21); }\n")
    (tmp_path / "part.c").write_text(
        "int unused(int n) { return n * n; }\nint part(int n) { return n * 2; }\n"
    )
    return tmp_path


@pytest.fixture
def drive(tree: Path, cache: Path) -> Drive:
    def run(*words: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [DRIVER, "--plan", "tuned.toml", *words],
            cwd=tree,
            env={**os.environ, "COMPILER_GYM_CACHE": str(cache), **more},
            input=stdin,
            capture_output=True,
            timeout=120,
        )

    return run


def text_of(path: Path) -> int:
    shown = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[1]) for line in shown.splitlines() if line.startswith(".text"))


def test_objects_are_the_compilers_own_and_the_planned_link_is_not(
    tree: Path, drive: Drive
) -> None:
    done = drive("-O2", "-c", "main.c", "part.c")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    made = (tree / "part.o").read_bytes()
    subprocess.run(["clang-22", "-O2", "-c", "part.c"], cwd=tree, check=True)
    assert (tree / "part.o").read_bytes() == made
    for name in ("other", "run"):
        done = drive("main.o", "part.o", "-o", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert subprocess.run([tree / name]).returncode == 42
    assert text_of(tree / "run") < text_of(tree / "other")


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("-print-search-dirs",),
        ("-E", "main.c"),
        ("-M", "main.c"),
        ("-S", "main.c", "-o", "-"),
        ("-c", "main.c", "-o", "/dev/null"),
        ("-c", "missing.c"),
        ("-fno-such-option", "-c", "main.c"),
        ("-x", "c", "-E", "-"),
        ("@words",),
        ("main.c", "-o", "run"),  # does not link: `part` is missing
        (),
    ],
)
def test_a_call_prints_and_ends_as_the_compilers(
    tree: Path, drive: Drive, words: tuple[str, ...]
) -> None:
    (tree / "words").write_text('-E "-DTEXT=a b" main.c')
    ours = drive(*words, stdin=b"int x;\n")
    theirs = subprocess.run(
        ["clang-22", *words], cwd=tree, input=b"int x;\n", capture_output=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "315532800"},
    )  # fmt: skip
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    if b"main-" not in theirs.stderr:  # a temporary object is named anew each time
        assert ours.stderr == theirs.stderr


def test_objects_keep_their_origin_in_archives_and_response_files(tree: Path, drive: Drive) -> None:
    (tree / "words").write_text("-O2 -c part.c\n-o 'a part.o'")
    assert drive("@words").returncode == 0
    (tree / "words").unlink()
    assert drive("-O2", "-x", "c", "-c", "main.c").returncode == 0
    subprocess.run(["ar", "rc", "libpart.a", "a part.o"], cwd=tree, check=True)
    done = drive("main.o", "-L.", "-lpart", "-orun")
    assert (done.returncode, done.stderr) == (0, b"")
    assert subprocess.run([tree / "run"]).returncode == 42


def test_a_preprocessed_file_takes_no_object_from_its_source(tree: Path, drive: Drive) -> None:
    assert drive("-c", "main.c", "part.c").returncode == 0
    assert drive("-E", "-c", "main.c").returncode == 0
    assert drive("-c", "-MF", "part.d", "-MD", "main.c").returncode == 0
    assert drive("main.o", "part.o", "-o", "run").stderr == b""


def test_a_plan_may_be_named_in_the_environment(tree: Path, cache: Path) -> None:
    variables = {"COMPILER_GYM_CACHE": str(cache), "COMPILER_GYM_PLAN": "tuned.toml"}
    for words in (["-c", "main.c", "part.c"], ["main.o", "part.o", "-o", "run"]):
        done = subprocess.run(
            [DRIVER, *words], cwd=tree, env={**os.environ, **variables}, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, b"")
    plain = ["clang-22", "main.o", "part.o", "-o", "plain"]
    subprocess.run(plain, cwd=tree, check=True)
    assert text_of(tree / "run") < text_of(tree / "plain")


def test_the_date_is_that_of_tuned_builds(tree: Path, drive: Drive) -> None:
    (tree / "date.c").write_text("const char *date = __DATE__;\n")
    assert b'"Jan  1 1980"' in drive("-E", "date.c").stdout
    assert b'"Jan  1 1970"' in drive("-E", "date.c", SOURCE_DATE_EPOCH="0").stdout


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", b"cannot read tuned.toml"),
        ("version = 0", b"has version 0"),
        (PLAN.replace("lto<Oz>", "no-such-pass"), b"no-such-pass"),
        (PLAN.replace('"run"', '"../run"'), b"a path must not contain `..`"),
    ],
)
def test_a_plan_that_is_refused_stops_every_call(
    tree: Path, drive: Drive, text: str, complaint: bytes
) -> None:
    assert drive("-c", "main.c").returncode == 0  # what was found good before counts no longer
    (tree / "tuned.toml").unlink()
    if text:
        (tree / "tuned.toml").write_text(text)
    done = drive("-c", "part.c")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert not (tree / "part.o").exists()


def test_a_plan_for_a_compiler_that_is_not_here_is_said_where_it_is_used(
    tree: Path, drive: Drive
) -> None:
    (tree / "tuned.toml").unlink()
    (tree / "tuned.toml").write_text(PLAN.replace("llvm 22.1.8", "pcc 1.2"))
    assert drive("-c", "main.c", "part.c").returncode == 0
    done = drive("main.o", "part.o", "-o", "run")
    assert done.returncode == 0
    assert b"no tuner for the compiler 'pcc 1.2'" in done.stderr
    assert subprocess.run([tree / "run"]).returncode == 42


def test_without_a_cache_everything_still_works(tree: Path, drive: Drive) -> None:
    (tree / "file").touch()
    assert drive("-c", "main.c", "part.c", COMPILER_GYM_CACHE="file").returncode == 0
    done = drive("main.o", "part.o", "-o", "run", COMPILER_GYM_CACHE="file")
    assert done.returncode == 0
    assert b"no object was compiled with it" in done.stderr


@pytest.fixture
def slow(tree: Path) -> str:
    script = tree / "slow"
    script.write_text(
        "#!/bin/sh\ntrap 'echo told >&2; exit 3' TERM\n"
        "echo begun\nsleep 20 >/dev/null 2>&1 & wait\n"
    )
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(("number", "status", "said"), [
    (signal.SIGTERM, 3, b"told\n"),
    (signal.SIGKILL, -signal.SIGKILL, b""),
])  # fmt: skip
def test_signals_reach_the_compiler(
    tree: Path, drive: Drive, cache: Path, slow: str, number: int, status: int, said: bytes
) -> None:
    drive("--version")
    with subprocess.Popen(
        [DRIVER, "--plan", "tuned.toml", "-c", "main.c"], cwd=tree,
        env={**os.environ, "COMPILER_GYM_CACHE": str(cache), "COMPILER_GYM_CC": slow},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline() == b"begun\n"
        time.sleep(0.1)  # the shell goes on to its `wait`
        running.send_signal(number)
        running.wait(10)
        assert running.returncode == status
        if number == signal.SIGTERM:
            assert running.stderr is not None
            assert running.stderr.read() == said


def test_a_compiler_that_a_signal_ends_ends_the_driver_so(tree: Path, drive: Drive) -> None:
    (tree / "dies").write_text("#!/bin/sh\nkill -SEGV $$\n")
    (tree / "dies").chmod(0o755)
    assert drive("-c", "main.c", COMPILER_GYM_CC="./dies").returncode == -signal.SIGSEGV
    done = drive("-c", "main.c", COMPILER_GYM_CC="no-such-compiler")
    assert done.returncode == 2
    assert b"cannot run no-such-compiler" in done.stderr


@pytest.mark.skipif(shutil.which("ccache") is None, reason="needs ccache")
def test_a_compiler_cache_stands_behind_or_in_front(tree: Path, drive: Drive) -> None:
    for _ in range(2):  # the second time out of its cache
        for name in ("main", "part"):
            done = drive(
                "-O2", "-c", f"{name}.c", "-o", f"{name}.o",
                COMPILER_GYM_CC="ccache clang-22", CCACHE_DIR=str(tree / "ccache"),
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, b"")
    assert drive("main.o", "part.o", "-o", "run").stderr == b""
    done = subprocess.run(
        ["ccache", DRIVER, "--plan", str(tree / "tuned.toml"), "-c", "main.c", "-o", "again.o"],
        cwd=tree, env={**os.environ, "CCACHE_DIR": str(tree / "ccache")}, check=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert (tree / "again.o").is_file()


def test_kept_files_are_kept_with_a_plan_too(tree: Path, drive: Drive) -> None:
    assert drive("-c", "main.c", COMPILER_GYM_CC_OUTPUT="kept").returncode == 0
    assert len(list((tree / "kept/modules").iterdir())) == 1


def test_calls_without_a_plan_are_the_librarys(tree: Path, cache: Path) -> None:
    version = subprocess.check_output(["clang-22", "--version"])
    assert subprocess.check_output([DRIVER, "--version"]) == version
    done = subprocess.run([DRIVER, "--plan"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"--plan needs a file" in done.stderr


def test_a_call_costs_little_more_than_the_compilers(tree: Path, drive: Drive) -> None:
    """Processor time, in turns: a tenth of what loading the library takes is allowed."""
    drive("--version")
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(5):
        for times, words in ((ours, [DRIVER, "--plan", "tuned.toml"]), (theirs, ["clang-22"])):
            before = os.times()
            subprocess.run([*words, "-c", "main.c"], cwd=tree, check=True)
            after = os.times()
            times.append(sum(after[2:4]) - sum(before[2:4]))
    assert min(ours) - min(theirs) < 0.06
