# SPDX-License-Identifier: MIT
"""The bytes that each function of an object adds to a program."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym import _elf, _llvm

SOURCE = """
target triple = "x86_64-pc-linux-gnu"
@again = alias i32 (i32), ptr @thrown
declare i32 @__gxx_personality_v0(...)
declare i32 @other(i32)
define i32 @plain(i32 %n) nounwind { ret i32 %n }
define i32 @first(i32 %n) nounwind section "own" { ret i32 %n }
define i32 @second(i32 %n) nounwind section "own" { ret i32 7 }
define i32 @thrown(i32 %n) uwtable personality ptr @__gxx_personality_v0 {
  %a = invoke i32 @other(i32 %n) to label %done unwind label %pad
done:
  ret i32 %a
pad:
  %p = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %p
}
define i32 @chosen(i32 %n) nounwind {
  switch i32 %n, label %e [ i32 0, label %a  i32 1, label %b  i32 2, label %c  i32 3, label %d ]
a:
  %1 = call i32 @other(i32 5)
  ret i32 %1
b:
  %2 = call i32 @other(i32 77)
  ret i32 %2
c:
  ret i32 %n
d:
  %3 = call i32 @other(i32 %n)
  ret i32 %3
e:
  ret i32 9
}
"""


def test_code_unwind_entries_and_tables_are_counted(tmp_path: Path):
    readelf = shutil.which("llvm-readelf-22") or pytest.skip("llvm-readelf-22 is missing")
    data = _llvm.object_code_in_sections(_llvm.Module(SOURCE.encode()))
    found = _elf.function_bytes(data)
    path = tmp_path / "object.o"
    path.write_bytes(data)
    words = [readelf, "-S", "--elf-output-style=JSON", str(path)]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    sections = {
        part["Section"]["Name"]["Name"]: part["Section"]["Size"]
        for part in json.loads(listed)[0]["Sections"]
    }
    assert found["plain"] == sections[".text.plain"] == 3
    assert found["chosen"] == sections[".text.chosen"] + sections[".rodata.chosen"]
    unwinding = found["thrown"] - sections[".text.thrown"] - sections[".gcc_except_table.thrown"]
    assert 24 <= unwinding < sections[".eh_frame"]
    assert found["again"] == found["thrown"]
    assert not {"first", "second"} & found.keys()


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x7fELF\2\1\1" + bytes(9)])
def test_other_bytes_are_refused(data: bytes):
    with pytest.raises(ValueError, match="not an ELF object, or is damaged"):
        _elf.function_bytes(data)
