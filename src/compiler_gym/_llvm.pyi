"""LLVM 22 in process: one module, changed by pass pipelines."""

from collections.abc import Sequence
from typing import Any


LLVM_VERSION: str = '22.1.8'

OUT_OF_MEMORY_STATUS: int = 86

def start() -> None:
    """Register targets and error handlers now rather than at the first use."""

def machines() -> list[str]:
    """The machines that code is made for, x86_64 first."""

def machine_of(triple: str) -> str:
    """The one of `machines()` that a triple means; empty for none."""

def simulated_processor(machine: str) -> str:
    """The processor whose cycles are counted for one of `machines()`."""

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
    - shapes (int64): a hash of what is left without names and constants: near duplicates have the same
    - instructions (int64): in its body, without those that only debug
    - is_odr (int8): whether each module that uses it has a copy of it, as of an inline function or a template of C++
    """

def function_table(module: Module) -> dict[str, Any]:
    """
    Features of each function that has a body.

    Columns, as bytes unless they are text:
    - names (str): the functions that have a body, in the module's order
    - features (int64): a row of function_feature_names() for each of them
    """

def call_graph(module: Module) -> dict[str, Any]:
    """
    Functions and who calls whom.

    Columns, as bytes unless they are text:
    - names (str): every function, declarations included, in the module's order
    - is_defined (int8): whether it has a body
    - instructions (int64): in its body
    - indirect_calls (int32): its calls whose callee is not known
    - caller (int32): of each edge, the place in names
    - callee (int32): of each edge, the place in names
    - calls (int32): how many calls the edge stands for
    """

def loop_forest(module: Module) -> dict[str, Any]:
    """
    Natural loops, outer before inner.

    Columns, as bytes unless they are text:
    - function (int32): the function's place in the module
    - parent (int32): the row of the enclosing loop; -1 at the top
    - depth (int32): 1 at the top
    - header (int32): the header's place in its function
    - blocks (int32): with those of inner loops
    - instructions (int64): with those of inner loops
    - exits (int32): blocks outside that the loop may go to
    - latches (int32): blocks that go back to the header
    - trip_count (int64): as ScalarEvolution proves; 0 if it cannot
    - is_simplified (int8): preheader, one latch, dedicated exits
    - is_rotated (int8): the latch may leave the loop
    """

def function_feature_names() -> list[str]:
    """The columns of function_table()."""

def call_frequencies(module: Module) -> list[tuple[bytes, float]]:
    """
    How often each function with a body runs in one run of the program: (name, times).
    """

class Inlining:
    """A level's pipeline on a module, whose inliner asks about each call."""

    def __init__(self, module: Module, level: str) -> None:
        """
        Give the attributes of a clang level, `O0` to `Oz`, and run its pipeline up to the
        first question. Until it is over, nobody else may change the module.
        """

    def answer(self, answer: str) -> None:
        """
        Answer the question with `default` (what LLVM would do), `inline` or `no-inline`, and
        go on to the next, or to the end of the pipeline.
        """

    @property
    def is_over(self) -> bool:
        """
        Whether the pipeline has come to its end: there is no question any more.
        """

    def call_site(self) -> dict[str, Any]:
        """The call that the question is about, by column."""

    def features(self) -> bytes:
        """The 39 features of inline_feature_names() as little-endian int64."""

    @property
    def decisions(self) -> bytes:
        """
        Of each question so far, a byte that is 1 where the call was to be inlined.
        """

    def limit_instructions(self, most: int) -> None:
        """
        From now on `answer` raises `ModuleTooLargeError` where the module has grown to more
        than `most` instructions; 0 sets no limit.
        """

def inline_feature_names() -> list[str]:
    """
    The features that LLVM offers a learned inliner, and its own choice as the last.
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
        Vectors of the functions, a row each, and their sum, as little-endian float64: an
        instruction's is made of its opcode, type and operands.
        """

    def flow_aware(self, module: Module) -> dict[str, Any]:
        """The same, where an operand counts as what defined it."""

def link_modules(modules: Sequence[bytes]) -> bytes:
    """Link modules into one, or raise `BenchmarkInitError`."""

def split_functions(data: bytes) -> list[tuple[str, bytes]]:
    """
    One module for each defined function, as (name, bitcode), and one for the rest.
    """

