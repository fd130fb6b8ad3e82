"""Programs for people: the demo, building a memory from recordings, pictures."""
