# SPDX-License-Identifier: MIT
"""A whole tuning for size: smaller, the same behaviour, the same bytes by other roads."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import (
    JOURNAL,
    BinaryPlan,
    Request,
    Result,
    TuningJob,
    list_sources,
    read_plan,
    recipe_named,
)
from compiler_gym.tools.tune.llvm.flags import PROGRAM
from compiler_gym.tools.tune.llvm.llvm_tuner import FAIR, LlvmTuner
from compiler_gym.tools.tune.llvm.program import make_whole
from tests.effort import examples
from tests.tools.tune.llvm.conftest import BUILD, needs_lld

pytestmark = needs_lld


def tune(project: Path, output: Path, **options: object) -> Result:
    request = Request(
        ("sh", "-ec", BUILD), project, output, seconds=None, compilations=examples(60), jobs=2,
        run="./numbers",
    )  # fmt: skip
    (result,) = TuningJob(replace(request, **options), LlvmTuner()).run()
    return result


@pytest.fixture(scope="module")
def tuned(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return tune(project, tmp_path_factory.mktemp("tuned") / "out")


@pytest.fixture(scope="module")
def output(tuned: Result) -> Path:
    return next(path for path in tuned.found.path.parents if path.name == "out")


def test_it_is_smaller_than_every_rival_and_does_the_same(tuned: Result, output: Path) -> None:
    text = {name: sizes["loaded"] for name, sizes in tuned.sizes.items()}
    assert text["tuned"] < text[FAIR] <= text["clang -Oz"]
    original = output / "work" / "tree" / "numbers"
    ran = [subprocess.run([path], capture_output=True, check=True).stdout
           for path in (original, output / "bin" / "numbers")]  # fmt: skip
    assert ran[0] == ran[1]


def test_llvms_own_tools_make_the_same_bytes(tuned: Result, output: Path, tmp_path: Path) -> None:
    script = ["sh", output / "reproduce.sh", output / "work" / "tree", tmp_path]
    subprocess.run(script, check=True)
    assert sys.prefix not in (output / "reproduce.sh").read_text()
    assert (tmp_path / "numbers").read_bytes() == (output / "bin" / "numbers").read_bytes()


def test_the_normal_build_makes_the_same_bytes(
    tuned: Result, output: Path, project: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    subprocess.run(["cp", "-r", project, tree], check=True)
    cc = f"compiler-gym cc --plan {output / 'tuned.toml'}"
    done = subprocess.run(
        ["sh", "-ec", BUILD.replace("$CC", cc)], cwd=tree, check=True, capture_output=True
    )
    assert b"compiler-gym cc" not in done.stderr
    assert (tree / "numbers").read_bytes() == (output / "bin" / "numbers").read_bytes()


@pytest.mark.slow
def test_the_same_compilations_give_the_same_plan(
    tuned: Result, output: Path, project: Path, tmp_path: Path
) -> None:
    again = tune(project, tmp_path / "out", jobs=1)
    assert again.found.plan == tuned.found.plan
    one, two = (read_plan(path / "tuned.toml") for path in (output, tmp_path / "out"))
    assert one == two


def test_the_first_try_has_the_options_of_the_recipe(tuned: Result, output: Path) -> None:
    (journal,) = output.rglob(JOURNAL)
    first = json.loads(journal.read_text().splitlines()[0])["actions"]
    recipe = LlvmTuner().actions(recipe_named("small").plan)
    assert {action for action in recipe if "=" in action} <= set(first)


def test_tried_candidates_are_not_tried_again(tuned: Result, output: Path, project: Path) -> None:
    journal = next((output / "work").rglob("tried.jsonl"))
    before = journal.read_bytes()
    result = tune(project, output, resume=True, compilations=0)
    assert journal.read_bytes() == before
    assert result.found.plan == tuned.found.plan


def test_a_plan_without_its_decisions_is_the_default(tuned: Result, tmp_path: Path) -> None:
    bare = tuned.found.plan.only(())
    path = LlvmTuner().build(tuned.binary, bare, tmp_path, jobs=1)
    assert measure_sizes(path).loaded >= tuned.sizes["tuned"]["loaded"]
    subprocess.run([path], check=True, capture_output=True)


def test_flags_that_cannot_be_honoured_are_named(project: Path, tmp_path: Path) -> None:
    build = ("sh", "-ec", BUILD.replace("-O2", "-O2 -fsanitize=undefined"))
    with pytest.raises(ProjectError, match=r"-fsanitize=undefined, which a plan does not support"):
        tune(project, tmp_path / "out", build=build)


def test_a_program_that_lists_itself_in_a_section_is_tuned(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "list.c").write_text(
        """
        #include <stdio.h>
        typedef const char *name;
        extern name __start_names[], __stop_names[];
        #define LISTED(text) \\
          static name text __attribute__((section("names"), used)) = #text;
        LISTED(one) LISTED(two)
        int main(void) {
          for (name *at = __start_names; at < __stop_names; at++) puts(*at);
          return 0;
        }
        """
    )
    build = ("sh", "-ec", "$CC -O1 list.c -o list")
    result = tune(tree, tmp_path / "out", build=build, run="./list", compilations=examples(8))
    said = subprocess.run([tmp_path / "out" / "bin" / "list"], capture_output=True, check=True)
    assert sorted(said.stdout.split()) == [b"one", b"two"]
    assert result.taken_back == ()


def test_no_passes_are_another_plan_than_the_default(
    tuned: Result, output: Path, tmp_path: Path
) -> None:
    tuner, whole = LlvmTuner(), make_whole(tuned.binary, tuned.found.path, jobs=1)
    sources = list_sources(tuned.binary, whole.units)
    default = BinaryPlan(tuned.binary.name, PROGRAM, sources=sources)
    none = tuner.with_steps(default, ())
    made = tuner.build(tuned.binary, none, tmp_path / "none", jobs=1)
    assert measure_sizes(made).text > measure_sizes(
        tuner.build(tuned.binary, default, tmp_path / "default", jobs=1)
    ).text  # fmt: skip
    script = tmp_path / "script.sh"
    tree = output / "work" / "tree"
    script.write_text(
        f"set -e\nPLAIN=\nROOT={tree}\nOUT={tmp_path}\n{tuner.script(tuned.binary, none)}"
    )
    subprocess.run(["sh", script], check=True)
    assert (tmp_path / "numbers").read_bytes() == made.read_bytes()


def test_the_passes_of_a_plan_are_taken_apart_and_put_together(tuned: Result) -> None:
    tuner = LlvmTuner()
    passes = "function(gvn),invalidate<all>,globaldce"
    plan = BinaryPlan(tuned.binary.name, PROGRAM, passes=passes)
    steps = tuner.steps(plan)
    assert steps == ("function(gvn)", "globaldce")
    assert tuner.with_steps(plan, steps) == plan


def test_a_decision_that_a_program_sees_in_its_own_file_is_taken_back(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "self.c").write_text(
        """
        #include <stdio.h>
        static char bytes[1 << 20];
        int main(void) {
          FILE *file = fopen("/proc/self/exe", "rb");
          size_t count = fread(bytes, 1, sizeof bytes, file);
          for (size_t i = 0; i + 12 < count; i++) {  /* the note with the number of the build */
            volatile char *at = bytes + i;
            if (at[0] == 3 && !at[1] && at[4] == 'G' && at[5] == 'N' && at[6] == 'U' && !at[7])
              return puts("mine") < 0;
          }
          return 1;
        }
        """
    )
    build = ("sh", "-ec", "$CC -O1 self.c -o self")
    result = tune(tree, tmp_path / "out", build=build, run="./self", compilations=examples(40))
    assert result.taken_back == ("linker -Wl,--build-id=none",)
    said = subprocess.run([tmp_path / "out" / "bin" / "self"], capture_output=True, check=True)
    assert said.stdout == b"mine\n"


@pytest.mark.slow
def test_a_search_that_starts_from_its_own_plan_keeps_it(
    tuned: Result, output: Path, project: Path, tmp_path: Path
) -> None:
    again = tune(project, tmp_path / "out", compilations=8, start=output / "tuned.toml")
    assert again.sizes["tuned"]["loaded"] <= tuned.sizes["tuned"]["loaded"]
    assert again.found.first == tuned.sizes["tuned"]["loaded"]


def test_unwind_tables_are_removed_only_on_request(tmp_path: Path) -> None:
    plain = tmp_path / "c"
    plain.mkdir()
    (plain / "main.c").write_text("int main(int n, char **words) { return n > 9; }\n")
    build = ("sh", "-ec", "$CC main.c -o main")
    for asks in (False, True):
        result = tune(
            plain, tmp_path / f"out-{asks}", build=build, run="./main", compilations=examples(30),
            no_unwind_tables=asks,
        )  # fmt: skip
        assert ("-fno-asynchronous-unwind-tables" in result.found.plan.flags) == asks
    tree = tmp_path / "cxx"
    tree.mkdir()
    (tree / "main.cpp").write_text("int main() { throw 1; }\n")
    build = ("sh", "-ec", "$CXX main.cpp -o main")
    with pytest.raises(ProjectError, match="exceptions need unwind tables"):
        tune(tree, tmp_path / "cxx-out", build=build, run=None, no_unwind_tables=True)


def test_link_time_optimisation_of_the_build_is_left_to_the_plan(
    project: Path, tmp_path: Path
) -> None:
    build = ("sh", "-ec", "$CC -O2 -flto -c sort.c && $CC -O2 -flto -fuse-ld=lld main.c sort.o "
             "-o numbers")  # fmt: skip
    result = tune(project, tmp_path / "out", build=build, compilations=examples(8))
    assert result.sizes["tuned"]["loaded"] <= result.sizes[FAIR]["loaded"]
