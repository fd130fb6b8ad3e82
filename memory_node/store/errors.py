"""What can go wrong with the durable store, each with what helps."""

from __future__ import annotations

from pathlib import Path

from memory_node.domain.errors import StoreError


class StoreUnavailableError(StoreError):
    """The database cannot be reached or written now; new facts wait in the journal."""


class DamagedTextError(StoreUnavailableError):
    """A text in a SQLite file is none any more; reading it leniently finds which."""


class StoreBacklogError(StoreError):
    """More facts wait than the store may hold; nothing was taken over."""


class StoreInUseError(StoreError):
    """Another process already writes as this robot."""


class ForeignJournalError(StoreError):
    """A journal, or a database, is another one than the robot worked with before: nothing is brought into it."""


class StoreVersionError(StoreError):
    """The database was made by a newer program, or is none of ours."""


class MissingStoreError(StoreError):
    """There is no file where a store was to be."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"there is no store {path} (--database names another)")


class ForeignFileError(StoreError):
    """A file that is no store: empty, no database, or another program's."""


class StoreSiteError(StoreError):
    """The database belongs to another site."""


class RecordRejectedError(StoreError):
    """A record that the database cannot hold; the others were kept."""


class InvalidImportError(StoreError):
    """A file that is to be imported holds something that memory cannot take."""
