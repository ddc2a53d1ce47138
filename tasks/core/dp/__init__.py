"""Differential privacy: coded records in, a measurement out.

Here: parameters, accounting, the draw by lengths; `sampling` has the noise, `workload` the draw for fitted
records. What was spent belongs to `ledger`, what is promised to `statement`.
"""
