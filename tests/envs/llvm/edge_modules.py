# SPDX-License-Identifier: MIT
"""Modules at the edges of what an observation may meet, as textual IR or C++."""

from compiler_gym.envs.llvm import make_benchmark_from_source

__all__ = ["EDGE_MODULES", "edge_module"]

TRIPLE = 'target triple = "x86_64-pc-linux-gnu"\n'

EXCEPTIONS = """
#include <stdexcept>
#include <string>
struct Guard { ~Guard(); int held; };
int risky(int);
int caught(int n) {
  Guard guard{n};
  try { return risky(n); }
  catch (const std::out_of_range& e) { return static_cast<int>(std::string(e.what()).size()); }
  catch (...) { throw; }
}
"""

MANGLED = "\n".join(
    [
        TRIPLE,
        'define i32 @"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"(i32 %0) {',
        "  ret i32 %0",
        "}",
        'define i32 @"$s4main3fooyS2iF"(i32 %0) {',
        '  %2 = call i32 @"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"(i32 %0)',
        "  ret i32 %2",
        "}",
        'define i32 @"odd \\22name\\22 ; \\FF\\C3\\28 <T>::{{closure}}"(i32 %0) {',
        '  %2 = call i32 @"$s4main3fooyS2iF"(i32 %0)',
        "  ret i32 %2",
        "}",
    ]
)

ASSEMBLY = f"""{TRIPLE}
module asm ".globl helper"
module asm "helper: ret"
define i64 @ticks(i64 %0) {{
  %2 = call i64 asm sideeffect "rdtsc; shl $$32, %rdx; or %rdx, $0", "={{ax}},~{{dx}},~{{flags}}"()
  call void asm sideeffect "# nothing; at all", "~{{memory}}"()
  %3 = add i64 %2, %0
  ret i64 %3
}}
"""

VECTORS = f"""{TRIPLE}
define <8 x float> @mix(<8 x float> %0, <8 x float> %1, <8 x i32> %2) {{
  %4 = fmul fast <8 x float> %0, %1
  %5 = shufflevector <8 x float> %4, <8 x float> %1, <8 x i32> splat (i32 9)
  %6 = extractelement <8 x float> %5, i32 3
  %7 = insertelement <8 x float> %5, float %6, i64 0
  %8 = icmp sgt <8 x i32> %2, splat (i32 4)
  %9 = select <8 x i1> %8, <8 x float> %7, <8 x float> zeroinitializer
  ret <8 x float> %9
}}
"""

SCALABLE = f"""{TRIPLE}
define <vscale x 4 x i32> @scalable(<vscale x 4 x i32> %0) {{
  %2 = add <vscale x 4 x i32> %0, %0
  ret <vscale x 4 x i32> %2
}}
"""

RARE = f"""{TRIPLE}
@table = internal constant [2 x ptr] [ptr blockaddress(@jump, %3), ptr blockaddress(@jump, %4)]
@alias = alias i32, ptr @value
@value = thread_local global i32 7, align 4
@big = global [3 x {{ i8, <2 x double>, ptr }}] zeroinitializer
declare void @llvm.va_start.p0(ptr)
define i32 @jump(i64 %0) {{
  %2 = getelementptr [2 x ptr], ptr @table, i64 0, i64 %0
  %target = load ptr, ptr %2
  indirectbr ptr %target, [label %3, label %4]
3:
  %old = atomicrmw add ptr @value, i32 1 seq_cst
  %pair = cmpxchg ptr @value, i32 %old, i32 0 acq_rel monotonic
  %first = extractvalue {{ i32, i1 }} %pair, 0
  fence release
  ret i32 %first
4:
  switch i64 %0, label %5 [ i64 -3, label %6
                            i64 9223372036854775807, label %6 ]
5:
  unreachable
6:
  %frozen = freeze i32 poison
  ret i32 %frozen
}}
define i32 @many(i32 %0, ...) {{
  %2 = alloca ptr, align 8
  call void @llvm.va_start.p0(ptr %2)
  %3 = va_arg ptr %2, i32
  ret i32 %3
}}
"""


def _large(instructions: int) -> str:
    """Return one function in which every instruction uses the last ones."""
    lines = [TRIPLE, "define i64 @large(i64 %0, ptr %1) {"]
    for i in range(3, instructions + 1):
        operation = ("add", "xor", "mul", "sub")[i % 4]
        lines.append(f"  %{i} = {operation} i64 %{max(i - 1, 0) if i > 3 else 0}, {i % 251}")
    lines.append(f"  store i64 %{instructions}, ptr %1, align 8")
    return "\n".join([*lines, f"  ret i64 %{instructions}", "}"])


EDGE_MODULES: dict[str, str] = {
    "empty": "",
    "declarations only": f"{TRIPLE}declare i32 @puts(ptr)\n@out = external global ptr\n",
    "exceptions": EXCEPTIONS,
    "mangled names": MANGLED,
    "inline assembly": ASSEMBLY,
    "vectors": VECTORS,
    "scalable vectors": SCALABLE,
    "rare instructions": RARE,
    "no triple": "define i32 @f(i32 %0) {\n  ret i32 %0\n}\n",
    "foreign triple": 'target triple = "armv7-unknown-linux-gnueabihf"\n'
    "define i32 @f(i32 %0) {\n  ret i32 %0\n}\n",
    "large function": _large(50_000),
}


def edge_module(name: str) -> bytes:
    """Return one of the modules as the engine reads it."""
    text = EDGE_MODULES[name]
    if name == "exceptions":
        return make_benchmark_from_source(text, lang="c++").contents
    if name == "large function":
        return text.replace("%2 ", "%0 ").encode()
    return (text or "; nothing\n").encode()
