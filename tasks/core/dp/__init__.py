"""Differential privacy: coded records in, a measurement out.

Here: parameters, accounting, the draw by lengths; `sampling` has the noise, `workload` the draw for fitted
records. What was spent belongs to `ledger`, what is promised to `statement`, what is made of the noisy counts
to `fitting` and `synthesis`. Read `release` first: one draw from end to end; then `lengths` and `accounting`.
"""
