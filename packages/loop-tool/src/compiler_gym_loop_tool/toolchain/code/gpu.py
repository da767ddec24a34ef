# SPDX-License-Identifier: MIT
"""Lower a loop tree to PTX: a kernel for each nest of the program, launched in order.

Consider the loops from a nest's root downwards that are alone in their bodies: the outermost
parallel loop uses blocks, and the next one the threads of a block; a single one uses both. The
remaining loops run in one thread each, with sums in registers. Parallel loops in bodies with
several nests, and packing, are ignored.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compiler_gym_loop_tool.jit import assembly
from compiler_gym_loop_tool.state.program import Statement
from compiler_gym_loop_tool.state.tree import Tree
from compiler_gym_loop_tool.toolchain.code.arithmetic import DECLARATIONS, IDENTITY, number
from compiler_gym_loop_tool.toolchain.code.cpu import Lowering, Place, Scope
from compiler_gym_loop_tool.toolchain.code.plan import LoopPlan, Nest, make_plan, operands
from compiler_gym_loop_tool.toolchain.code.text import Function

__all__ = ["ARCHITECTURES", "Kernels", "Launch", "lower_gpu", "ptx"]

ARCHITECTURES = (70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121)
"""The compute capabilities that PTX can target. PTX for one runs on every later GPU too: the
driver compiles it."""

_TRIPLE = "nvptx64-nvidia-cuda"
_MOST_THREADS = 256
_REGISTERS = """declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
"""
_FEWEST_REGISTERS = 1
"""Vectors have one element: a thread is a lane."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel and the number of threads that run it."""

    kernel: str
    blocks: int
    threads: int
    """Threads per block."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """A module of kernels; each takes the address of the array of the tensors' addresses."""

    ir: str
    launches: tuple[Launch, ...]
    """The launches, in execution order."""


def ptx(kernels: Kernels, architecture: str = "sm_70") -> str:
    """Return the PTX assembly of kernels for an NVIDIA architecture."""
    return assembly(kernels.ir, triple=_TRIPLE, cpu=architecture, level=1)


def lower_gpu(tree: Tree) -> Kernels:
    """Return the kernels of a tree."""
    lowering = _GpuLowering(make_plan(tree, _FEWEST_REGISTERS))
    return lowering.kernels()


