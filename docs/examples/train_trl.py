"""Train a language model on games with TRL: a warm start on exported conversations, then GRPO in the games.

    python docs/examples/train_trl.py warm MODEL runs/chats/chats.jsonl --out runs/warm
    python docs/examples/train_trl.py train runs/warm --games collab-escape --out runs/trained

Needs trl 1.16.0, and a model whose chat template has calls of tools that TRL can read, such as Qwen3's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from collab_overcooked.adapters.rewards import RewardKind
from collab_overcooked.adapters.trl import TrainingSeat, training_rows

FIRST_SEED = 1_000_000  # of training; the seeds of suites are others


def warm(options: argparse.Namespace) -> SFTTrainer:
    """Imitate conversations: only the tokens of answers are learnt."""
    tokenizer, model = load(options.model)
    act = json.dumps([get_json_schema(TrainingSeat.act)])  # the tool as the environment shows it
    rows = []
    for line in options.chats.read_text("utf-8").splitlines():
        rows.append({"messages": json.loads(line)["messages"], "tools": act})
    config = SFTConfig(
        output_dir=str(options.out),
        max_steps=options.updates,
        per_device_train_batch_size=options.batch,
        learning_rate=options.rate,
        max_length=options.tokens,
        assistant_only_loss=True,
        **common(options),
    )
    return SFTTrainer(model, config, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)


def train(options: argparse.Namespace) -> GRPOTrainer:
    """Reinforce in all games in turn: each row is played several times, and a rollout counts against its group."""
    tokenizer, model = load(options.model)
    seeds = range(FIRST_SEED + options.seed, FIRST_SEED + options.seed + options.episodes)
    games = []
    for game in options.games:
        rows = training_rows(game, seeds=seeds, reward=options.reward, turns=options.turns, episodes=1)
        games.append(rows[: options.episodes])
    mixed = [row for rows in zip(*games, strict=True) for row in rows]
    config = GRPOConfig(
        output_dir=str(options.out),
        max_steps=options.updates,
        per_device_train_batch_size=options.group,
        gradient_accumulation_steps=options.batch // options.group,
        num_generations=options.group,
        max_completion_length=options.tokens,
        learning_rate=options.rate,
        temperature=options.temperature,
        shuffle_dataset=False,
        **common(options),
    )
    return GRPOTrainer(
        model,
        args=config,
        train_dataset=Dataset.from_list(mixed),
        processing_class=tokenizer,
        environment_factory=TrainingSeat,
    )


def load(name: str) -> tuple[AutoTokenizer, AutoModelForCausalLM]:
    """Return the tokenizer and the model of a folder or a name on the Hub."""
    return AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name)


def common(options: argparse.Namespace) -> dict[str, object]:
    """Return settings of both trainers."""
    return {
        "seed": options.seed,
        "lr_scheduler_type": "constant",
        "logging_steps": 1,
        "save_strategy": "no",
        "bf16": torch.cuda.is_available(),
        "report_to": "none",
    }


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    commands = argparse.ArgumentParser(description="Train a language model on games with TRL.")
    kinds = commands.add_subparsers(required=True)
    for function, tokens, updates, rate in ((warm, 8192, 200, 1e-5), (train, 4096, 100, 1e-6)):
        one = kinds.add_parser(function.__name__, help=function.__doc__)
        one.set_defaults(function=function)
        one.add_argument("model", help="Folder of the model, or its name on the Hub.")
        one.add_argument("--out", type=Path, required=True, help="Folder of the trained model.")
        one.add_argument("--seed", type=int, default=0, help="Seed of the trainer and of the episodes.")
        one.add_argument("--updates", type=int, default=updates, help="Updates of the weights.")
        one.add_argument("--batch", type=int, default=16, help="Conversations or rollouts per update.")
        one.add_argument("--tokens", type=int, default=tokens, help="Longest conversation, or budget of a rollout.")
        one.add_argument("--rate", type=float, default=rate, help="Learning rate.")
        if function is warm:
            one.add_argument("chats", type=Path, help="File of conversations, from export chat --conversations.")
        else:
            one.add_argument("--games", nargs="+", default=["collab-escape"], help="Suites.")
            one.add_argument("--reward", choices=get_args(RewardKind), default="normalized", help="See SeatClient.")
            one.add_argument("--turns", type=int, help="Answers after which an episode is cut.")
            one.add_argument("--group", type=int, default=8, help="Rollouts per row; --batch is a multiple of it.")
            one.add_argument("--episodes", type=int, default=64, help="Rows of each game.")
            one.add_argument("--temperature", type=float, default=1.0, help="Of rollouts; equal ones teach nothing.")
    return commands


def main(arguments: Sequence[str] | None = None) -> None:
    """Train from the command line, and save the model."""
    options = parser().parse_args(arguments)
    trainer = options.function(options)
    trainer.train()
    trainer.save_model(str(options.out))


if __name__ == "__main__":
    main()
