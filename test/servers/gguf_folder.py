"""Writes a GGUF file as a folder of Hugging Face's, for `transformers serve`: gguf_folder.py FILE FOLDER."""

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer

file, folder = Path(sys.argv[1]), sys.argv[2]
AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
