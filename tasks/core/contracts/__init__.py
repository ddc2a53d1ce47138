"""Data contracts; the only place that knows Great Expectations."""
