# SPDX-License-Identifier: MIT
"""What is compiled is, for every command line, what bare GCC makes of the program itself."""

import random
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from compiler_gym.errors import CompilerDiagnosticError, CompilerError
from compiler_gym_gcc import GccEnv, make_benchmark_from_source
from compiler_gym_gcc.programs.source import unpack

from ..conftest import needed

Make = Callable[..., GccEnv]
TELLTALE = ("-ffast-math", "-fmath-errno", "-finline", "-fexceptions", "-fstack-protector")
"""Options with macros, which random command lines should have more often than others."""


def everything_predefined(gcc_bin: str, language: str = "c") -> str:
    """Return a program that spells out every macro which the compiler predefines somewhere."""
    names: set[str] = set()
    for words in ("-O0", "-Os", "-Ofast -fsignaling-nans", "-O2 -fexceptions -fno-rtti"):
        command = [gcc_bin, *words.split(), "-dM", "-E", "-x", language, "/dev/null"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names |= {line.split()[1] for line in text.splitlines()}
    rows = [f'#ifdef {n}\n"{n}=" S({n}),\n#endif\n' for n in sorted(names) if "(" not in n]
    head = "#define T(x) #x\n#define S(x) T(x)\nextern const char *const all[];\n"
    return f"{head}const char *const all[] = {{\n{''.join(rows)}0}};\n"


def random_choices(env: GccEnv, generator: random.Random) -> list[int]:
    rate = generator.choice([0.01, 0.03, 0.06])
    options = env.gcc_spec.options
    choices = [
        generator.choice(option.candidates())
        if generator.random() < (0.2 if option.name in TELLTALE else rate)
        else -1
        for option in options
    ]
    choices[0] = generator.randrange(-1, len(options[0]))
    return choices


def bare(env: GccEnv, choices: Sequence[int], folder: Path) -> bytes | None:
    """Return what GCC makes of the program that was given; None if it refuses."""
    assert env.benchmark is not None
    program = unpack(env.benchmark.contents)
    for name, text in program.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    words = [env.gcc_spec.options[at][index] for at, index in enumerate(choices) if index >= 0]
    command = [env.gcc_bin, *words, "-w", *program.flags, "-c", *program.units]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    if done.returncode:
        return None
    objects = [f"{Path(unit).stem}.o" for unit in program.units]
    if len(objects) == 1:
        return (folder / objects[0]).read_bytes()
    # What several units become is theirs, linked without anything else.
    together = [env.gcc_bin, "-r", "-nostdlib", "-o", "bare.o", *objects]
    subprocess.run(together, cwd=folder, check=True)
    return (folder / "bare.o").read_bytes()


def check_random_command_lines(env: GccEnv, count: int, folder: Path) -> None:
    generator = random.Random(0)
    compiled = 0
    for _ in range(count):
        env.reset()
        choices = random_choices(env, generator)
        wanted = bare(env, choices, folder)
        env.choices = choices
        if wanted is None:
            with pytest.raises(CompilerError, match=r"\w"):
                env.observation["obj"]
        else:
            assert env.obj == wanted, env.command_line
            assert env.obj_size == len(wanted)
            compiled += 1
    assert compiled > count / 2


@pytest.mark.parametrize("name", ["gcc-11", "gcc-12", "avr-gcc"])
def test_no_macro_is_other_than_bare_gcc_has_it(name: str, make_env: Make, tmp_path: Path) -> None:
    program = make_benchmark_from_source(everything_predefined(needed(name)))
    check_random_command_lines(make_env(gcc_bin=name, benchmark=program), 12, tmp_path)


def test_no_macro_of_cxx_is_other_than_bare_gcc_has_it(make_env: Make, tmp_path: Path) -> None:
    text = everything_predefined(needed("gcc-12"), "c++")
    program = make_benchmark_from_source(text, lang="c++")
    check_random_command_lines(make_env(benchmark=program), 8, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1500)  # some random command lines take several seconds on a program
@pytest.mark.parametrize("program", ["qsort", "crc32", "stringsearch2"])
def test_objects_of_random_command_lines_are_bare_gcc_s(
    program: str, gcc_bin: str, make_env: Make, tmp_path: Path
) -> None:
    env = make_env(gcc_bin=gcc_bin, benchmark=f"cbench-v1/{program}")
    check_random_command_lines(env, 40, tmp_path)


@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os", "-Ofast"])
def test_a_level_gives_the_object_that_it_gives_the_file(
    level: str, gcc_bin: str, make_env: Make, tmp_path: Path
) -> None:
    env = make_env(gcc_bin=gcc_bin, benchmark="cbench-v1/qsort")
    env.reset()
    env.step(env.action_space[level])
    assert env.obj == bare(env, env.choices, tmp_path)


@pytest.mark.parametrize("size", ["con", "de"])
def test_a_macro_that_no_preprocessor_follows_is_right(
    size: str, make_env: Make, tmp_path: Path
) -> None:
    text = "int x = __GCC_DESTRUCTIVE_SIZE, y = __GCC_CONSTRUCTIVE_SIZE;\n"
    env = make_env(benchmark=make_benchmark_from_source(text))
    env.reset()
    plain = env.obj
    option = f"--param={size}structive-interference-size="
    choices = env.choices
    at = next(n for n, o in enumerate(env.gcc_spec.options) if o.name == option)
    choices[at] = env.gcc_spec.options[at].index(f"{option}128")
    env.choices = choices
    assert plain != env.obj == bare(env, choices, tmp_path)


def test_a_program_that_changes_its_own_options_is_compiled_as_it_is(
    make_env: Make, tmp_path: Path
) -> None:
    text = '#pragma GCC optimize("O2")\n#ifdef __OPTIMIZE__\nint on;\n#else\nint off;\n#endif\n'
    env = make_env(benchmark=make_benchmark_from_source(text))
    env.reset()
    for level in ("-O0", "-Os"):
        env.step(env.action_space[level])
        assert env.obj == bare(env, env.choices, tmp_path)
        assert "on:" in env.asm


def test_a_program_may_refuse_some_options(make_env: Make) -> None:
    text = "#ifdef __FAST_MATH__\n#error no fast math\n#endif\nint x;\n"
    env = make_env(benchmark=make_benchmark_from_source(text))
    env.reset()
    *_, truncated, info = env.step(env.action_space["-ffast-math"], observation_spaces=["obj_size"])
    assert truncated
    assert isinstance(info["error"], CompilerDiagnosticError)
    assert "no fast math" in info["error_details"]


def test_the_source_is_that_of_the_command_line(make_env: Make, tmp_path: Path) -> None:
    text = "#ifdef __OPTIMIZE_SIZE__\nint small;\n#else\nint large;\n#endif\n"
    env = make_env(benchmark=make_benchmark_from_source(text))
    env.reset()
    assert "int large;" in env.source
    env.step(env.action_space["-Os"])
    assert "int small;" in env.source
    (tmp_path / "src.i").write_text(env.source)
    subprocess.run(shlex.split(env.command_line), cwd=tmp_path, check=True)
    assert (tmp_path / "obj.o").read_bytes() == env.obj


def test_nothing_is_preprocessed_or_asked_twice(make_env: Make, tmp_path: Path) -> None:
    log, wrapper = tmp_path / "log", tmp_path / "gcc"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec gcc-12 "$@"\n')
    wrapper.chmod(0o755)
    text = f"/* {tmp_path} */ int x;\n"  # seen by no other test
    for _ in range(2):
        with make_env(gcc_bin=str(wrapper), benchmark=make_benchmark_from_source(text)) as env:
            env.reset()
            for name in ("-O2", "-fgcse", "-fno-gcse", "-Os", "-O2", "-fno-inline", "-finline"):
                env.step(env.action_space[name], observation_spaces=["obj_size"])
    runs = log.read_text().splitlines()
    preprocessed = [line for line in runs if " -E " in line and "-dM" not in line]
    assert 0 < len(preprocessed) == len(set(preprocessed)) <= 4
    compiled = [line for line in runs if " -c " in line and "-###" not in line]
    assert len(compiled) == len(set(compiled)) == 6
