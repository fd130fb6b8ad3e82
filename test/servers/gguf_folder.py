"""Writes a GGUF file as a folder of Hugging Face's, for `transformers serve`: gguf_folder.py FILE FOLDER."""

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

file, folder = Path(sys.argv[1]), sys.argv[2]
AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name)
# Its weights were dequantised while they were loaded; it still counts as quantised, which cannot be saved.
model.hf_quantizer = None
if hasattr(model.config, "quantization_config"):
    del model.config.quantization_config
model.save_pretrained(folder)
