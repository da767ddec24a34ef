# SPDX-License-Identifier: MIT
"""Options of the code generator: against llc, and that a choice of one module is of no other."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions.codegen_options import DEFAULT, OPTIONS, llc_words
from compiler_gym.errors import CompilerDiagnosticError, ObservationError, PipelineError
from tests.effort import examples

from .conftest import need

CHOICES = st.dictionaries(st.sampled_from(OPTIONS), st.integers(1, 8), max_size=6)
ONE_AT_A_TIME = [(o.name, value) for o in OPTIONS for value in o.values if value != DEFAULT]
MAIN = 'target triple = "x86_64-unknown-linux-gnu"\ndefine i32 @main() {\n ret i32 0\n}\n'
BASIC = {"regalloc": "basic", "disable-lsr": "true"}
Llc = Callable[[bytes, dict[str, str]], bytes]


def choose(module: _llvm.Module, chosen: dict[str, str]) -> bool:
    return module.run(f"codegen<{';'.join(f'{n}={v}' for n, v in chosen.items())}>")


@pytest.fixture(scope="module")
def optimised(corpus: dict[str, bytes]) -> dict[str, bytes]:
    made = {name: _llvm.Module(data) for name, data in corpus.items()}
    for module in made.values():
        module.apply_level("Oz")
    return {name: module.bitcode() for name, module in made.items()}


@pytest.fixture(scope="module")
def llc(tmp_path_factory: pytest.TempPathFactory) -> Llc:
    """Return a function from bitcode and options to the object that llc makes."""
    folder = tmp_path_factory.mktemp("llc")

    def make(bitcode: bytes, chosen: dict[str, str]) -> bytes:
        source, target = folder / "in.bc", folder / "out.o"
        source.write_bytes(bitcode)
        command = [need("llc-22"), "-filetype=obj", *llc_words(chosen), str(source)]
        subprocess.run([*command, "-o", str(target)], check=True, capture_output=True)
        return target.read_bytes()

    return make


def test_every_value_gives_the_object_of_llc(optimised: dict[str, bytes], llc: Llc):
    data = optimised["records"]
    for name, value in ONE_AT_A_TIME:
        module = _llvm.Module(data)
        choose(module, {name: value})
        assert module.object_code() == llc(data, {name: value}), (name, value)


@settings(max_examples=examples(25))
@given(data=st.data())
def test_random_choices_give_the_object_of_llc(
    optimised: dict[str, bytes], llc: Llc, data: st.DataObject
):
    name = data.draw(st.sampled_from(sorted(optimised)))
    picked = data.draw(CHOICES)
    chosen = {o.name: o.values[(n - 1) % (len(o.values) - 1) + 1] for o, n in picked.items()}
    module = _llvm.Module(optimised[name])
    if chosen:
        choose(module, chosen)
    try:
        expected = llc(optimised[name], chosen)
    except subprocess.CalledProcessError:
        assume(False)  # llc gives up on some of them together
    assert module.object_code() == expected


def test_choices_of_one_module_do_not_affect_others(optimised: dict[str, bytes]):
    plain = {name: _llvm.Module(data) for name, data in optimised.items()}
    expected = {name: module.object_code() for name, module in plain.items()}
    name, *_ = optimised
    other = _llvm.Module(optimised[name])
    for option, value in ONE_AT_A_TIME:
        choose(other, {option: value})
        other.object_code()
        assert plain[name].object_code() == expected[name], option
        other.run(f"codegen<{option}=default>")
    assert {name: module.object_code() for name, module in plain.items()} == expected
    assert other.bitcode() == plain[name].bitcode()


def test_a_choice_does_not_reach_passes(optimised: dict[str, bytes]):
    plain, chosen = (_llvm.Module(optimised["records"]) for _ in range(2))
    choose(chosen, {"disable-lsr": "true", "min-jump-table-entries": "1000"})
    for module in (plain, chosen):
        module.run("function(loop(loop-reduce)),function(simplifycfg)")
    chosen.run("codegen<reset>")
    assert chosen.bitcode() == plain.bitcode()


def test_options_are_put_back_when_making_code_fails():
    wrong = _llvm.Module(MAIN.replace("ret", 'call void asm "no such", ""()\n ret').encode())
    plain = _llvm.Module(MAIN.encode())
    before = plain.object_code()
    choose(wrong, {"align-all-functions": "5"} | BASIC)
    with pytest.raises(CompilerDiagnosticError, match="invalid instruction"):
        wrong.object_code()
    assert plain.object_code() == before


def test_the_first_code_of_a_process_may_be_with_options(
    optimised: dict[str, bytes], tmp_path: Path
):
    """LLVM keeps the first register allocator that it was asked for."""
    source = tmp_path / "program.bc"
    source.write_bytes(optimised["records"])
    text = """if True:
        import sys
        from pathlib import Path
        from compiler_gym import _llvm
        data = Path(sys.argv[1]).read_bytes()
        first = _llvm.Module(data)
        first.run("codegen<regalloc=basic>")
        sys.stdout.buffer.write(first.object_code() * 0 + _llvm.Module(data).object_code())
    """
    command = [sys.executable, "-c", text, str(source)]
    done = subprocess.run(command, check=True, capture_output=True)
    assert done.stdout == _llvm.Module(optimised["records"]).object_code()


def test_threads_do_not_see_the_choices_of_each_other(optimised: dict[str, bytes]):
    data = optimised["records"]
    modules = [_llvm.Module(data), _llvm.Module(data)]
    choose(modules[1], BASIC)
    expected = [module.object_code() for module in modules]
    assert expected[0] != expected[1]
    differs: list[int] = []

    def make(at: int) -> None:
        for _ in range(20):
            if modules[at].object_code() != expected[at]:
                differs.append(at)

    threads = [threading.Thread(target=make, args=(at,)) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not differs


def test_a_choice_is_in_the_ir_and_the_default_leaves_no_trace(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["records"])
    before = module.bitcode(), module.ir_hash(), module.text()
    assert not module.run("codegen<regalloc=default>")
    assert (module.bitcode(), module.ir_hash(), module.text()) == before
    assert choose(module, BASIC)
    assert not choose(module, BASIC)
    assert module.chosen_options() == BASIC
    assert module.ir_hash() != before[1]
    assert '!{!"disable-lsr=true", !"regalloc=basic"}' in module.text()
    for copy in (_llvm.Module(module.bitcode()), _llvm.Module(module.text().encode())):
        assert copy.chosen_options() == BASIC
        assert copy.object_code() == module.object_code()
    assert module.run("codegen<reset>")
    assert (module.bitcode(), module.ir_hash(), module.text()) == before


def test_the_order_of_choices_does_not_count(corpus: dict[str, bytes]):
    one, other = (_llvm.Module(corpus["records"]) for _ in range(2))
    for name, value in BASIC.items():
        choose(one, {name: value})
    for name, value in reversed(BASIC.items()):
        choose(other, {name: value})
    assert one.ir_hash() == other.ir_hash()
    assert one.bitcode() == other.bitcode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("codegen<regalloc=slow>", "'slow' is not a value of -regalloc: use one of default"),
        ("codegen<stats=true>", "'stats' is not a supported option of the code generator"),
        ("codegen<no-such=default>", "'no-such' is not a supported option"),
        ("codegen<>", "'' is not a supported option"),
        ("globaldce,codegen<regalloc>", "'' is not a value of -regalloc"),
    ],
)
def test_an_unavailable_choice_is_refused_and_changes_nothing(
    corpus: dict[str, bytes], text: str, message: str
):
    module = _llvm.Module(corpus["records"])
    before = module.bitcode()
    with pytest.raises(PipelineError, match=message):
        module.run(text)
    assert module.bitcode() == before


@pytest.mark.parametrize("text", ['!{!"stats=true"}', "!{i32 1}", '!{!"regalloc=slow"}'])
def test_a_module_that_names_another_option_gets_no_code(text: str):
    module = _llvm.Module(f"{MAIN}!compiler_gym.codegen = !{{!0}}\n!0 = {text}\n".encode())
    with pytest.raises(ObservationError, match=r"compiler_gym\.codegen"):
        module.object_code()


def test_a_level_of_clang_has_no_choices(optimised: dict[str, bytes]):
    module = _llvm.Module(optimised["records"])
    choose(module, BASIC)
    module.apply_level("Oz")
    assert module.chosen_options() == {}
