from hypothesis import given
from hypothesis import strategies as st

from memory_node.lessons.ranking import Ranking

RANKED = st.dictionaries(st.text("abc", min_size=1), st.floats(-5.0, 5.0), max_size=20)


@given(RANKED, st.data())
def test_ranking_is_what_sorting_would_give(ranks: dict[str, float], data: st.DataObject) -> None:
    ranking = Ranking()
    for key, rank in ranks.items():
        ranking.add(rank, key)
    gone = data.draw(st.sets(st.sampled_from(sorted(ranks)))) if ranks else set()
    for key in gone:
        ranking.remove(ranks[key], key)
    left = sorted(ranks.keys() - gone, key=lambda key: (-ranks[key], key))
    assert list(ranking) == left
    assert list(reversed(ranking)) == left[::-1]
    assert len(ranking) == len(left)


def test_rankings_are_merged_best_first() -> None:
    one, other = Ranking(), Ranking()
    one.add(1.0, "low")
    one.add(3.0, "high")
    other.add(2.0, "middle")
    assert list(Ranking.merged([one, other])) == ["high", "middle", "low"]
