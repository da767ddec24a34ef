"""LLVM 22 in process: one module, changed by pass pipelines."""

from collections.abc import Sequence
from typing import Any


LLVM_VERSION: str = '22.1.8'

OUT_OF_MEMORY_STATUS: int = 86

def start() -> None:
    """Register targets and error handlers now instead of at the first use."""

def machines() -> list[str]:
    """The machines with a code generator, x86_64 first."""

def machine_of(triple: str) -> str:
    """The machine of `machines()` for a triple; empty for none."""

def simulated_processor(machine: str) -> str:
    """The processor whose cycles are simulated for one of `machines()`."""

def exit_on_out_of_memory(enabled: bool) -> None:
    """
    End the process with OUT_OF_MEMORY_STATUS when memory runs out, or raise MemoryError.
    """

def autophase_names() -> list[str]:
    """The names of Module.autophase(), in order."""

def inst_count_names() -> list[str]:
    """The names of Module.inst_count(), in order."""

def function_shapes(module: Module) -> dict[str, Any]:
    """
    Functions without their names and constants.

    Columns, as bytes unless they are text:
    - names (str): the functions that have a body, in the module's order
    - shapes (int64): a hash of the function without names and constants: equal for near duplicates
    - instructions (int64): in its body, without debug instructions
    - is_odr (int8): whether each module that uses it has a copy, like a C++ inline function or template
    """

def function_table(module: Module) -> dict[str, Any]:
    """
    Features of each function that has a body.

    Columns, as bytes unless they are text:
    - names (str): the functions that have a body, in the module's order
    - features (int64): a row of function_feature_names() for each name
    """

def call_graph(module: Module) -> dict[str, Any]:
    """
    Functions and the calls between them.

    Columns, as bytes unless they are text:
    - names (str): every function, declarations included, in the module's order
    - is_defined (int8): whether it has a body
    - instructions (int64): in its body
    - indirect_calls (int32): its calls whose callee is unknown
    - caller (int32): for each edge, the index in names
    - callee (int32): for each edge, the index in names
    - calls (int32): number of calls of the edge
    """

def loop_forest(module: Module) -> dict[str, Any]:
    """
    Natural loops, outer before inner.

    Columns, as bytes unless they are text:
    - function (int32): the function's index in the module
    - parent (int32): the row of the enclosing loop; -1 at the top
    - depth (int32): 1 at the top
    - header (int32): the header's index in its function
    - blocks (int32): including inner loops
    - instructions (int64): including inner loops
    - exits (int32): successor blocks outside the loop
    - latches (int32): blocks that branch back to the header
    - trip_count (int64): proved by ScalarEvolution; 0 if unknown
    - is_simplified (int8): preheader, one latch, dedicated exits
    - is_rotated (int8): the latch may leave the loop
    """

def function_feature_names() -> list[str]:
    """The columns of function_table()."""

def call_frequencies(module: Module) -> list[tuple[bytes, float]]:
    """
    The estimated calls of each function with a body in one run of the program: (name, calls).
    """

class Inlining:
    """A level's pipeline on a module, whose inliner pauses at each call."""

    def __init__(self, module: Module, level: str) -> None:
        """
        Apply the attributes of a clang level, `O0` to `Oz`, and run its pipeline up to the
        first question. Until it is over, the module must not be changed in any other way.
        """

    def answer(self, answer: str) -> None:
        """
        Answer the question with `default` (LLVM's own choice), `inline` or `no-inline`, and
        continue to the next, or to the end of the pipeline.
        """

    @property
    def is_over(self) -> bool:
        """True if the pipeline has ended, so that there are no more questions."""

    def call_site(self) -> dict[str, Any]:
        """The call that the question is about, by column."""

    def features(self) -> bytes:
        """The 39 features of inline_feature_names() as little-endian int64."""

    @property
    def decisions(self) -> bytes:
        """A byte for each question so far: 1 to inline the call."""

    def limit_instructions(self, most: int) -> None:
        """
        Make `answer` raise `ModuleTooLargeError` if the module has more than `most`
        instructions; 0 sets no limit.
        """

def inline_feature_names() -> list[str]:
    """
    The features that LLVM offers a learned inliner, with its own choice last.
    """

