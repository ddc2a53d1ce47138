"""The names of the page and of the Power BI template in a release."""

#: Without the prefix.
PAGE, TEMPLATE = "data_showcase.html", "data_showcase.pbit"


def page_file(prefix: str) -> str:
    """With the prefix, as all of a release's tables have it.

    >>> page_file("people")
    'people_data_showcase.html'
    """
    return f"{prefix}_{PAGE}"
