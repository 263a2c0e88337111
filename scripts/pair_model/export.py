"""Write trained weights as the ONNX file that the package bundles, with int8 weights.

    python -m scripts.pair_model.export WEIGHTS.safetensors model.onnx

Weight matrices have one scale per output, tables one per row. What a matrix is multiplied with is
quantised with one scale per token: the result of a pair then depends on no other pair of its batch,
as it would with DynamicQuantizeLinear, which has one scale for the whole batch.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.version_converter import convert_version
from safetensors.torch import load_file
from torch import Tensor, nn

from scripts.build_model import OPSET, VOCABULARY, to_int8
from scripts.pair_model.network import HIDDEN, POSITIONS, PairNetwork

INPUTS, OUTPUT = ("input_ids", "token_kinds"), "probabilities"


class Projection(nn.Module):
    """A linear layer as MatMul and Add; as nn.Linear it would be exported as Gemm."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(linear.weight.T.contiguous())
        self.bias = linear.bias

    def forward(self, states: Tensor) -> Tensor:
        return states @ self.weight + self.bias


class Probabilities(nn.Module):
    """What is exported: the mask is where tokens are, and logits become probabilities."""

    def __init__(self, network: PairNetwork) -> None:
        super().__init__()
        self.network = network
        network.hidden = Projection(network.hidden)

    def forward(self, input_ids: Tensor, token_kinds: Tensor) -> Tensor:
        logits: Tensor = self.network(input_ids, (input_ids != 0).long(), token_kinds)
        return logits.softmax(-1)


def export(network: PairNetwork, path: Path) -> onnx.ModelProto:
    """Return the network as fp32 ONNX with dynamic pair and token counts, exported to ``path``."""
    example = torch.ones(2, 9, dtype=torch.int64)
    torch.onnx.export(
        Probabilities(network.eval()),
        (example, torch.zeros_like(example)),
        path,
        dynamo=False,
        opset_version=17,
        input_names=list(INPUTS),
        output_names=[OUTPUT],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in INPUTS} | {OUTPUT: {0: "pairs"}},
    )
    return onnx.load(path)


class Quantiser:
    """Rewrites a graph node by node."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.stored = {tensor.name: tensor for tensor in graph.initializer}
        self.nodes: list[onnx.NodeProto] = []
        self.quantised: dict[str, str] = {}
        """Inputs of matrices that are quantised already, and what their tensors are called."""
        self.store("last_axis", np.array([-1]))
        self.store("per_step", np.array(1 / 127, np.float32))
        self.store("least_scale", np.array(1e-9, np.float32))
        self.store("one", np.array(1, np.float32))
        self.store("zero_point", np.array(128, np.uint8))

    def store(self, name: str, values: NDArray[np.generic]) -> str:
        self.stored[name] = numpy_helper.from_array(values, name)
        return name

    def add(self, operator: str, inputs: list[str], output: str, **attributes: int) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def run(self) -> None:
        for node in self.graph.node:
            node.doc_string = ""
            shape = self._shape(node)
            if node.op_type == "MatMul" and len(shape) == 2 and shape[0] >= HIDDEN:
                self._matrix(node)
            elif node.op_type == "Gather" and shape in ((VOCABULARY, HIDDEN), (POSITIONS, HIDDEN)):
                self._table(node)
            else:
                self.nodes.append(node)
        used = {name for node in self.nodes for name in node.input}
        del self.graph.node[:], self.graph.initializer[:]
        self.graph.node.extend(self.nodes)
        self.graph.initializer.extend(t for t in self.stored.values() if t.name in used)

    def _shape(self, node: onnx.NodeProto) -> tuple[int, ...]:
        """Return the shape of the weights that a node reads, () if it reads none."""
        name = node.input[1] if node.op_type == "MatMul" else node.input[0] if node.input else ""
        return tuple(self.stored[name].dims) if name in self.stored else ()

    def _matrix(self, node: onnx.NodeProto) -> None:
        source, name = node.input
        weights = numpy_helper.to_array(self.stored.pop(name))
        codes, scales = to_int8(weights, axis=0)
        rows = self._rows(source, inputs=weights.shape[0])
        product = [f"{rows}_codes", self.store(f"{name}_codes", codes), "zero_point"]
        self.add("MatMulInteger", product, f"{name}_sums")
        self.add("Cast", [f"{name}_sums"], f"{name}_fp32", to=TensorProto.FLOAT)
        self.add("Mul", [f"{name}_fp32", f"{rows}_scales"], f"{name}_per_row")
        scales_name = self.store(f"{name}_scales", scales[0])
        self.add("Mul", [f"{name}_per_row", scales_name], f"{name}_flat")
        outputs = self.store(f"{name}_outputs", np.array([weights.shape[1]]))
        self.add("Shape", [source], f"{name}_leading", start=0, end=-1)
        self.add("Concat", [f"{name}_leading", outputs], f"{name}_shape", axis=0)
        self.add("Reshape", [f"{name}_flat", f"{name}_shape"], node.output[0])

    def _rows(self, source: str, inputs: int) -> str:
        """Quantise a tensor per token, as rows of ``inputs`` numbers, and return the name."""
        if source in self.quantised:
            return self.quantised[source]
        name = self.quantised[source] = f"rows_{len(self.quantised)}"
        shape = self.store(f"{name}_shape", np.array([-1, inputs]))
        self.add("Reshape", [source, shape], name)
        self.add("Abs", [name], f"{name}_absolute")
        self.add("ReduceMax", [f"{name}_absolute", "last_axis"], f"{name}_largest", keepdims=1)
        self.add("Mul", [f"{name}_largest", "per_step"], f"{name}_steps")
        self.add("Max", [f"{name}_steps", "least_scale"], f"{name}_scales")
        self.add("Div", [name, f"{name}_scales"], f"{name}_scaled")
        self.add("QuantizeLinear", [f"{name}_scaled", "one", "zero_point"], f"{name}_codes")
        return name

    def _table(self, node: onnx.NodeProto) -> None:
        """Gather codes before widening them: constant folding would widen the whole table."""
        name, ids = node.input
        codes, scales = to_int8(numpy_helper.to_array(self.stored.pop(name)), axis=1)
        for part, values in (("codes", codes), ("scales", scales)):
            table = self.store(f"{name}_{part}", values)
            self.add("Gather", [table, ids], f"{table}_rows", axis=0)
        self.add("Cast", [f"{name}_codes_rows"], f"{name}_fp32", to=TensorProto.FLOAT)
        self.add("Mul", [f"{name}_fp32", f"{name}_scales_rows"], node.output[0])


def write_model(network: PairNetwork, path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch, torch.inference_mode():
        exported = export(network, Path(scratch) / "fp32.onnx")
    model = convert_version(exported, OPSET)
    Quantiser(model.graph).run()
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("weights", type=Path, help="weights that train.py wrote")
    parser.add_argument("model", type=Path, help="ONNX file to write")
    options = parser.parse_args()
    network = PairNetwork()
    network.load_state_dict(load_file(options.weights))
    write_model(network, options.model)


if __name__ == "__main__":
    main()
