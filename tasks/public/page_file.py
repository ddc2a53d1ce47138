"""The name of the page in a release."""

#: Without the prefix.
PAGE = "data_showcase.html"


def page_file(prefix: str) -> str:
    """With the prefix, as all of a release's tables have it.

    >>> page_file("people")
    'people_data_showcase.html'
    """
    return f"{prefix}_{PAGE}"
