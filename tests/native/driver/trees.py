# SPDX-License-Identifier: MIT
"""Folders of small sources, and calls of the compiled drivers in them."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan, policy_named, recipe_named
from compiler_gym.tools.tune.llvm.plugin import PLUGIN

POLICY, RECIPE = "--policy size", "--recipe small"
PLAIN = "clang-22 -Oz -flto -ffat-lto-objects -fno-addrsig -fuse-ld=lld -Wl,-z,nostart-stop-gc"
SMALL = recipe_named("small").plan
_ALIGNED = {"align-all-functions": "5", "align-all-nofallthru-blocks": "4", "mc-relax-all": "true"}
LARGE = replace(SMALL, name="large", linker=(), options=_ALIGNED)
IMPOSSIBLE = replace(SMALL, name="impossible", plugin=(PLUGIN, "-no-such-rule"))
DRIVER = str(Path(sys.executable).with_name("compiler-gym-cc"))
CC = Path(DRIVER).name
"""The driver in a command line: it is in PATH, and its own path may have a blank."""


@dataclass(frozen=True)
class Tree:
    """A folder in which commands run."""

    path: Path

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    def run(self, line: str, *, status: int = 0, **variables: str) -> tuple[str, str]:
        """Run a command line and return what it prints."""
        done = subprocess.run(
            shlex.split(line), cwd=self.path, env={**os.environ, **variables}, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done.stdout, done.stderr

    def cc(self, line: str, how: str = POLICY, *, status: int = 0, **variables: str) -> str:
        """Call the driver and return its messages."""
        return self.run(f"{shlex.quote(DRIVER)} {how} {line}", status=status, **variables)[1]

    def printed(self, program: str = "a.out") -> str:
        return self.run(shlex.quote(str(self.path / program)))[0]

    def by(self, plan: BinaryPlan) -> str:
        """Return the option for a policy with `plan`."""
        file = self.path / f"{plan.name}.toml"
        replace(policy_named("size"), path=file, plan=plan).write()
        return f"--policy {shlex.quote(str(file))}"


_PLUG = """
#include <stdio.h>
extern int registered;
static const char *const help[] = {"plug-in NAME", "does things number NAME"};
__attribute__((constructor)) static void add(void) {
  registered++;
  for (int i = 0; i < 2; i++) if (!help[i][0]) puts(help[i]);
}
"""
_ORDERED = """
extern int count, seen[8];
__attribute__((constructor)) static void c(void) { seen[count++] = NAME; }
"""
_PLACED = """
const int table_NAME[4] = {1, 2, 3, 4};
__attribute__((noinline)) int NAME(int n) { return n * 3 + table_NAME[n & 3]; }
"""
SOURCES: dict[str, dict[str, str]] = {
    "parts": {
        "part.c": "int part(int n) { int sum = 0; for (int i = 0; i < n; i++)"
        " sum += i % 7 ? i * n : i - n; return sum; }\n"
        "int unused(int n) { return part(n) * part(n + 1); }\n",
        "main.c": "#include <stdio.h>\nint part(int);\n"
        'int main(int count, char **v) { printf("%d\\n", part(count + 4)); return 0; }\n',
    },
    "whole": {
        **{f"plug{n}.c": _PLUG.replace("NAME", str(n)) for n in (1, 2, 3)},
        "core.c": "int total(int n) { return n * 10; }\n",
        "main.c": "#include <stdio.h>\nint registered, total(int);\nint main(void)"
        ' { printf("%d plug-ins %d\\n", registered, total(registered)); return 0; }\n',
    },
    "edited": {
        "step.c": "int step(int n) { return n + 10; }\n",
        "other.c": "int other(int n) { return n + 20; }\n",
        "use.c": '#include <stdio.h>\nint step(int);\n__attribute__((section("stamp"), used))'
        ' char text[8] = "unset";\n'
        "__attribute__((used)) static int hidden(void) { return 1; }\n"
        'int main(void) { printf("%d %s\\n", step(1), text); return 0; }\n',
    },
    "order": {
        "main.c": "#include <stdio.h>\nint count, seen[8];\nint main(void)"
        ' { for (int i = 0; i < count; i++) printf("%d ", seen[i]); return 0; }\n',
        **{f"o{n}.c": _ORDERED.replace("NAME", str(n)) for n in (1, 2, 3)},
        "n2.c": '__asm__(".pushsection .note.mark,\\"\\",@progbits\\n.byte 1\\n.popsection");'
        + _ORDERED.replace("NAME", "2"),
    },
    "script": {
        **{f"{name}.c": _PLACED.replace("NAME", name) for name in ("hot", "cold")},
        "main.c": "#include <stdio.h>\nextern char start[], end[];\nint hot(int), cold(int);\n"
        "int inside(int (*f)(int)) { return (char *)f >= start && (char *)f < end; }\n"
        'int main(int n, char **v) { printf("%d %d %d\\n", inside(hot), inside(cold),'
        " hot(n) + cold(n)); return 0; }\n",
    },
}
