"""The published page: what was released in, one self-contained HTML page out.

Here: sections, their data and templates; `regimes` has what one regime alone says. Charts belong to `charts`.
"""
