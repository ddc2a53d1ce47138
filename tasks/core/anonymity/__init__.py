"""k-anonymity: what a release under it promises."""
