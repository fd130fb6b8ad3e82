"""Durable records: nothing acknowledged is lost."""
