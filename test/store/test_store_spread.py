"""Tables that are spread over partitions by site, as docs/scale.md says."""

from pathlib import Path

import sqlalchemy as sa
from looked_into import connected

from memory_node.store.forget_plan import ForgetRequest

MUG = "0191-mug"


def test_store_works_on_tables_partitioned_as_the_docs_say(open_at, filled, postgres):
    text = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    block = next(part.split("```")[0] for part in text.split("```sql\n") if part.startswith("DO $$"))
    url = postgres.create_database()
    filled(url)
    with connected(url) as connection:
        connection.exec_driver_sql(block.replace("%", "%%"))
        kinds = connection.execute(sa.text("SELECT relkind FROM pg_class WHERE relname = 'objects'")).scalars().all()
    assert kinds == ["p"]
    store = open_at(url)
    assert len(store.load_scene().objects) == 3
    filled(url, "elsewhere")
    other = open_at(url, "r2", "elsewhere")
    assert store.forget(ForgetRequest(object_ids=(MUG,))).verified
    assert len(store.load_scene().objects) == 2
    assert len(other.load_scene().objects) == 3
