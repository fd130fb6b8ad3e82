"""Streams of tasks in which memory grows: what an optimizer of memory is worth to later tasks."""
