"""What games teach, kept in the store's file from run to run: where things usually are, and what attempts taught."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from benchmarks.alfworld.carried import Carried
from benchmarks.alfworld.experience_of_games import ExperienceOfGames, Kept
from benchmarks.alfworld.game_episodes import GameEpisode
from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.scene_graph.place_habits import PLACE_CENSUS, PlaceCensus
from memory_node.store.engine import page_copy
from memory_node.store.store import Store, open_store

_SITE = "games"
_ROBOT = "player"


class Learnt:
    """The memory that goes from game to game; without a file it ends with the run.

    path: the store's file. learns: what is played is added to it, and it is made where it is missing. embedder: of what
    attempts teach; None: only places are read and learnt.

    Attributes:
        carried: what the next game is given.

    Raises:
        NotFoundError: there is no such file to start from.
        StoreError: it is no store of games.
    """

    def __init__(self, path: Path | None, learns: bool, embedder: TextEmbedder | None = None) -> None:
        if path is not None and not learns and not path.is_file():
            raise NotFoundError(f"there is no memory {path}; --learn makes one")
        self._store: Store | None = None
        self._learns = learns
        self._experience: ExperienceOfGames | None = None
        self.carried = Carried()
        if path is not None and not learns:
            # One process may write a store at a time; any number may read a copy of it.
            with page_copy(path) as copy, open_store(copy, _ROBOT, _SITE) as store:
                self.carried = Carried(_census(store), Kept.of(store).carried if embedder is not None else None)
            return
        if path is not None:
            self._store = open_store(path, _ROBOT, _SITE)
            self.carried = Carried(_census(self._store))
        if embedder is not None:
            self._experience = ExperienceOfGames(self._store, embedder)
            self.carried = Carried(self.census, self._experience.carried)

    def __enter__(self) -> Learnt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._experience is not None:
            self._experience.close()
        if self._store is not None:
            self._store.close()

    @property
    def census(self) -> PlaceCensus:
        """Where things usually are."""
        return self.carried.census

    def add(self, census: PlaceCensus, episodes: tuple[GameEpisode, ...] = ()) -> None:
        """Take over what a game taught, if anything; where a file keeps it, it is durable on return."""
        if not self._learns:
            return
        if episodes and self._experience is not None:
            self._experience.learn(episodes)
        if census.looks and self._store is not None:
            # No game is named: nothing of one can be recognised in another.
            self._store.put_documents(PLACE_CENSUS, [(new_id(), census.as_dict(), ())])
        if self._store is not None:
            self._store.flush()
        together = PlaceCensus.together((self.census, census))
        self.carried = Carried(together, self._experience.carried if self._experience is not None else None)


def _census(store: Store) -> PlaceCensus:
    return PlaceCensus.together(PlaceCensus.from_dict(document.body) for document in store.documents(PLACE_CENSUS))
