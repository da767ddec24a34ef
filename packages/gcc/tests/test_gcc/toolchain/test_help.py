# SPDX-License-Identifier: MIT
"""Options are read from what GCC prints, in the layouts of its versions."""

import pytest

from compiler_gym_gcc import (
    GccFlagAlignOption,
    GccFlagEnumOption,
    GccFlagIntOption,
    GccFlagOption,
    GccOOption,
    GccParamEnumOption,
    GccParamIntOption,
)
from compiler_gym_gcc.toolchain.help import (
    MOST,
    list_refused_settings,
    read_optimizers,
    read_params,
    without_refused,
)

OPTIMIZERS = """\
The following options control optimizations:
  -O<number>                  Set optimization level to <number>.
  -Ofast                      Optimize for speed disregarding exact standards
                              compliance.
  -Og                         Optimize for debugging experience rather than
                              speed or size.
  -Os                         Optimize for space rather than speed.
  -falign-functions           Align the start of functions.
  -falign-functions=          This option lacks documentation.
  -fauto-profile              Use sample profile information for call graph
                              node weights.
  -fgcse                      Perform global common subexpression elimination.
  -fhandle-exceptions         This switch is deprecated; use -fexceptions
                              instead.
  -fira-algorithm=[CB|priority] Set the used IRA algorithm.
  -flifetime-dse=<0,2>        This option lacks documentation.
  -fpack-struct=<number>      Set initial maximum structure member alignment.
  -fsched-stalled-insns=<number> Set number of queued insns that can be
                              prematurely scheduled.
  -fno-threadsafe-statics     Do not generate thread-safe code.
  -fpatchable-function-entry= Insert NOP instructions at each function entry.
"""
VALUES = """\
The following options control optimizations:
  -O<number>                  \t\t
  -fgcse                      \t\t[disabled]
  -flifetime-dse=<0,2>        \t\t2
  -fsched-stalled-insns=<number> \t
"""
OLD_OPTIMIZERS = """\
The following options control optimizations:
  -ffp-contract=              -ffp-contract=[off|on|fast] Perform floating-
                              point expression contraction.
  -flifetime-dse=             This option lacks documentation.
  -fmin-function-alignment=   Align the start of every function.
  -ftree-parallelize-loops=   Enable automatic parallelization of loops
  Specifies the cost model for vectorization. -fvect-cost-model=[unlimited|dynamic|cheap] Specifies
                              the cost model for vectorization.
  -fauto-profile=             Use sample profile information.
  -fauto-profile-inlining     Perform inlining using auto-profile.
"""
OLD_OPTIMIZER_VALUES = """\
The following options control optimizations:
  -ffp-contract=              \t\tfast
  -flifetime-dse=             \t\t2
  -fmin-function-alignment=   \t\t0
  -ftree-parallelize-loops=   \t\t0x1
"""
MODERN_PARAMS = """\
The following options control parameters:
  --param=align-threshold=<1,65536> Select fraction of the maximal frequency of
                              executions of basic block in function given basic
                              block get alignment.
  --param=logical-op-non-short-circuit=<0,1> True if a non-short-circuit
                              operation is optimal.
  --param=jump-threads=<-1,8> A range that starts below 0.
  --param=max-gcse-memory=    The maximum amount of memory.
  --param=parloops-schedule=[static|dynamic] Schedule type.
  --param=vrp1-mode=          Which mode.
"""
MODERN_VALUES = """\
The following options control parameters:
  --param=align-threshold=<1,65536> \t\t100
  --param=logical-op-non-short-circuit=<0,1> \t-1
  --param=jump-threads=<-1,8> \t-1
  --param=max-gcse-memory=    \t\t134217728
  --param=parloops-schedule=[static|dynamic] \tstatic
  --param=vrp1-mode=          \t\tvrp
"""
# GCC 5 to 9: names alone, and a sentence that may go on in the next line.
OLD_PARAMS = """\
The --param option recognizes the following as parameters:
  predictable-branch-outcome  Maximal estimated outcome of branch considered
                              predictable.
  max-inline-insns-recursive-auto The maximum number of instructions.
"""
OLD_VALUES = """\
The --param option recognizes the following as parameters:
  predictable-branch-outcome  default 2 minimum 0 maximum 50
  inline-min-speedup          default 10 minimum 0 maximum 0
  max-inline-insns-recursive-auto default 450 minimum 0
                              maximum 0
  logical-op-non-short-circuit default -1 minimum -1 maximum 1
  sched-state-edge-prob-cutoff default 10 minimum 5 maximum 100
  parloops-schedule           default static
"""
KNOWN_ARGUMENTS = """\
The following options control optimizations:
  -fvect-cost-model=          Specifies the cost model.

  Known valid arguments for -fvect-cost-model= option:
    cheap dynamic unlimited
"""