class Ir2VecVocabulary:
    """A vocabulary of IR2Vec."""

    def __init__(self, path: str) -> None:
        """Read LLVM's JSON form, or raise `BenchmarkInitError`."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def symbolic(self, module: Module) -> dict[str, Any]:
        """
        Vectors of the functions, a row each, and their sum, as little-endian float64: the
        vector of an instruction combines its opcode, type and operands.
        """

    def flow_aware(self, module: Module) -> dict[str, Any]:
        """Like `symbolic`, but an operand has the vector of its definition."""

def link_modules(modules: Sequence[bytes]) -> bytes:
    """Link modules into one, or raise `BenchmarkInitError`."""

def split_functions(data: bytes) -> list[tuple[str, bytes]]:
    """
    One module for each defined function, as (name, bitcode), and one for the rest.
    """

def strip_noop_bitcasts(data: bytes) -> bytes:
    """The module without casts from a type to itself."""

MCA_PROCESSOR: str = 'skylake'

def object_instruction_count(module: Module) -> int:
    """
    The machine instructions of the module's object file, as `llvm-objdump -d` lists them.
    """

def code_size(data: bytes) -> int:
    """The bytes of machine code in an object file or a linked program."""

def machine_blocks(module: Module) -> list[tuple[bytes, int, int, int, float, float]]:
    """
    Blocks of machine code, hottest of their functions first: (function, section, address,
    size, frequency, cycles).
    """

def object_code_with_blocks(module: Module) -> bytes:
    """The object file with a map of its blocks."""

def object_code_in_sections(module: Module) -> bytes:
    """
    The position-independent object file with a section for each function and variable, for
    a linker that drops and folds them.
    """

def let_assembly_read_files(may: bool) -> None:
    """
    Set whether inline assembly may read files during code generation. By default it may not.
    """

class Module:
    """One LLVM module, changed in place by passes."""

    def __init__(self, data: bytes, name: str = '') -> None:
        """Read bitcode or textual IR, or raise `BenchmarkInitError`."""

    def run(self, pipeline: str) -> bool:
        """Run a textual pass pipeline; return whether the IR changed, exactly."""

    def run_on(self, pipeline: str, functions: Sequence[str]) -> bool:
        """
        Like `run`, on these functions alone. Raise `PipelineError` for passes of modules and
        components of the call graph, and `InvalidActionError` for a function without a body.
        """

    def apply(self, pipeline: str) -> bool:
        """
        Run a pipeline without change detection; return whether the IR may have changed.
        """

    def run_with(self, pipeline: str, options: Sequence[tuple[str, str]]) -> bool:
        """
        Run a pipeline with other values of LLVM's options, like a separate run of
        `opt`; return whether the IR changed, exactly.
        """

    def run_watched(self, pipeline: str) -> tuple[bool, bool, bool, dict[tuple[str, bool, bool], int]]:
        """
        Like `run`, but slower: return its result, whether the hash of the whole IR
        changed, whether the cached state is correct, and the number of visits by pass
        class, by whether the pass reported that it preserved everything, and by whether
        the hash changed.
        """

    def limit_instructions(self, most: int) -> None:
        """
        Make `run` raise `ModuleTooLargeError` after a change to more than `most`
        instructions; 0 sets no limit.
        """

    def bitcode(self) -> bytes:
        """The bytes that `opt` would write."""

    def text(self) -> str:
        """
        The text that `opt -S` would print, without the line that names a file.
        """

    def ir_hash(self) -> bytes:
        """Sixteen bytes that differ when the IR differs, equal in every process."""

    def instruction_count(self) -> int:
        """The current number of instructions."""

    def verify(self) -> None:
        """Raise `InvalidIrError` if the module is not valid IR."""

    def chosen_options(self) -> dict[str, str]:
        """
        The chosen options of the code generator by name, without defaults. Raises
        `ObservationError` if the module contains an unknown option.
        """

    def set_goal(self, goal: str) -> None:
        """Mark every definition for `size`, or remove those marks for `speed`."""

    def apply_level(self, level: str) -> None:
        """
        Apply the attributes of a clang level, `O0` to `Oz`, and run its pipeline; `OptOz`
        removes the attributes and runs opt's `default<Oz>`.
        """

    def apply_linked_level(self, level: str, keep: Sequence[str]) -> None:
        """
        Like `apply_level` for a whole program: run the pipelines of `clang -flto` and of a
        linker. Raises `BenchmarkInitError` as `internalize` does.
        """

    def internalize(self, keep: Sequence[str]) -> list[str]:
        """
        Make all symbols local that no code outside the program can name; return those
        that stay visible: `main`, functions that libraries may call, and `keep`. Raise
        `BenchmarkInitError` if there is neither `main` nor `keep`, or if `keep` has a
        name that the module does not define.
        """

    def retarget(self, target: str) -> bool:
        """
        Retarget the module to a machine of `machines()` or a triple of one; return
        whether that changed it. Raise `BenchmarkInitError`, and change nothing, for an
        unknown machine and for modules with inline assembly, intrinsics or types of
        x86.
        """

    def autophase(self) -> bytes:
        """The 56 AutoPhase features as little-endian int64."""

    def inst_count(self) -> bytes:
        """The 70 instruction counts as little-endian int64."""

    def object_code(self) -> bytes:
        """The ELF object that `llc -filetype=obj` would make."""

    def assembly(self) -> bytes:
        """
        The assembly that `llc -filetype=asm` would write; its names need not be UTF-8.
        """

    def object_text_size(self) -> int:
        """
        The bytes of machine code: the executable sections of the object, as
        `llvm-size -A` lists them. The `text` of plain `llvm-size` adds read-only data.
        """

    @property
    def triple(self) -> str:
        """The target triple."""

    @property
    def data_layout(self) -> str:
        """The data layout string."""

    @property
    def source_filename(self) -> str:
        """The source file name that the IR records."""

def call_sites(module: Module) -> dict[str, Any]:
    """
    Calls of functions that have a body.

    Columns, as bytes unless they are text:
    - names (str): every function, declarations included, in the module's order
    - id (int32): of each call site; -1 if the module has no ids
    - caller (int32): the index in names; of copies the first
    - callee (int32): the index in names
    - copies (int32): number of calls with the id
    - choice (int8): 0 default, 1 inline, 2 never
    - is_inlinable (int8): whether LLVM can inline it: inline may be chosen
    - arguments (int32): that it passes
    - constant_arguments (int32): of these
    - caller_instructions (int64): in the caller
    - callee_instructions (int64): in the callee
    - callee_calls (int32): direct calls of the callee, including this one
    """

def marked_loops(module: Module) -> dict[str, Any]:
    """
    Loops, with their marks.

    Columns, as bytes unless they are text:
    - names (str): every function, declarations included, in the module's order
    - id (int32): of each loop; -1 if the module has no ids
    - function (int32): the index in names; of copies the first
    - header (int32): the header's index in its function
    - depth (int32): 1 at the top
    - copies (int32): number of loops with the id
    - blocks (int32): including inner loops
    - instructions (int64): including inner loops
    - trip_count (int64): proved by ScalarEvolution; 0 if unknown
    - choices (int64): a bit for each marked choice
    - is_peelable (int8): whether LLVM can peel it: peel may be chosen
    """

def marked_functions(module: Module) -> dict[str, Any]:
    """
    Functions that have a body, with their marks.

    Columns, as bytes unless they are text:
    - names (str): a function for each row; of copies the first
    - id (int32): of each function; -1 if the module has no ids
    - copies (int32): number of functions with the id
    - choice (int8): 0 unchanged, 1 optsize, 2 minsize, 3 cold, 4 hot, 5 noinline
    - allowed (int64): a bit for each allowed choice
    - is_local (int8): whether no other module can see it
    - blocks (int32): in its body
    - instructions (int64): in its body
    - calls (int32): direct calls of functions with a body, in its body
    - callers (int32): direct calls of the function
    """

def choice_names(kind: int) -> list[str]:
    """
    The choices of a kind: 0 call, 1 loop, 2 function. The first leaves it to LLVM.
    """

class Marks:
    """Decision points in a module, and the choices that passes must follow."""

    def __init__(self, module: Module) -> None: ...

    def number(self) -> None:
        """Give an id to every call site, loop and function without one."""

    def points(self) -> list[tuple[int, int, int, str]]:
        """
        All current decision points: (kind, id, a bit for each allowed choice, label).
        """

    def choose(self, kind: int, id: int, choice: int) -> bool:
        """
        Make a choice; return whether the IR changed. Raises `InvalidActionError`, and changes
        nothing, if the id does not exist any more or does not allow the choice.
        """

    def ids(self, kind: int) -> int:
        """One more than the highest id of that kind in the module."""

def run_recorded(module: Module, pipeline: str, options: Sequence[tuple[str, str]] = []) -> dict[str, Any]:
    """
    Run a pipeline like Module.run(), or run_with() if there are options, and return its
    effects, including remarks.
    """

def time_passes(module: Module, is_on: bool) -> None:
    """Turn the timing of the module's pipelines on or off."""

