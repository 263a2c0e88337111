import subprocess
import sys

HEAVY = "{'onnxruntime', 'fastembed', 'huggingface_hub', 'torch'}"


def heavy_modules_after(code: str) -> str:
    """Run ``code`` in a fresh interpreter and return which heavy modules it left loaded."""
    probe = f"import sys\n{code}\nprint(sorted({HEAVY} & set(sys.modules)), end='')"
    return subprocess.run(
        [sys.executable, "-c", probe], check=True, capture_output=True, text=True
    ).stdout


def test_importing_the_package_loads_no_model_library() -> None:
    assert heavy_modules_after("import kbx_tui.embedding.local") == "[]"


def test_counting_tokens_loads_no_onnxruntime() -> None:
    count = "open_embedder().count_tokens(['one two'])"
    code = f"from kbx_tui.embedding.local import open_embedder\nassert {count} == [2]"
    assert heavy_modules_after(code) == "[]"


def test_properties_of_the_bundled_model_load_no_onnxruntime() -> None:
    code = (
        "from kbx_tui.embedding.local import open_embedder\n"
        "e = open_embedder(); assert (e.dimension, e.max_tokens) == (384, 256)\n"
        "assert e.model == 'bundled/all-MiniLM-L6-v2-int8'; assert len(e.embed([])) == 0"
    )
    assert heavy_modules_after(code) == "[]"


def test_embedding_with_the_bundled_model_loads_no_fastembed() -> None:
    code = (
        "from kbx_tui.embedding.local import open_embedder\nopen_embedder().embed(['one', 'two'])"
    )
    assert heavy_modules_after(code) == "['onnxruntime']"
