"""Differential privacy: from coded records to a measurement, and the ledger."""
