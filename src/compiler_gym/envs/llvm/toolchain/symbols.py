# SPDX-License-Identifier: MIT
"""The symbols that a module defines for other modules, and those that it needs from them.

They are read from the IR text; no compiler is loaded.
"""

import re

__all__ = ["list_copies", "read_symbols"]

_SYMBOL_NAME = r'(?:"[^"]*"|[\w.$-]+)'
_FUNCTION = re.compile(rf"^(define|declare) ([^@]*)@({_SYMBOL_NAME})\(", re.MULTILINE)
_OTHER = re.compile(rf"^@({_SYMBOL_NAME}) = (.*)$", re.MULTILINE)
_NOT_CALLED = re.compile(rf"@({_SYMBOL_NAME.replace('+', '++')})(?!\()")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_LOCAL_LINKAGE = {"internal", "private"}
_BECOMES_A_CALL = re.compile(r"llvm\.(memcpy|memmove|memset)\.")


def read_symbols(text: str) -> tuple[set[str], set[str]]:
    """Return the names that the IR `text` defines for other modules, and those that it needs.

    >>> defined, needed = read_symbols("@a = external global i32\\ndefine i32 @f() { ret i32 0 }")
    >>> defined, needed
    ({'f'}, {'a'})
    """
    defined, needed = set[str](), set[str]()
    for kind, words, name in _FUNCTION.findall(text):
        call = _BECOMES_A_CALL.match(name)
        if call:
            needed.add(call[1])
        elif not name.startswith("llvm.") and not _LOCAL_LINKAGE & set(words.split()):
            external = kind == "declare" or "available_externally" in words
            weak = kind == "declare" and "extern_weak" in words
            (needed if external else defined).update([] if weak else [_unescape(name)])
    for name, definition in _OTHER.findall(text):
        words = set(definition.split()[:4])
        if name.startswith("llvm.") or _LOCAL_LINKAGE & words or "extern_weak" in words:
            continue
        external = words & {"external", "available_externally"}
        (needed if external else defined).add(_unescape(name))
    return defined, needed - defined


def list_copies(text: str) -> set[str]:
    r"""Return the functions of the IR `text` that every module has for itself, such as those of
    templates. Those whose addresses are taken are left out, because addresses can be compared.

    >>> list_copies("define linkonce_odr void @f() { ret void }\ndefine void @g() { ret void }")
    {'f'}
    """
    functions = _FUNCTION.findall(text)
    copies = {name for _, words, name in functions if "linkonce_odr" in words.split()}
    return {_unescape(name) for name in copies.difference(_NOT_CALLED.findall(text))}


def _unescape(name: str) -> str:
    if not name.startswith('"'):
        return name
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name[1:-1]).removeprefix("\1")