def take_times(module: Module) -> list[tuple[int, str, str, int, int]]:
    """
    The timed parts since the last call: parent (the index of an earlier part, or -1), kind
    (`surroundings`, `pass`, `analysis` or `detection`), name, calls, nanoseconds.
    """

def check_pipeline(pipeline: str) -> None:
    """
    Raise `PipelineError` if LLVM refuses the text, or accepts it and then aborts on every program.
    """

def registered_passes() -> list[tuple[str, str, str]]:
    """Every pass in LLVM's registry as (kind, name, parameters)."""

def shares_llvm() -> bool:
    """
    Return whether this engine shares its LLVM with libraries loaded into the process.
    """

def load_plugin(path: str) -> str:
    """
    Load a plug-in until the process ends and return its name, or raise `PluginError`.
    """

def pipeline_of_pass(name: str, plugin: int = -1) -> str:
    """
    The pipeline that runs one pass of LLVM or of the plug-in with this number (-1: any), or
    raise `PipelineError`.
    """

def program_graph(module: Module) -> dict[str, Any]:
    """
    The ProGraML graph.

    Columns, as bytes unless they are text:
    - node_kind (int32): 0 instruction, 1 variable, 2 constant, 3 type
    - node_text (int32): an index into program_graph_texts()
    - node_function (int32): its index in the module; -1 for none
    - node_block (int32): its index in the module; -1 for none
    - edge_source (int32): the node it leaves
    - edge_target (int32): the node it enters
    - edge_kind (int32): 0 control, 1 data, 2 call, 3 type
    - edge_position (int32): the index of the operand, successor or part
    """

