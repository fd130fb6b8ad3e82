"""Reads plain commands and questions whole, with what memory knows of things, persons and the past; else nothing."""
