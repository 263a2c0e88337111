"""Build the cross-encoder of the tests: it scores a text by the share of the query that it holds.

    uv run --with onnx==1.23.2 python -m scripts.build_cross_encoder FOLDER

Writes FOLDER/model.onnx, less than 5 kB; the one in the tests was made with

    uv run --with onnx==1.23.2 python -m scripts.build_cross_encoder tests/cross_encoder

Its inputs are those of BERT cross-encoders (input_ids, attention_mask, token_type_ids), so it works
with the tokenizer of the bundled model. Nothing is trained: it counts the tokens of the query,
special ones left out, that are in the text too, and returns

    STEEPNESS * (share - 0.5)

as logit, of shape (pairs, 1). A text with every token of the query has a probability of .98, one
with half of them .5, one with none .02. The same versions give the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

STEEPNESS = 8.0
LAST_SPECIAL = 103
"""Ids up to [MASK] are special or unused in the vocabulary of BERT."""
OPSET, IR_VERSION = 17, 8
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def build() -> ModelProto:
    """Return the model."""
    constants = {
        "last_special": np.array(LAST_SPECIAL, np.int64),
        "zero": np.array(0, np.int64),
        "one": np.array(1.0, np.float32),
        "half": np.array(0.5, np.float32),
        "steepness": np.array(STEEPNESS, np.float32),
        "axis_1": np.array([1], np.int64),
        "axis_2": np.array([2], np.int64),
    }
    nodes = [
        # Which tokens count, as part of the query or of the text.
        _node("Greater", "input_ids", "last_special", to="is_word"),
        _node("Greater", "attention_mask", "zero", to="is_token"),
        _node("And", "is_word", "is_token", to="counts"),
        _node("Equal", "token_type_ids", "zero", to="is_first"),
        _node("Not", "is_first", to="is_second"),
        _node("And", "counts", "is_first", to="in_query"),
        _node("And", "counts", "is_second", to="in_text"),
        # held[p, i]: whether token i of pair p is in the text, (pairs, tokens).
        _node("Unsqueeze", "input_ids", "axis_2", to="rows"),
        _node("Unsqueeze", "input_ids", "axis_1", to="columns"),
        _node("Equal", "rows", "columns", to="is_same"),
        _node("Unsqueeze", "in_text", "axis_1", to="text_columns"),
        _node("And", "is_same", "text_columns", to="is_same_in_text"),
        _node("Cast", "is_same_in_text", to="found", cast=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["found"], ["held"], axes=[2], keepdims=0),
        # The share of the tokens of the query that are held.
        _node("Cast", "in_query", to="asked", cast=TensorProto.FLOAT),
        _node("Mul", "held", "asked", to="held_and_asked"),
        _node("ReduceSum", "held_and_asked", "axis_1", to="number_held"),
        _node("ReduceSum", "asked", "axis_1", to="number_asked"),
        _node("Max", "number_asked", "one", to="divisor"),
        _node("Div", "number_held", "divisor", to="share"),
        _node("Sub", "share", "half", to="centred"),
        _node("Mul", "centred", "steepness", to="logits"),
    ]
    graph = helper.make_graph(
        nodes,
        "share_of_query",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["pairs", "tokens"]) for n in INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", 1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    model.producer_name = "kbx_tui"
    onnx.checker.check_model(model)
    return model


def _node(operator: str, *inputs: str, to: str, cast: int | None = None) -> NodeProto:
    attributes = {} if cast is None else {"to": cast}
    return helper.make_node(operator, inputs, [to], **attributes)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the cross-encoder of the tests.")
    parser.add_argument("folder", type=Path, help="folder to write model.onnx into")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "model.onnx"
    file.write_bytes(build().SerializeToString(deterministic=True))
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
