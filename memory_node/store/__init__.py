"""Durable records: nothing acknowledged is lost, on one robot or a fleet."""