def strip_noop_bitcasts(data: bytes) -> bytes:
    """The same module without casts from a type to itself."""

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
    Say whether inline assembly may read files when code is made; it may not at first.
    """

class Module:
    """One LLVM module, changed in place by passes."""

    def __init__(self, data: bytes, name: str = '') -> None:
        """Read bitcode or textual IR, or raise `BenchmarkInitError`."""

    def run(self, pipeline: str) -> bool:
        """Run a textual pass pipeline; return whether the IR changed, exactly."""

    def apply(self, pipeline: str) -> bool:
        """
        Run a pipeline where nobody asks for changes; return whether there may be some.
        """

    def run_with(self, pipeline: str, options: Sequence[tuple[str, str]]) -> bool:
        """
        Run a pipeline with other values of LLVM's options, as a run of `opt` of its own;
        return whether the IR changed, exactly.
        """

    def run_watched(self, pipeline: str) -> tuple[bool, bool, bool, dict[tuple[str, bool, bool], int]]:
        """
        The same, slower: what `run` returns, whether hashes of all of the IR differ,
        whether what was kept for later runs is true, and how often a pass of which class said
        that it preserved everything or not, with whether the hash was then another.
        """

    def limit_instructions(self, most: int) -> None:
        """
        From now on `run` raises `ModuleTooLargeError` after a change to more than `most`
        instructions; 0 sets no limit.
        """

    def bitcode(self) -> bytes:
        """The bytes that `opt` would write."""

    def text(self) -> str:
        """The text that `opt -S` would print, less the line that names a file."""

    def ir_hash(self) -> bytes:
        """Sixteen bytes that differ when the IR differs, equal in every process."""

    def instruction_count(self) -> int:
        """How many instructions the module holds now."""

    def verify(self) -> None:
        """Raise `InvalidIrError` if the module is not valid IR."""

    def chosen_options(self) -> dict[str, str]:
        """
        The options of the code generator that were chosen, by name; without those left as
        they are. Raises `ObservationError` where the module names one that is not offered.
        """

    def set_goal(self, goal: str) -> None:
        """Mark every definition for `size`, or take those marks off for `speed`."""

    def apply_level(self, level: str) -> None:
        """
        Give the attributes of a clang level, `O0` to `Oz`, and run its pipeline; or take them
        off and run what opt calls `default<Oz>`: `OptOz`.
        """

    def apply_linked_level(self, level: str, keep: Sequence[str]) -> None:
        """
        The same for a whole program: what clang -flto and a linker make of it, or raise
        `BenchmarkInitError` where `internalize` does.
        """

    def internalize(self, keep: Sequence[str]) -> list[str]:
        """
        Make local what nothing outside the program can name; return what stays visible: `main`,
        what libraries may call, and `keep`. Raise `BenchmarkInitError` where there is neither
        `main` nor `keep`, or where `keep` names what the module does not define.
        """

    def retarget(self, target: str) -> bool:
        """
        Make it a module for a machine of `machines()` or a triple of one; return whether that
        changed it. Raise `BenchmarkInitError`, and change nothing, for another machine and for
        what means nothing there: inline assembly, intrinsics and types of x86.
        """

    def autophase(self) -> bytes:
        """The 56 AutoPhase features as little-endian int64."""

    def inst_count(self) -> bytes:
        """The 70 instruction counts as little-endian int64."""

    def object_code(self) -> bytes:
        """The ELF object that `llc -filetype=obj` would make."""

    def assembly(self) -> bytes:
        """
        The assembly that `llc -filetype=asm` would write; names in it may be no UTF-8.
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
    - id (int32): of each call site; -1 where nothing has ids
    - caller (int32): the place in names; of copies the first
    - callee (int32): the place in names
    - copies (int32): how many calls have the id
    - choice (int8): 0 default, 1 inline, 2 never
    - is_inlinable (int8): whether LLVM can inline it: inline may be chosen
    - arguments (int32): that it hands over
    - constant_arguments (int32): of these
    - caller_instructions (int64): in the caller
    - callee_instructions (int64): in the callee
    - callee_calls (int32): direct calls of the callee, this one too
    """

def marked_loops(module: Module) -> dict[str, Any]:
    """
    Loops, with their marks.

    Columns, as bytes unless they are text:
    - names (str): every function, declarations included, in the module's order
    - id (int32): of each loop; -1 where nothing has ids
    - function (int32): the place in names; of copies the first
    - header (int32): the header's place in its function
    - depth (int32): 1 at the top
    - copies (int32): how many loops have the id
    - blocks (int32): with those of inner loops
    - instructions (int64): with those of inner loops
    - trip_count (int64): as ScalarEvolution proves; 0 if it cannot
    - choices (int64): a bit for each choice that is marked
    - is_peelable (int8): whether LLVM can peel it: peel may be chosen
    """

def marked_functions(module: Module) -> dict[str, Any]:
    """
    Functions that have a body, with their marks.

    Columns, as bytes unless they are text:
    - names (str): a function for each row; of copies the first
    - id (int32): of each function; -1 where nothing has ids
    - copies (int32): how many functions have the id
    - choice (int8): 0 as it is, 1 optsize, 2 minsize, 3 cold, 4 hot, 5 noinline
    - allowed (int64): a bit for each choice that there is
    - is_local (int8): whether no other module sees it
    - blocks (int32): in its body
    - instructions (int64): in its body
    - calls (int32): direct calls of functions with a body, in its body
    - callers (int32): direct calls of it
    """

def choice_names(kind: int) -> list[str]:
    """
    The choices of a kind: 0 call, 1 loop, 2 function. The first leaves it to LLVM.
    """

class Marks:
    """Decisions in a module, and what passes are told of them."""

    def __init__(self, module: Module) -> None: ...

    def number(self) -> None:
        """Give an id to every call site, loop and function that has none."""

    def points(self) -> list[tuple[int, int, int, str]]:
        """
        Every decision there is now: (kind, id, a bit for each choice there is, label).
        """

    def choose(self, kind: int, id: int, choice: int) -> bool:
        """
        Mark; return whether the IR changed. Raises `InvalidActionError`, and changes nothing,
        where the id is gone or the choice is none there.
        """

    def ids(self, kind: int) -> int:
        """One more than the highest id of that kind in the module."""

def run_recorded(module: Module, pipeline: str, options: Sequence[tuple[str, str]] = []) -> dict[str, Any]:
    """
    Run a pipeline as Module.run() does, or run_with() where there are options, and return
    what it did, remarks included.
    """

def time_passes(module: Module, is_on: bool) -> None:
    """
    From now on note where the time of the module's pipelines goes, or no longer.
    """

def take_times(module: Module) -> list[tuple[int, str, str, int, int]]:
    """
    Where the time went since the last call: parent (the place of an earlier part, or -1),
    kind (`surroundings`, `pass`, `analysis` or `detection`), name, calls, nanoseconds.
    """

def check_pipeline(pipeline: str) -> None:
    """
    Raise `PipelineError` if the text is refused, or accepted and then fatal to all programs.
    """

def registered_passes() -> list[tuple[str, str, str]]:
    """Every pass LLVM knows as (kind, name, parameters)."""

def shares_llvm() -> bool:
    """
    Whether this engine shares its LLVM with what is loaded into the process.
    """

def load_plugin(path: str) -> str:
    """Load a plug-in for good and return its name, or raise `PluginError`."""

def pipeline_of_pass(name: str, plugin: int = -1) -> str:
    """
    The pipeline that runs one pass alone, asking LLVM and the plug-in of this number, all
    of them for -1; or raise `PipelineError`.
    """

def program_graph(module: Module) -> dict[str, Any]:
    """
    The ProGraML graph.

    Columns, as bytes unless they are text:
    - node_kind (int32): 0 instruction, 1 variable, 2 constant, 3 type
    - node_text (int32): an index into program_graph_texts()
    - node_function (int32): its place in the module; -1 for none
    - node_block (int32): its place in the module; -1 for none
    - edge_source (int32): the node it leaves
    - edge_target (int32): the node it enters
    - edge_kind (int32): 0 control, 1 data, 2 call, 3 type
    - edge_position (int32): which operand, successor or part it is
    """

def program_graph_texts() -> list[str]:
    """What node_text of program_graph() is an index into."""

def program_graph_json(module: Module) -> str:
    """The ProGraML graph as node-link JSON."""

def inst2vec_statements(module: Module) -> list[str]:
    """The module in the statements of inst2vec's vocabulary."""

