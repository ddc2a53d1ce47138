"""Reportable aggregates in, synthetic records out."""