def test_levels_flags_and_their_values_are_read() -> None:
    assert read_optimizers(OPTIMIZERS, VALUES) == [
        GccOOption(("0", "1", "2", "3", "fast", "g", "s")),
        GccFlagAlignOption("-falign-functions"),
        GccFlagOption("-fgcse"),
        GccFlagEnumOption("-fira-algorithm=", ("CB", "priority")),
        GccFlagIntOption("-flifetime-dse=", 0, 2, 2),
        GccFlagEnumOption("-fpack-struct=", ("1", "2", "4", "8", "16")),
        GccFlagIntOption("-fsched-stalled-insns=", 0, MOST),
        GccFlagOption("-fno-threadsafe-statics"),
        GccFlagEnumOption("-fpatchable-function-entry=", ("?",)),  # the compiler is to be asked
    ]


def test_flags_of_gcc_5_to_8_whose_values_are_not_next_to_their_names_are_read() -> None:
    assert read_optimizers(OLD_OPTIMIZERS, OLD_OPTIMIZER_VALUES) == [
        GccFlagEnumOption("-ffp-contract=", ("?",)),
        GccFlagIntOption("-flifetime-dse=", 0, 2, 2),
        GccFlagEnumOption("-fmin-function-alignment=", ("1", "2", "4", "8", "16", "32", "64")),
        GccFlagIntOption("-ftree-parallelize-loops=", 0, MOST, 1),
        GccFlagEnumOption("-fvect-cost-model=", ("unlimited", "dynamic", "cheap")),
        GccFlagOption("-fauto-profile-inlining"),
    ]


def test_parameters_of_gcc_10_and_newer_are_read() -> None:
    assert read_params(MODERN_PARAMS, MODERN_VALUES) == [
        GccParamIntOption("--param=align-threshold=", 1, 65536, 100),
        GccParamIntOption("--param=logical-op-non-short-circuit=", 0, 1, -1),
        GccParamIntOption("--param=jump-threads=", 0, 8, -1),
        GccParamIntOption("--param=max-gcse-memory=", 0, MOST, 134217728),
        GccParamEnumOption("--param=parloops-schedule=", ("static", "dynamic")),
        GccParamIntOption("--param=vrp1-mode=", 0, MOST),
    ]


def test_parameters_of_gcc_5_to_9_are_read() -> None:
    assert read_params(OLD_PARAMS, OLD_VALUES) == [
        GccParamIntOption("--param=predictable-branch-outcome=", 0, 50, 2),
        GccParamIntOption("--param=inline-min-speedup=", 0, MOST, 10),
        GccParamIntOption("--param=max-inline-insns-recursive-auto=", 0, MOST, 450),
        GccParamIntOption("--param=logical-op-non-short-circuit=", 0, 1, -1),
        GccParamIntOption("--param=sched-state-edge-prob-cutoff=", 5, 100, 10),
    ]


def test_words_that_are_listed_apart_are_read() -> None:
    assert read_optimizers(KNOWN_ARGUMENTS) == [
        GccFlagEnumOption("-fvect-cost-model=", ("cheap", "dynamic", "unlimited"))
    ]


def test_a_switch_that_is_listed_with_its_opposite_is_one_option() -> None:
    listed = "  -finline-stringops          Text.\n  -fno-inline-stringops       Text.\n"
    assert read_optimizers(listed) == [GccFlagOption("-finline-stringops")]


@pytest.mark.parametrize("text", ["", "\n\n", "Usage: gcc\n", "  \n  - \n"])
def test_no_help_has_no_options(text: str) -> None:
    assert read_optimizers(text, text) == []
    assert read_params(text, text) == []


def test_refused_options_are_left_out() -> None:
    options = [
        GccFlagOption("-fstack-protector-all"),
        GccFlagOption("-fgone"),
        GccParamIntOption("--param=vrp1-mode=", 0, MOST),
        GccFlagEnumOption("-fx=", ("a", "b")),
        GccFlagEnumOption("-fira-region=", ("?",)),
        GccFlagEnumOption("-fpatchable-function-entry=", ("?",)),
        GccFlagOption("-fgcse"),
    ]
    words = list_refused_settings(options)
    assert {"-fno-stack-protector-all", "--param=vrp1-mode=0", "-fx=b"} <= set(words)
    errors = "\n".join(
        (
            "gcc: error: unrecognized command-line option '-fno-stack-protector-all'; did you",
            "gcc: error: unrecognized command line option '-fgone'",
            "gcc: error: unrecognized command line option '-fno-gone'",
            "gcc: error: unknown vrp mode '0'",
            "gcc: note: valid arguments to '--param=vrp1-mode=' are: ranger vrp; did you mean",
            "gcc: error: unrecognized command-line option '-fx=a'",
            "gcc: error: unknown IRA region '?'",
            "gcc: note: valid arguments to '-fira-region=' are: all mixed one",
        )
    )
    assert without_refused(options, errors) == [
        GccFlagOption("-fstack-protector-all", no_fno=True),
        GccParamEnumOption("--param=vrp1-mode=", ("ranger", "vrp")),
        GccFlagEnumOption("-fx=", ("b",)),
        GccFlagEnumOption("-fira-region=", ("all", "mixed", "one")),
        GccFlagOption("-fgcse"),
    ]
