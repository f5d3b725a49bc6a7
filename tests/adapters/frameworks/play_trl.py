"""Run the commands of the page on training with TRL on a tiny model; prints what was checked as JSON.

The model has random weights and a tokenizer trained on the exported chats: nothing is downloaded. Its warm start
teaches it the form of calls, so that its rollouts have several turns.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import os
import re
import shlex
import sys
from collections import defaultdict
from pathlib import Path

import torch
import trl
from support.cli_runner import CliRunner
from support.endpoints import Says, serving
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback

from collab_overcooked.adapters.trl import TrainingSeat
from collab_overcooked.cli import app

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "how_to" / "language_training.md"
TINY = {
    "warm": "--updates 100 --batch 4 --rate 5e-3 --tokens 1600",
    "train": "--updates 2 --batch 8 --group 4 --rate 1e-3 --episodes 4 --tokens 2048",
    "compare": "--set collab-escape.max_cycles=3 --episodes 2 --max-unusable 0",
    "evaluate": "--episodes 8",
}
MARKS = ["<|im_end|>", "<|im_start|>", "<pad>", "<tool_call>", "</tool_call>"]
SPECIAL = MARKS[:3]


def commands() -> list[list[str]]:
    """Return the commands of the page, in their order, with tiny budgets."""
    lines = re.findall(r"^\$ (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    return [shlex.split(line) for line in lines]


def tiny(words: list[str]) -> list[str]:
    """Return a command with its tiny budget instead of its own."""
    budget = shlex.split(TINY.get(words[0], ""))
    for name in budget[::2]:
        if name in words:
            place = words.index(name)
            words = words[:place] + words[place + 2 :]
    return [*words, *budget]


def run(words: list[str]) -> None:
    """Run a command of the package with its tiny budget."""
    done = CliRunner().invoke(app, tiny(words))
    assert done.exit_code == 0, f"{words}\n{done.output[-3000:]}"


def make_model(chats: Path, out: Path) -> None:
    """Write a model with random weights, and a tokenizer whose words are those of the chats."""
    texts = []
    for line in chats.read_text("utf-8").splitlines():
        for message in json.loads(line)["messages"]:
            texts += [message["content"], json.dumps(message.get("tool_calls", ""))]
    words = Tokenizer(models.BPE())
    words.pre_tokenizer, words.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    words.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=1500, special_tokens=SPECIAL, initial_alphabet=alphabet)
    )
    words.add_tokens(MARKS[3:])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token=MARKS[0], pad_token=MARKS[2])
    template = Path(trl.__file__).with_name("chat_templates") / "qwen3_instruct_2507.jinja"
    tokenizer.chat_template = template.read_text("utf-8")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=16_384,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(out)
    tokenizer.save_pretrained(out)


class Gradients(TrainerCallback):
    """Norms of the gradients of each update."""

    def __init__(self) -> None:
        self.norms: list[float] = []

    def on_pre_optimizer_step(self, args, state, control, model=None, **others):
        squares = sum(float((weights.grad**2).sum()) for weights in model.parameters() if weights.grad is not None)
        self.norms.append(math.sqrt(squares))


class WatchedSeat(TrainingSeat):
    """A seat that keeps what it returned."""

    @functools.wraps(TrainingSeat.reset)
    def reset(self, *args, **row):
        self.row, self.said = row, []
        return super().reset(*args, **row)

    @functools.wraps(TrainingSeat.act)
    def act(self, action: str) -> str:
        self.said.append(super().act(action))
        return self.said[-1]


class Watched(trl.GRPOTrainer):
    """A trainer that checks each rollout against what the model generated and what the seat said."""

    def __init__(self, *args, **others) -> None:
        super().__init__(*args, **others)
        self.generated, self.rollouts = defaultdict(list), []

    def _generate_single_turn(self, prompt_ids, *args, **others):
        result = super()._generate_single_turn(prompt_ids, *args, **others)
        for prompt, answer in zip(prompt_ids, result[0], strict=True):
            self.generated[tuple(prompt)].append(list(answer))
        return result

    def _calculate_rewards(self, *args, **others):
        self.paid = super()._calculate_rewards(*args, **others)
        # A tiny model earns alike in a group, so every other rollout of the second update earns one more
        extra = torch.arange(len(self.paid), device=self.paid.device)[:, None] % 2
        return self.paid + extra * self.state.global_step

    def _generate_and_score_completions(self, inputs):
        self.generated.clear()
        output = super()._generate_and_score_completions(inputs)
        for number, seat in enumerate(self.environments):
            row = {name: output[name][number] for name in ("prompt_ids", "prompt_mask", "completion_ids")}
            mask = output["completion_mask"][number].bool()
            prompt = row["prompt_ids"][row["prompt_mask"].bool()].tolist()
            tokens = row["completion_ids"][mask].tolist()
            own = output["tool_mask"][number][mask].tolist()
            said = self._check_mask(prompt, tokens, own)
            shown, place = "".join(said), 0
            for text in seat.said[: -1 if seat.truncated else None]:  # the budget may leave out the last one
                place = shown.find(text, place)
                assert place >= 0, "what the seat says is masked as a whole"
            self.rollouts.append(
                {
                    "suite": seat.row["suite"],
                    "rewards": seat.rewards,
                    "paid": float(self.paid[number].nansum()),
                    "truncated": seat.truncated,
                    "unusable": seat.unusable,
                    "calls": len(seat.said),
                    "own": sum(own),
                    "tokens": len(tokens),
                }
            )
        return output

    def _check_mask(self, prompt: list[int], tokens: list[int], own: list[int]) -> list[str]:
        """Check that the trained tokens are the generated ones; returns the texts between."""
        between, place = [], 0
        while place < len(tokens):
            end = place
            while end < len(tokens) and own[end] == own[place]:
                end += 1
            piece = tokens[place:end]
            if own[place]:
                answers = self.generated[tuple(prompt + tokens[:place])]
                is_cut = end == len(tokens) == self.max_completion_length
                assert piece in answers or (is_cut and any(answer[: len(piece)] == piece for answer in answers))
            else:
                between.append(self._tokenizer.decode(piece))
            place = end
        return between


def play_example(example, words: list[str]):
    """Run a command of the example; returns its trainer after training."""
    options = example.parser().parse_args(words)
    trainer = options.function(options)
    gradients = Gradients()
    trainer.add_callback(gradients)
    trainer.train()
    trainer.save_model(str(options.out))
    return trainer, gradients.norms


def cut_by_tokens(trainer: Watched) -> list[dict]:
    """Return rollouts whose budget of tokens ends in the middle of the second question."""
    trainer.max_completion_length = trainer.generation_config.max_new_tokens = 60
    trainer.rollouts = []
    rows = [trainer.train_dataset[0]] * trainer.num_generations
    trainer._generate_and_score_completions(rows)
    return trainer.rollouts


def answering(folder: str):
    """Return the script of an endpoint at which a trained model answers."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(folder)
    tokenizer = trl.chat_template_utils.add_response_schema(tokenizer)

    def answer(asked: dict) -> Says:
        ids = tokenizer.apply_chat_template(
            asked["messages"], tools=asked["tools"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with torch.no_grad():
            full = model.generate(**ids, max_new_tokens=60, do_sample=False)[0].tolist()
        parsed = trl.chat_template_utils.parse_response(tokenizer, full[ids["input_ids"].shape[1] :])
        calls = []
        for number, call in enumerate(parsed.get("tool_calls") or ()):
            function = {"name": call["function"]["name"], "arguments": json.dumps(call["function"]["arguments"])}
            calls.append({"id": f"call_{number}", "type": "function", "function": function})
        body = json.loads(Says(parsed["content"]).bytes())
        body["choices"][0]["message"] |= {"tool_calls": calls} if calls else {}
        return Says(body=json.dumps(body))

    return answer


def main() -> None:
    """Run all commands of the page in the working folder."""
    spec = importlib.util.spec_from_file_location("train_trl", ROOT / "docs" / "examples" / "train_trl.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.GRPOTrainer, example.TrainingSeat = Watched, WatchedSeat
    result: dict = {}
    for program, *words in commands():
        if program == "python":
            kind = words[1]
            if kind == "warm":
                make_model(Path(words[3]), Path("tiny"))
                words[2] = "tiny"
            trainer, norms = play_example(example, tiny(words[1:]))
            result[kind] = {
                "norms": norms,
                "losses": [log["loss"] for log in trainer.state.log_history if "loss" in log],
            }
            if kind == "train":
                result["rollouts"], out = trainer.rollouts, words[words.index("--out") + 1]
                result["cut"] = cut_by_tokens(trainer)
        elif program == "collab-overcooked" and words[0] == "compare":
            with serving(answering(out)) as server:
                url = next(word for word in words if word.startswith("http"))
                run([server.url if word == url else word for word in words])
                result["asked"] = len(server.asked)
            board = words[words.index("--out") + 1]
            result["board"] = Path(board, "report.md").read_text("utf-8")
        elif program == "collab-overcooked":
            run(words)
    print(json.dumps(result))


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    os.environ["OPENAI_API_KEY"] = "sk-local-0123456789"
    main()
