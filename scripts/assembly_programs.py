# SPDX-License-Identifier: MIT
"""Random C and C++ programs whose functions contain inline assembly, for `plugin_check`.

Each program prints a checksum. Its assembly clobbers any registers, also the frame pointer, and
really overwrites them. Around it are large frames, variable-length arrays, jump buffers,
exceptions, arguments on the stack and other calling conventions. No program depends on flags, on
addresses or on values that assembly leaves in registers.

clang 22 itself breaks some programs whose assembly clobbers the frame pointer: with `asm goto`,
with a red zone, and with `__builtin_setjmp`. The generator avoids these.
"""

import random

__all__ = ["write_program"]

_GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{i}" for i in range(8, 16)))
_HEAD = """\
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
typedef unsigned long word;
struct part { word a; int b; short c; char d; void *e; int f[3]; };
static word total, cells[16];
static jmp_buf places[16];
static void *spots[16][5];
#define APART __attribute__((noinline))
APART static void mix(word x) { total = (total ^ x) * 0x9e3779b97f4a7c15 + (total >> 29); }
APART static void leap(int i, word x) { if (x & 1) longjmp(places[i], (int)(x & 6) + 1); }
APART static void hop(int i, word x) { if (x & 2) __builtin_longjmp(spots[i], 1); }
APART static word add_part(struct part *p, word x) {
  p->a += x; p->b ^= (int)x; p->f[x & 1] |= (int)x;
  return p->a ^ p->c ^ p->d ^ (p->e != 0) ^ p->f[2]; }
APART static word add_all(int count, ...) {
  word sum = 0; va_list rest; va_start(rest, count);
  while (count-- > 0) sum = sum * 3 + va_arg(rest, word);
  va_end(rest); return sum; }
"""
_KINDS = {
    "": 6, "__attribute__((preserve_most)) ": 1, "__attribute__((ms_abi)) ": 1,
    "__attribute__((regcall)) ": 1, "__attribute__((vectorcall)) ": 1, "static inline ": 1,
}  # fmt: skip


