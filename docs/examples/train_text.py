"""Reinforcement learning on text: a small transformer learns CollabEscape from what its seat reads, beside ``greedy``.

    python docs/examples/train_text.py --out runs/text.csv

A short supervised warm start on chats of a scripted policy, then policy gradients with group-relative advantages: each
group plays one seed several times, and an episode counts by how much it is better than its group. Needs torch.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from collab_overcooked.adapters.seat_client import SeatClient, Turn
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.export.chats import record_chats

SUITE, TEAM = "collab-escape", "agent_0=llm:trained?agent=choose agent_1=greedy"
LENGTH, ANSWERS = 192, 10  # tokens of a question, numbers that can be answered
TRAINING, TESTING = 1_000_000, 2_000_000  # first seeds; the suite's own are not used
Messages = Sequence[dict[str, str]]


class Tokenizer:
    """Word ids of the questions, without the rules, which are the same in all of them."""

    def __init__(self, chats: Sequence[Messages]) -> None:
        texts = {token for chat in chats for token in self.split(chat)}
        self.ids = {token: number for number, token in enumerate(sorted(texts), start=2)}  # 0 pads, 1 is unknown

    @staticmethod
    def split(messages: Messages) -> list[str]:
        return re.findall(r"\w+", " ".join(message["content"] for message in messages[1:]))

    def __call__(self, messages: Messages) -> torch.Tensor:
        tokens = [self.ids.get(token, 1) for token in self.split(messages)][-LENGTH:]
        return torch.tensor(tokens + [0] * (LENGTH - len(tokens)))


class Transformer(nn.Module):
    """Reads a question and returns the logits of the numbers 1 to ``ANSWERS``."""

    def __init__(self, vocabulary: int, width: int = 64) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width, padding_idx=0)
        self.places = nn.Parameter(torch.randn(LENGTH, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, ANSWERS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        longest = int((tokens > 0).sum(1).max())
        tokens = tokens[:, :longest]
        hidden = self.layers(self.tokens(tokens) + self.places[:longest], src_key_padding_mask=tokens == 0)
        present = (tokens > 0).unsqueeze(-1)
        return self.head((hidden * present).sum(1) / present.sum(1))


@dataclass
class Episode:
    """Questions and answers of the seat, and the outcome from 0 to 1."""

    questions: list[torch.Tensor] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    outcome: float = 0.0


def play(
    model: Transformer, tokenizer: Tokenizer, clients: Sequence[SeatClient], seeds: Sequence[int]
) -> list[Episode]:
    """Play one episode per client; the questions of all of them are answered together."""
    turns: list[Turn] = [client.start(seed) for client, seed in zip(clients, seeds, strict=True)]
    episodes = [Episode() for _ in turns]
    while running := [i for i, turn in enumerate(turns) if not turn.done]:
        questions = torch.stack([tokenizer(turns[i].messages) for i in running])
        with torch.no_grad():
            answers = torch.distributions.Categorical(logits=model(questions)).sample().tolist()
        for i, question, answer in zip(running, questions, answers, strict=True):
            episodes[i].questions.append(question)
            episodes[i].answers.append(answer)
            turns[i] = clients[i].step(f'{{"action": {answer + 1}}}')
            if turns[i].done:
                episodes[i].outcome = turns[i].reward
    return episodes


def warm_start(model: Transformer, questions: torch.Tensor, answers: torch.Tensor, epochs: int) -> None:
    """Imitate the chats."""
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(answers)).split(64):
            loss = cross_entropy(model(questions[rows]), answers[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def update(model: Transformer, optimizer: torch.optim.Optimizer, episodes: Sequence[Episode], group: int) -> None:
    """Make the answers of episodes that are better than their group likelier, by one step."""
    outcomes = torch.tensor([episode.outcome for episode in episodes]).view(-1, group)
    spread = outcomes.std(1, keepdim=True)
    advantages = ((outcomes - outcomes.mean(1, keepdim=True)) / (spread + 0.1)).flatten()
    questions = torch.stack([question for episode in episodes for question in episode.questions])
    answers = torch.tensor([answer for episode in episodes for answer in episode.answers])
    weights = torch.cat([advantages[i].repeat(len(episode.answers)) for i, episode in enumerate(episodes)])
    chosen = torch.distributions.Categorical(logits=model(questions))
    loss = -(weights * chosen.log_prob(answers)).mean() - 0.01 * chosen.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def train(options: argparse.Namespace) -> Iterator[tuple[int, int, float, float]]:
    """Yield iteration, episodes played, and mean outcome of training and of test episodes."""
    torch.manual_seed(options.seed)
    plan = plan_evaluation(SUITE, [f"all={options.teacher}"], episodes=options.warm, seed=TRAINING + options.seed)
    chats = [chat["messages"] for chat in record_chats(record for match in plan.matches for record in match.run())]
    tokenizer = Tokenizer(chats)
    model = Transformer(len(tokenizer.ids) + 2)
    answers = torch.tensor([int(re.findall(r"\d+", chat[-1]["content"])[0]) - 1 for chat in chats])
    warm_start(model, torch.stack([tokenizer(chat[:-1]) for chat in chats]), answers, options.epochs)
    optimizer = torch.optim.Adam(model.parameters(), 5e-4)
    clients = [SeatClient.of_suite(SUITE, TEAM, episodes=1) for _ in range(max(options.batch, options.tests))]
    seeds = range(TESTING, TESTING + options.tests)
    seed, learned = TRAINING * (3 + options.seed), float("nan")
    for iteration in range(options.iterations + 1):
        if iteration % options.every == 0:
            tested = play(model, tokenizer, clients[: options.tests], seeds)
            mean = sum(episode.outcome for episode in tested) / len(tested)
            yield iteration, iteration * options.batch, learned, mean
        groups = [seed + number // options.group for number in range(options.batch)]
        seed = groups[-1] + 1
        episodes = play(model, tokenizer, clients[: options.batch], groups)
        learned = sum(episode.outcome for episode in episodes) / len(episodes)
        update(model, optimizer, episodes, options.group)
    for client in clients:
        client.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train from the command line."""
    parser = argparse.ArgumentParser(description="Train a small transformer on the texts of CollabEscape.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of weights, chats and episodes.")
    parser.add_argument("--teacher", default="greedy", help="Policy of the chats.")
    parser.add_argument("--warm", type=int, default=50, help="Episodes of the chats.")
    parser.add_argument("--epochs", type=int, default=4, help="Epochs of the warm start.")
    parser.add_argument("--iterations", type=int, default=60, help="Updates by policy gradients.")
    parser.add_argument("--batch", type=int, default=32, help="Episodes per update, a multiple of --group.")
    parser.add_argument("--group", type=int, default=8, help="Episodes per seed.")
    parser.add_argument(
        "--tests", type=int, default=100, help="Episodes per test, on seeds that training does not use."
    )
    parser.add_argument("--every", type=int, default=10, help="Updates between tests.")
    parser.add_argument("--out", type=Path, help="CSV file.")
    options = parser.parse_args(arguments)
    rows = []
    for iteration, episodes, learned, tested in train(options):
        rows.append([options.seed, iteration, episodes, f"{learned:.3f}", f"{tested:.3f}"])
        print(f"update {iteration:4d}  episodes {episodes:5d}  training {learned:.2f}  test {tested:.2f}", flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("w", newline="") as file:
            csv.writer(file).writerows([["seed", "update", "episodes", "training", "test"], *rows])


if __name__ == "__main__":
    main()
