# SPDX-License-Identifier: MIT
"""TRL's trainer plays tasks with a tiny random model: data, tools, rewards and gradients."""

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError
from compiler_gym_agents import find_task

TASK = "fewer-instructions/cbench-v1/crc32"
BETTER = [
    "-O2",
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts>",
]
"""What saves an instruction more than -Oz on this program."""


FOLDER = str(Path(__file__).parents[4])
RECIPE = Path(__file__).parents[5] / "examples" / "grpo" / "train.py"


def library(name: str) -> Any:
    if FOLDER in sys.path:  # there is a folder `datasets` in it, and a library of that name
        sys.path.remove(FOLDER)
        sys.path.append(FOLDER)
    pytest.importorskip("trl", reason="trl is missing: make integrations")
    return importlib.import_module(name)


def training_of(*ids: str) -> Any:
    ours = importlib.import_module("compiler_gym_agents.libraries.trl")
    return ours.TrainingTasks([find_task(id) for id in ids])


def tiny_model() -> tuple[Any, Any]:
    """Return a tokenizer of bytes and a random model of one layer; a script says what it writes."""
    tokenizers, transformers, torch = map(library, ("tokenizers", "transformers", "torch"))
    words = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: number for number, word in enumerate([*words, *letters])}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )  # fmt: skip
    tokenizer.chat_template = library("trl.chat_template_utils").qwen3_chat_template

    class Scripted(transformers.Qwen3ForCausalLM):
        def generate(self, input_ids: Any, **_: Any) -> Any:
            rows: list[Any] = []
            for number, row in enumerate(input_ids):
                read = tokenizer.decode(row)
                made = read.count("<tool_response>")
                first = {"actions": BETTER if number == 0 else ["-O0"]}
                script = [
                    call_of("apply", first), call_of("submit", {"answer": ""}), "<|im_end|>",
                ]  # fmt: skip
                rows.append(torch.tensor(tokenizer.encode(script[min(made, 2)])))
            written = torch.nn.utils.rnn.pad_sequence(
                rows, batch_first=True, padding_value=tokenizer.pad_token_id
            )
            return torch.cat([input_ids, written.to(input_ids.device)], dim=1)

    torch.manual_seed(0)
    config = transformers.Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=1 << 15,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    return tokenizer, Scripted(config)


def call_of(name: str, arguments: dict[str, Any]) -> str:
    written = json.dumps({"name": name, "arguments": arguments})
    return f"<tool_call>\n{written}\n</tool_call><|im_end|>"


def test_there_has_to_be_a_task() -> None:
    with pytest.raises(InvalidParameterError, match="at least one"):
        training_of()


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(EnvironmentNotSupported, match=r"\[trl\]"):
        training_of(TASK).dataset()


@pytest.mark.slow
def test_an_environment_has_the_tools_that_transformers_reads() -> None:
    utils = library("transformers.utils")
    with training_of(TASK) as training:
        environment = training()
        environment.reset(**training.dataset()[0])
        read = utils.get_json_schema(environment.apply)["function"]
        assert read["name"] == "apply"
        assert read["parameters"]["required"] == ["actions"]
        assert read["parameters"]["properties"]["actions"]["type"] == "array"
        assert "-O2" in environment.apply(BETTER)
        assert environment.apply(actions=["nonsense"]).startswith("error")
        assert 0 < environment.get_reward() < 0.1


@pytest.mark.slow
def test_grpo_runs_from_prompts_to_gradients(tmp_path: Path, monkeypatch: Any) -> None:
    """The model is random, so a script says what it calls; all else is the trainer's."""
    trl, torch = library("trl"), library("torch")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    tokenizer, model = tiny_model()
    with training_of(TASK) as training:
        trainer = trl.GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            args=trl.GRPOConfig(
                output_dir=str(tmp_path),
                max_steps=2,
                per_device_train_batch_size=2,
                num_generations=2,
                max_completion_length=3000,
                max_tool_calling_iterations=2,
                learning_rate=1e-2,
                report_to=[],
                use_cpu=True,
                save_strategy="no",
                logging_steps=1,
            ),
            train_dataset=training.dataset(),
            environment_factory=training,
        )
        before = {name: value.detach().clone() for name, value in model.named_parameters()}
        trainer.train()
    logs = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logs) == 2
    assert logs[0]["tools/call_frequency"] == 2
    assert logs[0]["tools/failure_frequency"] == 0
    assert 0 < logs[0]["rewards/CompilerTask/mean"] < 0.1
    assert logs[0]["reward_std"] > 0
    changed = [n for n, v in model.named_parameters() if not torch.equal(v.detach(), before[n])]
    assert changed


@pytest.mark.slow
def test_the_recipe_trains_what_a_folder_of_weights_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a random model writes is no call of a tool, so it earns nothing; all the rest runs."""
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    tokenizer, model = tiny_model()
    for part in (tokenizer, library("transformers").Qwen3ForCausalLM(model.config)):
        part.save_pretrained(tmp_path / "weights")
    spec = importlib.util.spec_from_file_location("grpo_train", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    given = ["--model", str(tmp_path / "weights"), "--output", str(tmp_path / "out")]
    small = "--tasks 2 --steps 1 --generations 2 --batch 2 --calls 1 --tokens 16".split()
    log = recipe.main(recipe.parse([*given, *small]))
    assert [row["reward"] for row in log if "reward" in row] == [0.0]
    assert (tmp_path / "out" / "model" / "model.safetensors").is_file()
