"""One script a released schema."""
