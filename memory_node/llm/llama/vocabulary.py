"""A model's own tokenizer."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable

from memory_node.llm.llama.library import Pointer, Token

_LONGEST_PIECE = 512  # bytes; a token that is longer is asked for once more with room for it


class Vocabulary:
    """Turns text into a model's tokens and back."""

    def __init__(self, library: ctypes.CDLL, model: Pointer) -> None:
        self._library = library
        self.pointer: Pointer = library.llama_model_get_vocab(model)
        self.size: int = library.llama_vocab_n_tokens(self.pointer)
        self.begin: int = library.llama_vocab_bos(self.pointer)
        self.begins_with_it: bool = library.llama_vocab_get_add_bos(self.pointer)
        self.end: int = library.llama_vocab_eos(self.pointer)
        self.piece = functools.lru_cache(maxsize=None)(self._piece)

    def tokens(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens of a text. control: names of control tokens in it, such as <|im_end|>, are those tokens."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (Token * room)()
        count = self._library.llama_tokenize(self.pointer, data, len(data), buffer, room, False, control)
        if count < 0:
            buffer = (Token * -count)()
            count = self._library.llama_tokenize(self.pointer, data, len(data), buffer, -count, False, control)
        return list(buffer[:count])

    def text(self, tokens: Iterable[int]) -> str:
        """Return what tokens say, control tokens nothing; bytes that are no UTF-8 are replaced."""
        return b"".join(map(self.piece, tokens)).decode("utf-8", "replace")

    def ends(self, token: int) -> bool:
        """Return whether a token ends the model's turn."""
        return bool(self._library.llama_vocab_is_eog(self.pointer, token))

    def text_of_control(self, token: int) -> str:
        """Return how a control token is written in a template, "" for none."""
        name = self._library.llama_vocab_get_text(self.pointer, token) if token >= 0 else None
        return name.decode("utf-8", "replace") if name else ""

    def _piece(self, token: int) -> bytes:
        """Return the bytes that a token stands for, which need not be whole characters; none for control tokens."""
        buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
        count = self._library.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, False)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = self._library.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, False)
        return buffer.raw[:count]
