"""Train the bundled pair model: from the weights of the embedding model to weights to export.

    python -m scripts.pair_model.train run FOLDER --wheel MINILM.whl --pairs PAIRS.tsv.gz \
        --generated GENERATED.tsv ... [--leave-out SOURCE ...] [--seed 13] [--minutes 60]
    python -m scripts.pair_model.train average WEIGHTS RUN_FOLDER ...
    python -m scripts.pair_model.train measure WEIGHTS PAIRS.tsv

README.md in this folder has the commands that made the bundled model, and what has to be installed.

`run` uses a GPU if there is one. Every 200 steps, and when its minutes are over, it writes a
checkpoint; the same command continues there and ends with the same weights as if it had not been
interrupted. `--pairs` has columns a, b, label and source; `WEIGHTS` below says how often a pair of
a source is drawn, and `SHARE_ALIKE` which sources are left out.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from kbx_tui.embedding.cross_encoder import LABELS
from scripts.pair_model.network import (
    PairNetwork,
    Tokens,
    inputs_of,
    open_tokenizer,
    pretrained,
    tokens_of,
)
from scripts.pair_model.tables import Row, read_rows

WEIGHTS = {
    "cncf_landscape": 0.4,
    "cncf_maintainers": 1.2,
    "congress_legislators": 0.5,
    "clcd": 0.3,
    "dotgov": 0.4,
    "endoflife": 0.3,
    "govuk_repos": 0.6,
    "handbook_edits": 0.8,
    "k8s_community_dev": 3.0,
    "mquake_hard": 1.5,
    "otel_sigs": 3.0,
    "proposals": 0.5,
    "real_changes_told": 1.5,
    "research_deadlines": 0.5,
    "sourcegraph_team": 2.0,
    "tech_conferences": 0.5,
}
"""How often a pair of a source is drawn in an epoch; once unless named. Real changes more often."""

SHARE_ALIKE = {
    *("breaking_nli", "cad_nli", "condaqa", "conjnli", "e2e_clean", "fever_symmetric", "help"),
    *("med", "pararel_dev", "scone", "snli", "tabfact"),
}
"""Sources with share-alike text: none is needed, see the model card."""

WARM_UP = 200
"""Steps until the learning rate is reached; then it falls to a hundredth in a line."""
CHECKPOINT = 200
"""Steps from one checkpoint to the next."""
SORTED_TOGETHER = 50
"""Batches whose pairs are sorted by length together, so that batches need little padding."""


@dataclass(frozen=True)
class Example:
    first: Tokens
    second: Tokens
    label: int
    weight: float

    @property
    def length(self) -> int:
        return len(self.first) + len(self.second)


def read_examples(paths: Sequence[Path], left_out: set[str]) -> list[Example]:
    rows = [row for path in paths for row in read_rows(path) if row.source not in left_out]
    tokens = tokens_of(open_tokenizer(), [text for row in rows for text in (row.a, row.b)])
    return [
        Example(first, second, LABELS.index(row.label), WEIGHTS.get(row.source, 1.0))
        for row, first, second in zip(rows, tokens[::2], tokens[1::2], strict=True)
    ]


def plan_batches(
    examples: Sequence[Example], options: argparse.Namespace
) -> list[NDArray[np.int64]]:
    """Return the batches of all epochs as rows of ``examples``."""
    random = np.random.default_rng(options.seed)
    weights = np.array([example.weight for example in examples])
    lengths = np.array([example.length for example in examples])
    batches: list[NDArray[np.int64]] = []
    for _ in range(options.epochs):
        times = np.floor(weights).astype(int) + (random.random(len(weights)) < weights % 1)
        drawn = random.permutation(np.repeat(np.arange(len(weights)), times))
        for start in range(0, len(drawn), SORTED_TOGETHER * options.batch):
            block = drawn[start : start + SORTED_TOGETHER * options.batch]
            block = block[np.argsort(lengths[block], kind="stable")]
            parts = np.split(block, range(options.batch, len(block), options.batch))
            batches += [parts[number] for number in random.permutation(len(parts))]
    return batches


class Training:
    """A network, its optimizer and how many steps they have taken."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        left_out = {*options.leave_out, *SHARE_ALIKE}
        self.examples = read_examples([options.pairs, *options.generated], left_out)
        self.batches = plan_batches(self.examples, options)
        self.network = pretrained(options.wheel).to(self.device)
        self.trained = [weight for weight in self.network.parameters() if weight.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trained, lr=options.rate, weight_decay=0.01)
        self.step = 0

    @property
    def checkpoint(self) -> Path:
        return Path(self.options.folder) / "checkpoint.pt"

    @property
    def settings(self) -> dict[str, float]:
        """What must be the same when training goes on."""
        names = ("batch", "epochs", "rate", "seed")
        return {name: getattr(self.options, name) for name in names} | {
            "pairs": len(self.examples),
            "steps": len(self.batches),
        }

    def load(self) -> None:
        if not self.checkpoint.exists():
            return
        state = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
        if state["settings"] != self.settings:
            raise SystemExit(
                f"{self.checkpoint} was made with {state['settings']}, not {self.settings}: "
                "name another folder"
            )
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]

    def save(self) -> None:
        state = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "settings": self.settings,
            "step": self.step,
        }
        unfinished = self.checkpoint.with_suffix(".new")
        torch.save(state, unfinished)
        unfinished.replace(self.checkpoint)

    def run(self) -> bool:
        """Train until the minutes are over; return whether all steps are taken."""
        self.network.train()
        end = time.monotonic() + 60 * self.options.minutes
        losses = torch.zeros((), device=self.device)
        began, since = time.monotonic(), self.step
        while self.step < len(self.batches) and time.monotonic() < end:
            losses += self.learn(self.batches[self.step])
            self.step += 1
            if self.step % CHECKPOINT == 0:
                self.save()
                loss = losses.item() / (self.step - since)
                pace = (time.monotonic() - began) / (self.step - since)
                print(f"step {self.step}/{len(self.batches)}: loss {loss:.3f}, {pace:.2f} s a step")
                began, since = time.monotonic(), self.step
                losses.zero_()
        self.save()
        return self.step == len(self.batches)

    def learn(self, rows: NDArray[np.int64]) -> Tensor:
        """Take one step. All that is random in it follows from the seed and its number."""
        torch.manual_seed(self.options.seed * len(self.batches) + self.step)
        swapped = np.random.default_rng((self.options.seed, self.step)).random(len(rows)) < 0.5
        examples = [self.examples[row] for row in rows]
        pairs = [
            (example.second, example.first) if swap else (example.first, example.second)
            for example, swap in zip(examples, swapped, strict=True)
        ]
        labels = torch.tensor([example.label for example in examples], device=self.device)
        on_gpu = self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=on_gpu):
            logits = self.network(*inputs_of(pairs, self.device))
        loss = nn.functional.cross_entropy(logits.float(), labels, label_smoothing=0.05)
        done = self.step / len(self.batches)
        for group in self.optimizer.param_groups:
            group["lr"] = (
                self.options.rate * min((self.step + 1) / WARM_UP, 1) * max(1 - done, 0.01)
            )
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        return loss.detach()


