"""What games teach, kept in the store's file from run to run: where things of each kind are, by kinds of places."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import new_id
from memory_node.scene_graph.place_habits import PLACE_CENSUS, PlaceCensus
from memory_node.store.engine import page_copy
from memory_node.store.store import Store, open_store

_SITE = "games"
_ROBOT = "player"


class Learnt:
    """The memory that goes from game to game; without a file it ends with the run.

    path: the store's file. learns: what is played is added to it, and it is made where it is missing.

    Raises:
        NotFoundError: there is no such file to start from.
        StoreError: it is no store of games.
    """

    def __init__(self, path: Path | None, learns: bool) -> None:
        if path is not None and not learns and not path.is_file():
            raise NotFoundError(f"there is no memory {path}; --learn makes one")
        self._learns = learns
        self._store: Store | None = None
        self.census = PlaceCensus()
        if path is not None and learns:
            self._store = open_store(path, _ROBOT, _SITE)
            self.census = _census(self._store)
        elif path is not None:
            # One process may write a store at a time; any number may read a copy of it.
            with page_copy(path) as copy, open_store(copy, _ROBOT, _SITE) as store:
                self.census = _census(store)

    def __enter__(self) -> Learnt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._store is not None:
            self._store.close()

    def add(self, census: PlaceCensus) -> None:
        """Take over what a game taught, if anything; where a file keeps it, it is durable on return."""
        if not self._learns or not census.looks:
            return
        self.census = PlaceCensus.together((self.census, census))
        if self._store is not None:
            # No game is named: nothing of one can be recognised in another.
            self._store.put_documents(PLACE_CENSUS, [(new_id(), census.as_dict(), ())]).wait()


def _census(store: Store) -> PlaceCensus:
    return PlaceCensus.together(PlaceCensus.from_dict(document.body) for document in store.documents(PLACE_CENSUS))