class _Program:
    """The text of one program while it grows."""

    def __init__(self, seed: int, exceptions: bool) -> None:
        self.random = random.Random(seed)
        self.exceptions = exceptions
        self.labels = 0
        self.returns_flags = self.random.random() < 0.3
        # A program that names the frame pointer keeps the plug-in from moving it.
        self.spared = {"rbp"} if self.random.random() < 0.4 else set[str]()
        self.fixed = set[str]()
        self.arguments = [self.random.choice((2, 2, 3, 9, 12)) for _ in range(9)]

    def write(self) -> str:
        count = len(self.arguments)
        functions = [self._function(i) for i in reversed(range(count))]
        calls = "\n".join(
            self._guard(f"mix({self._call(i, ['n', f'n * {i + 2}', '~n', f'{i}'])});")
            for i in range(count)
        )
        return (
            f"{_HEAD}{''.join(functions)}int main(int argc, char **argv) {{\n  (void)argv;\n"
            f"  for (word n = argc - 1; n < {self.random.randint(3, 9)}; n++) {{\n{calls}\n  }}\n"
            '  for (int i = 0; i < 16; i++) mix(cells[i]);\n  printf("%lx\\n", total);\n}\n'
        )

    def _function(self, number: int) -> str:
        parameters = ", ".join(f"word p{i}" for i in range(self.arguments[number]))
        kind = self.random.choices(list(_KINDS), list(_KINDS.values()))[0]
        kind = kind if "inline" in kind else f"APART static {kind}"
        jumps = self.random.random() < 0.2
        qualifier = "volatile " if jumps else ""
        lines = [f"{qualifier}word {', '.join(f'v{i} = p{i % 2} + {i}' for i in range(5))};"]
        lines += [f"{qualifier}double d = (double)(p0 & 1023); struct part s;"]
        lines += [f"{qualifier}word q = p1; {qualifier}int c = 0;"]
        size = self.random.choice((0, 2, 6, 40))
        if size:
            lines += [f"volatile word t[{size}]; for (int i = 0; i < {size}; i++) t[i] = p0 * i;"]
        if self.random.random() < 0.25:
            lines += ["word w[(p0 & 7) + 1]; for (word i = 0; i <= (p0 & 7); i++) w[i] = p1 * i;"]
            lines += ["v4 += w[p0 & 7]; mix(w[p1 & p0 & 7]);"]
        if self.random.random() < 0.15:
            lines += [
                "char *m = (char *)__builtin_alloca((p1 & 31) + 1); memset(m, 7, (p1 & 31) + 1);"
            ]
            lines += ["v3 += (word)m[p1 & 31];"]
        self.fixed = set[str]()
        if self.random.random() < 0.1:
            self.fixed = {"rbp", "rbx"}  # clang refuses them with a base pointer
            lines += ["_Alignas(64) volatile word z[4]; z[3] = p1; v1 += z[3];"]
            lines[-1] = lines[-1].replace("_Alignas", "alignas") if self.exceptions else lines[-1]
        leaf = self.random.random() < 0.3
        if not leaf:  # with a red zone, clang saves the frame pointer over it
            lines += ["mix(v0);"]
        built_in = jumps and not leaf and self.random.random() < 0.5
        if built_in:  # clang does not restore it
            self.fixed = {"rbp", "rbx"}
        body = [self._statement(number, size, leaf) for _ in range(self.random.randint(3, 9))]
        if jumps and not leaf:
            half = len(body) // 2
            if not built_in:
                body[:half] = [f"if (setjmp(places[{number}]) == 0) {{", *body[:half]]
                body[half + 1 : half + 1] = [f"leap({number}, v1); }} else v2 += 9;"]
            else:
                body[:half] = [f"if (__builtin_setjmp(spots[{number}]) == 0) {{", *body[:half]]
                body[half + 1 : half + 1] = [f"hop({number}, v1); }} else v2 += 5;"]
        lines += body
        lines += ["return v0 + v1 * 3 + v2 * 5 + v3 * 7 + v4 * 11 + q + (word)c;"]
        text = "\n".join(f"  {line}" for line in lines)
        return f"{kind}word f{number}({parameters}) {{\n{text}\n}}\n"

    def _value(self) -> str:
        return f"v{self.random.randrange(5)}"

    def _call(self, number: int, values: list[str]) -> str:
        passed = (self.random.choice(values) for _ in range(self.arguments[number]))
        return f"f{number}({', '.join(passed)})"

    def _guard(self, statement: str) -> str:
        if not self.exceptions:
            return f"    {statement}"
        return f"    try {{ {statement} }} catch (word e) {{ mix(e); }}"

    def _statement(self, number: int, size: int, leaf: bool) -> str:
        if self.random.random() < 0.5:
            return self._assembly(size)
        a, b, c = self._value(), self._value(), self._value()
        constant = self.random.choice((0, 1, 200, 128, 0x1200, 0xFFFF, 1 << 33))
        simple = [
            f"{a} = {b} * {constant} + ({c} >> 3);",
            f"if ((int){a} == {self.random.choice((-1, 1))}) {b} = {constant}; else {c} ^= {a};",
            f"if ((int){a} > {self.random.choice((-1, 1))}) {b} += {constant};",
            f"for (int i = 0; i < {self.random.randint(2, 5)}; i++) {{ {a} += {b}; {b} ^= i; }}",
            f"d = d * 1.5 + (double)({a} & 255); {b} += (word)d & 7; if (d > 1e6) d = 0;",
            f"switch ({a} & 7) {{ case 0: {b} = 0; break; case 3: {c}--; break; case 5: {b}--; }}",
            f"cells[{self.random.randrange(16)}] = 0; cells[{a} & 15] += {b};",
        ]
        if size:
            simple += [
                f"t[{self.random.randrange(size)}] += {a}; {b} ^= t[{self.random.randrange(size)}];"
            ]
        if leaf:
            return self.random.choice(simple)
        simple += [
            f"memset(&s, 0, sizeof s); {b} += add_part(&s, {a});",
            f"{a} += add_all({(n := self.random.randint(1, 9))}, {', '.join([b] * n)});",
            f"mix({a});",
        ]
        if not self.spared:
            simple.append(f"{a} += (word)__builtin_frame_address(0) != 0;")
        if self.exceptions:
            simple += [f"if (({a} & 7) == 3) throw (word)({b});"] * 2
        if number + 1 < len(self.arguments) and self.random.random() < 0.4:
            callee = self.random.randrange(number + 1, len(self.arguments))
            call = f"{a} += {self._call(callee, [b, c, f'{a} >> 1', str(constant)])};"
            return self._guard(call).strip()
        return self.random.choice(simple)

    def _clobbers(self, taken: set[str]) -> tuple[list[str], list[str]]:
        """Return lines that overwrite registers, and the registers."""
        taken = taken | self.fixed | self.spared
        free = [name for name in _GENERAL if name not in taken]
        names = self.random.sample(free, min(len(free), self.random.choice((0, 1, 2, 4, 7))))
        if self.random.random() < 0.4 and "rbp" not in taken | set(names):
            names.append("rbp")
        lines = [f"mov ${self.random.randrange(1 << 31)}, %%{name}" for name in names]
        for i in self.random.sample(range(16), self.random.choice((0, 0, 1, 4))):
            lines.append(f"pcmpeqd %%xmm{i}, %%xmm{i}")
            names += [f"xmm{i}", *self.random.choice(([], [f"ymm{i}"]))]
        if self.random.random() < 0.1:
            lines.append("pcmpeqd %%mm3, %%mm3\\n\\temms")
            names += [f"mm{i}" for i in range(8)]
        elif self.random.random() < 0.1:
            lines.append("fldpi\\n\\tfstp %%st(0)")
            names += ["st", *(f"st({i})" for i in range(1, 8))]
        lines.append("std\\n\\tcld\\n\\tcmp %%rsp, %%rsp")
        names += [*self.random.choice(([], ["memory"]))]
        return lines, names

    def _assembly(self, size: int) -> str:
        a, b, c = self.random.sample([f"v{i}" for i in range(5)], 3)
        cell = f"cells[{self.random.randrange(16)}]"
        k = self.random.randrange(1, 1 << 16)
        forms = [
            (f'"=&r"({a}) : "r"({b}), "ri"((word){k})', ["mov %1, %0", "add %2, %0"], ()),
            (f'"+r"({a}) : "r"({b})', ["add %1, %0", "rol $5, %0"], ()),
            (f'"+&r"({a}), "=&r"({c}) : "r"({b})', ["mov %2, %1", "sub %2, %0"], ()),
            (f'"=r"({a}) : "0"({b}), "r"({c})', ["imul %2, %0"], ()),
            (f'"+m"({cell}) : "r"({b})', ["addq %1, %0"], ()),
            (f'"=a"({a}), "=d"({b}) : "0"({a}), "r"({c})', ["mulq %3"], ("rax", "rdx")),
            (f'"+b"({a}) : "S"({b}), "D"({c})', ["lea (%0, %1, 2), %0", "xor %2, %0"],
             ("rbx", "rsi", "rdi")),
            (f'"+c"({a}) : "i"({k})', ["xor %1, %0"], ("rcx",)),
            (f'"+x"(d) : "x"((double){k})', ["addsd %1, %0"], ()),
            (f'"=&r"({a}) : "r"({b})', ["lea -128(%%rsp), %%rsp", "push %1", "pop %0",
                                        "lea 128(%%rsp), %%rsp"], ()),
            (f'"=&r"({a}) : ', ["mov %%rsp, %0", "and $7, %0"], ()),
            (f'"+Q"({a}) : "a"({b})', ["movb %b1, %h0"], ("rax", "rbx", "rcx", "rdx")),
            (f'"+S"({a}) : "D"({b})', ["xchg %%rbx, %0", "add %1, %%rbx", "xchg %%rbx, %0"],
             ("rbx", "rsi", "rdi")),
        ]  # fmt: skip
        if self.returns_flags:
            condition = self.random.choice(("b", "z", "g", "s", "ae"))
            forms += [(f'"=@cc{condition}"(c) : "r"({a}), "r"({b})', ["cmp %2, %1"], ())] * 2
        if size:
            forms.append(
                (
                    f'"+m"(t[{self.random.randrange(size)}]) : "r"({b})',
                    ["xorq %1, %0"],
                    ("rbp", "rbx"),
                )
            )
        if self.random.random() < 0.15:
            return self._jump(a, b)
        if self.random.random() < 0.1:
            name = self.random.choice(("rbx", "r12", "r13", "r14", "r15", "rdi", "r8"))
            return (
                f'{{ register word x asm("{name}") = {a}; asm volatile("rol $3, %0" : "+r"(x));'
                f" {a} = x; }}"
            )
        operands, code, taken = self.random.choice(forms)
        lines, names = self._clobbers(set(taken))
        # Outputs may share registers with inputs, so all other registers are overwritten first.
        text = "\\n\\t".join([*lines, *code])
        names += [] if "@cc" in operands else ["cc"]
        volatile = self.random.choice(("", "volatile"))
        return f'asm {volatile}("{text}" : {operands} : {", ".join(map(_quote, names))});'

    def _jump(self, a: str, b: str) -> str:
        self.labels += 1
        lines, names = self._clobbers({"rbp"})
        label = f"away{self.labels}"
        # At -O0, clang may lose an output on the way to the label.
        output = '"=&r"(q)' if self.random.random() < 0.2 else ""
        code = ["lea 7(%1), %0", "test %1, %1"] if output else ["test %0, %0"]
        text = "\\n\\t".join([*lines, *code, f"js %l[{label}]"])
        clobbers = ", ".join(map(_quote, [*names, "cc"]))
        return (
            f'asm goto("{text}" : {output} : "r"({a}) : {clobbers} : {label}); {b} += q;\n'
            f"  {label}: {b} ^= q;"
        )


def _quote(name: str) -> str:
    return f'"{name}"'


def write_program(seed: int, exceptions: bool) -> str:
    """Return the text of the program of `seed`, in C++ if it is to throw exceptions."""
    return _Program(seed, exceptions).write()