def run(options: argparse.Namespace) -> None:
    if options.threads:
        torch.set_num_threads(options.threads)
    options.folder.mkdir(parents=True, exist_ok=True)
    training = Training(options)
    training.load()
    print(f"{len(training.examples)} pairs, {training.step} of {len(training.batches)} steps taken")
    if not training.run():
        print(f"{training.step} of {len(training.batches)} steps taken: run it again to go on")
        return
    state = {name: weight.cpu() for name, weight in training.network.state_dict().items()}
    save_file(state, options.folder / "weights.safetensors")


def average(options: argparse.Namespace) -> None:
    """Write the mean of the weights of runs that differ in nothing but their seed."""
    states = [load_file(folder / "weights.safetensors") for folder in options.runs]
    mean = {name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]}
    save_file(mean, options.weights)


def probabilities(network: PairNetwork, rows: Sequence[Row]) -> NDArray[np.float32]:
    """Return the probabilities of `LABELS`, shape (rows, 4)."""
    tokens = tokens_of(open_tokenizer(), [text for row in rows for text in (row.a, row.b)])
    pairs = list(zip(tokens[::2], tokens[1::2], strict=True))
    order = sorted(range(len(pairs)), key=lambda row: len(pairs[row][0]) + len(pairs[row][1]))
    found = np.zeros((len(pairs), len(LABELS)), np.float32)
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            inputs = inputs_of([pairs[row] for row in part], torch.device("cpu"))
            found[part] = network(*inputs).softmax(-1).numpy()
    return found


def measure(options: argparse.Namespace) -> None:
    """Print accuracy and F1 of conflicts for each source of labelled pairs."""
    network = PairNetwork().eval()
    network.load_state_dict(load_file(options.weights))
    rows = list(read_rows(options.pairs))
    outcomes = defaultdict[str, list[tuple[str, str]]](list)
    for row, label in zip(rows, probabilities(network, rows).argmax(axis=1), strict=True):
        for group in ("all", row.source):
            outcomes[group].append((row.label, LABELS[label]))
    for name, pairs in outcomes.items():
        right = sum(true == found for true, found in pairs)
        hits = pairs.count(("conflict", "conflict"))
        mentions = sum((true == "conflict") + (found == "conflict") for true, found in pairs)
        f1 = 2 * hits / mentions if mentions else math.nan
        print(f"{name:20} {len(pairs):6} pairs: accuracy {right / len(pairs):.3f}, F1 {f1:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    train = commands.add_parser("run", help="train, or go on")
    train.set_defaults(function=run)
    train.add_argument("folder", type=Path, help="holds the checkpoint and, at the end, weights")
    train.add_argument("--wheel", type=Path, required=True, help="see scripts/build_model.py")
    train.add_argument("--pairs", type=Path, required=True, help="labelled pairs with sources")
    train.add_argument("--generated", type=Path, nargs="*", default=[], help="generated pairs")
    train.add_argument("--leave-out", nargs="*", default=[], metavar="SOURCE")
    train.add_argument("--epochs", type=int, default=2)
    train.add_argument("--batch", type=int, default=128)
    train.add_argument("--rate", type=float, default=2.5e-4)
    train.add_argument("--seed", type=int, default=13, help="of the order of pairs")
    train.add_argument("--minutes", type=float, default=math.inf, help="stop after")
    train.add_argument("--threads", type=int, help="on a CPU")
    mean = commands.add_parser("average", help="the mean of the weights of runs")
    mean.set_defaults(function=average)
    mean.add_argument("weights", type=Path)
    mean.add_argument("runs", type=Path, nargs="+")
    table = commands.add_parser("measure", help="accuracy and F1 by source")
    table.set_defaults(function=measure)
    table.add_argument("weights", type=Path)
    table.add_argument("pairs", type=Path)
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
