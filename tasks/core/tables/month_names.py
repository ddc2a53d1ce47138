"""Names of months in several languages, whole and shortened, in small letters: each with its number.

>>> MONTHS["janv"], MONTHS["märz"], MONTHS["may"], MONTHS.get("maybe")
(1, 3, 5, None)
"""

#: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and the languages of Scandinavia.
_NAMES = (
    "jan january januar jänner jän janvier janv enero ene gennaio gen janeiro januari stycznia styczeń sty",
    "feb february februar feber febr février fevrier févr fevr fév febrero febbraio fevereiro fev februari "
    "lutego luty lut",
    "mar march märz maerz mär mrz mars marzo março marco maart mrt marts marca marzec",
    "apr april avril avr abril abr aprile kwietnia kwiecień kwi",
    "may mai mayo maggio mag maio mei maj maja",
    "jun june juni juin junio giugno giu junho czerwca czerwiec cze",
    "jul july juli juillet juil julio luglio lug julho lipca lipiec lip",
    "aug august août aout agosto ago augustus augusti sierpnia sierpień sie",
    "sep september sept septembre septiembre settembre setembro set września wrzesień wrz",
    "oct october oktober okt octobre octubre ottobre ott outubro out października październik paź",
    "nov november novembre noviembre novembro listopada listopad lis",
    "dec december dezember dez décembre decembre déc diciembre dic dicembre dezembro desember des grudnia "
    "grudzień gru",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
