# SPDX-License-Identifier: MIT
"""Only a compiler that asks about inlining is answered by the policy."""

import os
import threading
from pathlib import Path

from compiler_gym.errors import CompilerGymError
from compiler_gym_foreign.interactive import Pipes
from compiler_gym_inline.llvm import FeaturePolicy
from compiler_gym_inline.llvm.serving import answer_compilers, words_to_ask
from tests.stand_ins import always


def test_clang_gets_the_same_answers_as_opt() -> None:
    plain = words_to_ask(Path("/base"), is_driver=False)
    spelt = words_to_ask(Path("/base"), is_driver=True)
    assert [word for word in spelt if word in plain] == plain
    assert "-inliner-interactive-channel-base=/base" in plain


def test_a_compiler_that_asks_about_something_else_is_refused(tmp_path: Path) -> None:
    said: list[str] = []

    def refuse(error: CompilerGymError) -> float:
        said.append(str(error))
        return 0.0

    with Pipes(tmp_path / "channel") as pipes:
        reading, writing = os.pipe()

        def ask() -> None:
            with open(f"{pipes.base}.in", "rb", 0), open(f"{pipes.base}.out", "wb") as out:
                tensor = b'{"name": "cost", "type": "int64_t", "shape": [1]}'
                out.write(b'{"features": [%b], "advice": %b}\n' % (tensor, tensor))
            os.write(writing, b"x")

        asking = threading.Thread(target=ask)
        asking.start()
        policy = FeaturePolicy.of(always(True))
        answer_compilers(pipes, policy.compilation, wakes=reading, refuse=refuse)
        asking.join()
        os.close(reading)
        os.close(writing)
    assert "needs 39 features, but the compiler sends 1, without sroa_savings" in said[0]
