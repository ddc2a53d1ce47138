"""What looks like an e-mail address, a telephone number or the number of an identity document.

Regular expressions that mean the same in RE2 (DuckDB) and in Python, each found anywhere in a normalised
cell. They are meant to catch what got into a column by mistake. A column of codes that happen to look so is
named in the contract with a declared domain, and then isn't searched.
"""

EMAIL = (r"[^\s@]+@[^\s@]+\.[^\s@.]+",)

TELEPHONE = (
    r"^\+(?:[ ()/.-]*[0-9]){7,15}$",
    r"^\(?0(?:[ ()/-]*[0-9]){8,13}$",
    r"^0[1-9](?:\.[0-9]{2}){4}$",
    r"^\(?[2-9][0-9]{2}\)?[ .-]+[0-9]{3}[ .-][0-9]{4}$",
)

IDENTITY_NUMBER = (
    r"^[0-9]{9,}$",
    r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",
    r"^[0-9]{4}(?:[ -][0-9]{4}){2,3}$",
    r"^[0-9]{8}-?[A-Za-z]$",
    r"^[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]$",
    r"^[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]$",
)

#: The standard's spelling of each kind -> its patterns and its name in a sentence.
TEXT_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "email": ("e-mail addresses", EMAIL),
    "telephone": ("telephone numbers", TELEPHONE),
    "identityNumber": ("identity numbers", IDENTITY_NUMBER),
}
#: Of the contract's rule noPersonalIdentifiers, of whatever kinds.
IDENTIFIER_PATTERNS = frozenset(EMAIL + TELEPHONE + IDENTITY_NUMBER)
