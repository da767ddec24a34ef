# SPDX-License-Identifier: MIT
"""A recipe builds programs that nobody has seen: smaller, and they do what they should."""

import shlex
import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Request, Result, TuningJob, read_plan, recipe_named
from compiler_gym.tools.tune.llvm.llvm_tuner import FAIR, LlvmTuner
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld

PROGRAM = """
#include <stdio.h>
#include <string.h>
static int hash(const char *text, int by) {
  int sum = 0;
  for (int i = 0; text[i]; i++)
    for (int j = 0; j < 8; j++) sum ^= (text[i] << j) * by + (sum >> 3);
  return sum;
}
#define SHOW(n) \\
  static void show##n(const char *text) { \\
    for (int i = 0; i < n; i++) printf("%d %s %zu\\n", hash(text, i + n), text, strlen(text)); \\
    if (hash(text, n) % 3 == 0 && strlen(text) > n) puts(text + n); \\
  }
SHOW(1) SHOW(2) SHOW(3) SHOW(4) SHOW(5) SHOW(6) SHOW(7) SHOW(8)
int main(int count, char **words) {
  void (*const all[])(const char *) = {show1, show2, show3, show4, show5, show6, show7, show8};
  for (int i = 0; i < count + 7; i++) all[i % 8]("a few words");
  return count;
}
"""
EMPTY = "int main(void) { return 0; }\n"
THROWING = Path(__file__).with_name("throwing.cpp")
LIBRARY = """
__attribute__((noinline)) int hook(int a) { return a + 1; }
int work(int a, int b, int c, int d) {
  int sum = 0;
  for (int i = 0; i < a; i++) sum += hook(i) * b + c - d * i;
  return sum;
}
"""
USER = """
#include <stdio.h>
int work(int, int, int, int);
int main(void) { printf("%d\\n", work(10, 3, 5, 7)); }
"""
OTHER_HOOK = """
int hook(int a) {
  __asm__ volatile("mov $7,%%r8\\n mov $7,%%r9\\n mov $7,%%r10\\n mov $7,%%r11\\n"
                   "mov $7,%%rcx\\n mov $7,%%rdx\\n mov $7,%%rsi\\n"
                   ::: "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11");
  return a + 1;
}
"""


def words(compiler: str = "clang-22") -> list[str]:
    return [compiler, *list(LlvmTuner().plain_words(recipe_named("small").plan))[1:]]


def run(*command: object, **options: object) -> bytes:
    line = [str(word) for word in command]
    return subprocess.run(line, capture_output=True, check=True, timeout=60, **options).stdout  # type: ignore[call-overload]  # options of run


def tune(folder: Path, source: str, **options: object) -> Result:
    project = folder / "project"
    project.mkdir()
    (project / "main.c").write_text(source)
    build = ("sh", "-ec", "$CC -O2 -c main.c && $CC -O2 main.o -o main")
    request = Request(build, project, folder / "out", recipe=True, **options)  # type: ignore[arg-type]  # as given
    (result,) = TuningJob(request, LlvmTuner()).run()
    return result


def test_pasted_commands_make_the_same_bytes_as_tune(tmp_path: Path) -> None:
    result = tune(tmp_path, PROGRAM, run="./main; :")
    assert result.found.plan.decisions() == recipe_named("small").plan.decisions()
    assert result.sizes["tuned"]["text"] < result.sizes[FAIR]["text"]
    line = f"{shlex.join(words())} main.c -o pasted"
    run("sh", "-ec", line, cwd=tmp_path / "project")
    tuned = (tmp_path / "out" / "bin" / "main").read_bytes()
    assert (tmp_path / "project" / "pasted").read_bytes() == tuned
    run("sh", tmp_path / "out" / "reproduce.sh", tmp_path / "out" / "work" / "tree", tmp_path / "r")
    assert (tmp_path / "r" / "main").read_bytes() == tuned
    (plan,) = read_plan(tmp_path / "out" / "tuned.toml").binaries
    assert plan.passes == "default<Oz>"
    assert plan.options == recipe_named("small").plan.options


def test_a_program_that_it_makes_no_smaller_is_the_fair_rival(tmp_path: Path) -> None:
    result = tune(tmp_path, EMPTY)
    assert result.found.path.read_bytes() == result.found.rivals[FAIR].read_bytes()
    assert "the recipe does not make main smaller" in " ".join(result.found.notes)
    assert recipe_named("small").plan.options.keys().isdisjoint(result.found.plan.options)


def test_without_a_recipe_for_the_goal_nothing_is_built(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no recipe for the goal speed with llvm"):
        tune(tmp_path, PROGRAM, goal="speed", run="./main; :")
    assert not (tmp_path / "out" / "work" / "tree").exists()


def test_exceptions_jumps_and_threads_do_what_they_did(tmp_path: Path) -> None:
    answers: list[bytes] = []
    for name, command in (("plain", ["clang++-22", "-O1"]), ("recipe", words("clang++-22"))):
        run(*command, THROWING, "-pthread", "-o", tmp_path / name)
        answers.append(run(tmp_path / name))
    assert answers[0] == answers[1]
    assert b"six of seven" in answers[0]
    assert measure_sizes(tmp_path / "recipe").text < measure_sizes(tmp_path / "plain").text


def test_a_function_of_a_shared_library_can_be_replaced(tmp_path: Path) -> None:
    for name, text in (("work", LIBRARY), ("user", USER), ("other", OTHER_HOOK)):
        (tmp_path / f"{name}.c").write_text(text)
    library, program, other = tmp_path / "libwork.so", tmp_path / "user", tmp_path / "other.so"
    run(*words(), "-fPIC", "-shared", tmp_path / "work.c", "-o", library)
    run("clang-22", tmp_path / "user.c", library, "-o", program)
    run("clang-22", "-O2", "-fPIC", "-shared", tmp_path / "other.c", "-o", other)
    assert run(program) == b"-100\n"
    assert run("env", f"LD_PRELOAD={other}", program) == b"-100\n"