def describe_tables() -> dict[str, list[tuple[str, str, int, int, int]]]:
    """
    The columns of every table by the name of its function: (name, dtype, low, high, width),
    the width 0 where a row is one value.
    """

def lexed_ir(module: Module) -> dict[str, Any]:
    """
    IR text as tokens.

    Columns, as bytes unless they are text:
    - token_id (int32): the lexer's number of its kind, as of this LLVM
    - token_category (int8): an index into token_categories()
    - token_start (int32): where the token begins in the text, in bytes
    - token_end (int32): one past its last byte
    - text (uint8): the text
    """

def lexed_words(module: Module) -> dict[str, Any]:
    """
    IR text as numbers of its different tokens, and those.

    Columns, as bytes unless they are text:
    - token_word (int32): for each token, which of the different ones it is
    - word_id (int32): for each different one, as token_id of lexed_ir()
    - word_category (int8): an index into token_categories()
    - word_end (int32): one past its last byte in the text
    - text (uint8): of all different ones, one after the other
    """

def lexed_text(data: bytes) -> dict[str, Any]:
    """IR text in bytes as tokens, or raise `BenchmarkInitError`."""

def lexed_text_by_llvm(data: bytes) -> dict[str, Any]:
    """The same by LLVM's lexer alone, to compare with."""

def token_categories() -> list[str]:
    """What category is an index into."""

def token_kinds() -> list[tuple[int, str]]:
    """The kinds that are not keywords: (number, name)."""
