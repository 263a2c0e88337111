import subprocess
import sys

CODE = """
import sys

def heavy():
    return {'onnxruntime', 'fastembed', 'huggingface_hub', 'torch'} & sys.modules.keys()

from kbx_tui.embedding.local import open_embedder
assert not heavy()
embedder = open_embedder()
assert embedder.count_tokens(['one two']) == [2]
assert (embedder.dimension, embedder.max_tokens) == (384, 256)
assert embedder.model == 'bundled/all-MiniLM-L6-v2-int8'
assert len(embedder.embed([])) == 0
assert not heavy()
embedder.embed(['one', 'two'])
assert heavy() == {'onnxruntime'}
"""


def test_libraries_of_models_are_loaded_by_what_needs_them_only() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE], check=False, stderr=-1, text=True)
    assert ran.returncode == 0, ran.stderr
