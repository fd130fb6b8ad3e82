"""Looking after memory: corrections, forgetting, durability."""