class _GpuLowering(Lowering):
    """Writer of one module of kernels."""

    def __init__(self, plan: LoopPlan) -> None:
        super().__init__(plan)
        self.is_parallel = True  # no thread pool: other loops are ordinary loops
        self.launches: list[Launch] = []
        self.spreads: dict[int, str] = {}
        """The use of each parallel loop by identity: blocks, threads or both."""

    def kernels(self) -> Kernels:
        """Write all kernels and return them."""
        for statement in self.plan.filled:
            self.write_fill(statement)
        for root in self.plan.roots:
            self.write_kernel(root)
        text = _REGISTERS + DECLARATIONS + "".join(map(str, self.done))
        return Kernels(text, tuple(self.launches))

    def begin(self, stem: str) -> dict[str, str]:
        """Begin a kernel and return the names of the tensors' pointers, in global memory."""
        name = f"{stem}{len(self.launches)}"
        self.function = function = Function(f"define ptx_kernel void @{name}(ptr %buffers)")
        self.loaded = {}
        tensors: dict[str, str] = {}
        for at, tensor in enumerate(self.program.tensors):
            field = function.set(f"getelementptr ptr, ptr %buffers, i64 {at}")
            pointer = function.set(f"load ptr, ptr {field}")
            near = function.set(f"addrspacecast ptr {pointer} to ptr addrspace(1)")
            tensors[tensor] = function.set(f"addrspacecast ptr addrspace(1) {near} to ptr")
        return tensors

    def end(self, blocks: int, threads: int) -> None:
        """Finish the current kernel."""
        name = self.function.header.split("@")[1].split("(")[0]
        self.function.add("ret void")
        self.done.append(self.function)
        self.launches.append(Launch(name, blocks, threads))

    def write_fill(self, statement: Statement) -> None:
        """Write a kernel that sets a result to the initial value of its reduction."""
        elements = self.program.tensors[statement.out.tensor].elements
        pointer = self.begin("fill")[statement.out.tensor]
        threads = min(elements, _MOST_THREADS)
        with self.share_iterations(elements, "both") as counter:
            at = self.function.set(f"getelementptr float, ptr {pointer}, i64 {counter}")
            value = number(IDENTITY[statement.reduction])
            self.function.add(f"store float {value}, ptr {at}, align 4")
        self.end(min(-(-elements // threads), 65535), threads)

    def write_kernel(self, root: Nest | int) -> None:
        """Write the kernel of one nest."""
        tensors = self.begin("nest")
        places = {
            (leaf, access): Place(tensors[access.tensor])
            for leaf in range(len(self.program.statements))
            for access in operands(self.program, leaf)
        }
        chain = [nest for nest in _chain(root) if nest.is_parallel][:2]
        sizes = [max(1, nest.extent // nest.step) for nest in chain]
        blocks, threads = 1, 1
        if len(chain) == 1:
            self.spreads = {id(chain[0]): "both"}
            threads = min(sizes[0], _MOST_THREADS)
            blocks = min(-(-sizes[0] // threads), 65535)
        elif chain:
            self.spreads = {id(chain[0]): "blocks", id(chain[1]): "threads"}
            blocks, threads = min(sizes[0], 65535), min(sizes[1], 1024)
        else:
            self.spreads = {}
        self.nodes([root], Scope(places, dict(self.program.dims)))
        self.end(blocks, threads)

    def iterations(self, nest: Nest, scope: Scope) -> None:
        """Write a loop; a parallel loop covers only this thread's share."""
        level = self.spreads.get(id(nest))
        if level is None:
            super().iterations(nest, scope)
            return
        size, tail = divmod(scope.extents[nest.dim], nest.step)
        saved = dict(self.loaded)
        if size:
            with self.share_iterations(size, level) as counter:
                self.nodes(nest.body, self.advance(nest, scope, counter))
            self.loaded = dict(saved)
        if tail:
            last = self.shift(nest, scope, size, size + 1)
            covered = {**scope.extents, nest.dim: tail}
            with self.share_iterations(1, level):
                self.nodes(nest.body, replace(last, extents=covered))
            self.loaded = saved

    def pack(self, nest: Nest, scope: Scope) -> Scope:
        """Return `scope` unchanged: packing is ignored."""
        return scope

    def share_iterations(self, size: int, level: str) -> "_Share":
        """Return a loop over this thread's share of `size` iterations, which may be empty."""
        return _Share(self.function, size, level)


class _Share:
    """A loop from a thread's number on, in steps of the number of threads."""

    def __init__(self, function: Function, size: int, level: str) -> None:
        self.function, self.size, self.way = function, size, level

    def __enter__(self) -> str:
        function = self.function
        first, step = self.position()
        self.end = function.name("none")
        begin = function.name("some")
        any_ = function.set(f"icmp ult i64 {first}, {self.size}")
        function.lines += [f"br i1 {any_}, label %{begin}, label %{self.end}", f"{begin}:"]
        function.block = begin
        remaining = function.set(f"sub i64 {self.size - 1}, {first}")
        more = function.set(f"udiv i64 {remaining}, {step}")
        count = function.set(f"add i64 {more}, 1")
        self.loop = function.loop(count)
        counter = self.loop.__enter__()
        distance = function.set(f"mul i64 {counter}, {step}")
        return function.set(f"add i64 {first}, {distance}")

    def __exit__(self, *error: object) -> None:
        self.loop.__exit__(None, None, None)
        self.function.lines += [f"br label %{self.end}", f"{self.end}:"]
        self.function.block = self.end

    def position(self) -> tuple[str, str]:
        """Return the number of this thread or block, and their count."""
        block, blocks, thread, threads = (
            self.read(register) for register in ("ctaid", "nctaid", "tid", "ntid")
        )
        if self.way == "blocks":
            return block, blocks
        if self.way == "threads":
            return thread, threads
        before = self.function.set(f"mul i64 {block}, {threads}")
        number_ = self.function.set(f"add i64 {before}, {thread}")
        return number_, self.function.set(f"mul i64 {blocks}, {threads}")

    def read(self, register: str) -> str:
        """Return the value of a special register."""
        value = self.function.set(f"call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()")
        return self.function.set(f"zext i32 {value} to i64")


def _chain(node: Nest | int) -> Iterator[Nest]:
    """Yield the loops from a root downwards that are alone in their bodies."""
    while isinstance(node, Nest):
        yield node
        if len(node.body) != 1:
            return
        node = node.body[0]