def program_graph_texts() -> list[str]:
    """The texts that node_text of program_graph() indexes."""

def program_graph_json(module: Module) -> str:
    """The ProGraML graph as node-link JSON."""

def inst2vec_statements(module: Module) -> list[str]:
    """The module as statements of inst2vec's vocabulary."""

def describe_tables() -> dict[str, list[tuple[str, str, int, int, int]]]:
    """
    The columns of every table by the name of its function: (name, dtype, low, high, width).
    The width is 0 if a row is one value.
    """

def lexed_ir(module: Module) -> dict[str, Any]:
    """
    IR text as tokens.

    Columns, as bytes unless they are text:
    - token_id (int32): the number of its kind in this LLVM's lexer
    - token_category (int8): an index into token_categories()
    - token_start (int32): the offset of the token in the text, in bytes
    - token_end (int32): one past its last byte
    - text (uint8): the text
    """

def lexed_words(module: Module) -> dict[str, Any]:
    """
    IR text as indices of its distinct tokens, and these tokens.

    Columns, as bytes unless they are text:
    - token_word (int32): for each token, its index among the distinct ones
    - word_id (int32): for each distinct one, like token_id of lexed_ir()
    - word_category (int8): an index into token_categories()
    - word_end (int32): one past its last byte in the text
    - text (uint8): of all distinct ones, one after the other
    """

def lexed_text(data: bytes) -> dict[str, Any]:
    """IR text in bytes as tokens, or raise `BenchmarkInitError`."""

def lexed_text_by_llvm(data: bytes) -> dict[str, Any]:
    """Like `lexed_ir`, but with LLVM's lexer alone, for comparison."""

def token_categories() -> list[str]:
    """The names that the column category indexes."""

def token_kinds() -> list[tuple[int, str]]:
    """The kinds that are not keywords: (number, name)."""

def try_on(module: Module, choices: Sequence[tuple[str, Sequence[str]]]) -> tuple[bytes, bytes, bytes]:
    """
    Run the pipelines of each pair (function, pipelines) on clones of the function; return
    the instructions left (int64), and two numbers of each result (uint64), in the order of
    `choices`: LLVM's structural hash, and a digest. Results of a function with equal digests
    have the same code. The module stays as it is. Raise the errors of `Module.run_on()`.
    """

def keep_bodies(module: Module, names: Sequence[str]) -> None:
    """
    Replace the bodies of all other functions by one `unreachable`; the code of these stays
    the same. Raise the errors of `Module.run_on()`.
    """
