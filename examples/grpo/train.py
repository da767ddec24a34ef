# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false
# TRL and PyTorch have no types for much of what they give, and may not be installed:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Train a language model to optimise programs, with TRL's GRPO: give it weights and a card.

    pip install 'compiler-gym-next[trl]'
    python examples/grpo/train.py --model Qwen/Qwen2.5-0.5B-Instruct --output runs/grpo

A model of 0.5 to 1.5 billion parameters that calls tools is meant. ``--model`` may be a folder.
Progress is in the output folder, and a run that was stopped goes on with ``--resume``.
"""

import argparse
import json
from pathlib import Path

import torch
from trl import GRPOConfig, GRPOTrainer

from compiler_gym_agents import tasks
from compiler_gym_agents.libraries.trl import TrainingTasks


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", required=True, help="weights: a folder, or a name of the hub")
    parser.add_argument("--output", type=Path, default=Path("runs/grpo"))
    parser.add_argument("--family", default="fewer-instructions", help="the family of tasks")
    parser.add_argument("--difficulty", default="easy", help="easy, medium or hard")
    parser.add_argument("--tasks", type=int, default=None, help="how many, all by default")
    parser.add_argument("--steps", type=int, default=500, help="updates")
    parser.add_argument("--generations", type=int, default=8, help="episodes of a task")
    parser.add_argument("--batch", type=int, default=8, help="episodes at once; more memory")
    parser.add_argument("--calls", type=int, default=12, help="rounds of calls in an episode")
    parser.add_argument("--tokens", type=int, default=4096, help="of an episode, answers included")
    parser.add_argument("--rate", type=float, default=1e-6, help="the learning rate")
    parser.add_argument("--vllm", action="store_true", help="generate with vLLM on the same card")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    return parser.parse_args(arguments)


def main(options: argparse.Namespace) -> list[dict[str, float]]:
    chosen = tasks("train", options.family, options.difficulty)[: options.tasks]
    config = GRPOConfig(
        output_dir=str(options.output),
        max_steps=options.steps,
        learning_rate=options.rate,
        num_generations=options.generations,
        per_device_train_batch_size=options.batch,
        gradient_accumulation_steps=max(1, options.generations // options.batch),
        max_completion_length=options.tokens,
        max_tool_calling_iterations=options.calls,
        use_vllm=options.vllm,
        vllm_mode="colocate",
        use_cpu=not torch.cuda.is_available(),  # slow: for a trial
        save_steps=50,
        logging_steps=1,
        report_to=[],
    )
    with TrainingTasks(chosen) as training:
        trainer = GRPOTrainer(
            model=options.model,
            args=config,
            train_dataset=training.dataset(),
            environment_factory=training,
        )
        trainer.train(resume_from_checkpoint=options.resume or None)
    trainer.save_model(str(options.output / "model"))
    (options.output / "log.json").write_text(json.dumps(trainer.state.log_history, indent=1))
    return trainer.state.log_history


if __name__ == "__main__":
    main(parse())
