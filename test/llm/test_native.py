"""llama.cpp's C interface is that of the wheel that is installed."""

import ctypes

import pytest

from memory_node.llm.chat import ModelMissingError
from memory_node.llm.llama import native


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    try:
        return native.llama_library()
    except ModelMissingError as missing:
        pytest.skip(str(missing))


def test_the_wheel_has_every_function_that_is_called(library: ctypes.CDLL) -> None:
    exported = ctypes.CDLL(str(native.library_path()))
    assert [name for name in native.FUNCTIONS if not hasattr(exported, name)] == []


def test_fields_lie_where_the_header_says(library: ctypes.CDLL) -> None:
    """llama.h documents these defaults; a field that moved would show another's."""
    context = library.llama_context_default_params()
    assert (context.rope_scaling_type, context.pooling_type, context.attention_type) == (-1, -1, -1)
    assert (context.yarn_ext_factor, context.yarn_attn_factor) == (-1.0, -1.0)
    assert (context.defrag_thold, context.type_k, context.type_v) == (-1.0, 1, 1)
    assert (context.embeddings, context.offload_kqv, context.no_perf, context.op_offload) == (False, True, True, True)
    assert (context.swa_full, context.kv_unified, context.samplers, context.n_samplers) == (True, False, None, 0)
    model = library.llama_model_default_params()
    assert (model.split_mode, model.main_gpu, model.tensor_split) == (1, 0, None)
    assert (model.vocab_only, model.use_mmap, model.use_mlock, model.check_tensors) == (False, True, False, False)
    assert (model.use_extra_bufts, model.no_host, model.no_alloc) == (True, False, False)


def test_another_layout_is_refused(library: ctypes.CDLL) -> None:
    class Moved:
        llama_model_default_params = staticmethod(library.llama_model_default_params)

        @staticmethod
        def llama_context_default_params() -> native.ContextParams:
            return native.ContextParams()

    with pytest.raises(ModelMissingError, match="another layout"):
        native._check_layout(Moved)


def test_another_release_of_the_wheel_is_refused(library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "WHEEL_RELEASE", "1.0")
    with pytest.raises(ModelMissingError, match=r"robot_memory\[llm\]"):
        native.library_path()
