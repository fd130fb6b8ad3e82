"""The frozen value types that every layer speaks."""
