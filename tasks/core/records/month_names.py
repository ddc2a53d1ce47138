"""Names of months in several languages: a text with one of them comes out with the English abbreviation.

>>> in_english("12 janv. 2026"), in_english("3. März 2026"), in_english("4 May 2026"), in_english("maybe 7")
('12 Jan 2026', '3. Mar 2026', '4 May 2026', 'maybe 7')

Each text is changed by itself. English names stay, but for the full stop of an abbreviation.
"""

import re

#: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and the languages of Scandinavia, in
#: small letters, whole and shortened. English abbreviations are added below.
_NAMES = {
    "Jan": "januar jänner jän janvier janv enero ene gennaio gen janeiro januari stycznia styczeń sty",
    "Feb": "februar feber febr février fevrier févr fevr fév febrero febbraio fevereiro fev februari "
    "lutego luty lut",
    "Mar": "märz maerz mär mrz mars marzo março marco maart mrt marts marca marzec",
    "Apr": "avril avr abril abr aprile kwietnia kwiecień kwi",
    "May": "mai mayo maggio mag maio mei maj maja",
    "Jun": "juni juin junio giugno giu junho czerwca czerwiec cze",
    "Jul": "juli juillet juil julio luglio lug julho lipca lipiec lip",
    "Aug": "août aout agosto ago augustus augusti sierpnia sierpień sie",
    "Sep": "sept septembre septiembre settembre setembro set września wrzesień wrz",
    "Oct": "oktober okt octobre octubre ottobre ott outubro out października październik paź",
    "Nov": "novembre noviembre novembro listopada listopad lis",
    "Dec": "dezember dez décembre decembre déc diciembre dic dicembre dezembro desember des grudnia "
    "grudzień gru",
}
_ENGLISH = {name: english for english, names in _NAMES.items() for name in [english.lower(), *names.split()]}
#: A word of letters, the full stop of an abbreviation behind it, where no other letter stands around it.
_WORD = re.compile(r"(?<![^\W_])([^\W\d_]{3,12})(\.?)(?![^\W_])")


def in_english(text: str) -> str:
    """The text with the first name of a month that is in another language as English abbreviates it."""
    for word in _WORD.finditer(text):
        english = _ENGLISH.get(word[1].lower())
        if english is not None:
            return f"{text[: word.start()]}{english}{text[word.end() :]}"
    return text


def names_months(formats: tuple[str, ...]) -> bool:
    """Whether dates in these formats name their months."""
    return any("%b" in each or "%B" in each for each in formats)


def with_abbreviations(formats: tuple[str, ...]) -> tuple[str, ...]:
    """The formats, and behind them those with full names as they read abbreviated ones.

    >>> with_abbreviations(("%d %B %Y", "%d.%m.%Y"))
    ('%d %B %Y', '%d.%m.%Y', '%d %b %Y')
    """
    more = tuple(each.replace("%B", "%b") for each in formats if "%B" in each)
    return formats + tuple(each for each in more if each not in formats)
