"""What is declared of a table: data contract, configuration, and the public schema they make.

Only `expectations` knows Great Expectations. Rows become codes in `records`; a release's own numbers
are judged in `statement.contract_verdicts`. Read `contract` first: what a contract says, whatever file it was
written in; then `public_schema`, where header, configuration and contract meet.
"""
