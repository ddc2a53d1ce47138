"""Words for what a record is, in English and German: those for people, and for others with several rows.

A protection of rows must not be read as one of people. So where rows are counted no word for people names
them, and where people are counted no word for rows does.
"""

import re
import unicodedata


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


#: German ones with what may end them: -in, -innen, and plurals.
_PEOPLE = frozenset(
    _folded(
        """
    person persons people human humans individual individuals somebody someone subject subjects
    patient patients inpatient inpatients outpatient outpatients customer customers client clients
    consumer consumers buyer buyers user users member members subscriber subscribers employee employees
    worker workers colleague colleagues applicant applicants candidate candidates student students pupil
    pupils learner learners teacher teachers child children kid kids baby babies infant infants adult adults
    teenager teenagers minor minors man men woman women boy boys girl girls mother mothers father fathers
    parent parents resident residents inhabitant inhabitants citizen citizens voter voters tenant tenants
    respondent respondents participant participants passenger passengers driver drivers visitor visitors
    guest guests traveller travellers traveler travelers taxpayer taxpayers pensioner pensioners
    beneficiary beneficiaries insured claimant claimants victim victims offender offenders prisoner prisoners
    defendant defendants refugee refugees migrant migrants donor donors volunteer volunteers nurse nurses
    doctor doctors

    person personen mensch menschen leute jemand individuum individuen einwohner bewohner bürger mitbürger
    patient patienten kunde kunden klient klienten verbraucher käufer nutzer benutzer mitglied mitglieder
    abonnent abonnenten mitarbeiter mitarbeitende mitarbeitenden angestellte angestellter angestellten
    arbeitnehmer beschäftigte beschäftigter beschäftigten bewerber kandidat kandidaten student studenten
    studierende studierender studierenden schüler lehrer lehrkraft lehrkräfte kind kinder kindern säugling
    säuglinge baby babys erwachsene erwachsener erwachsenen jugendliche jugendlicher jugendlichen mann männer
    frau frauen junge jungen mädchen mutter mütter vater väter eltern wähler mieter befragte befragter
    befragten teilnehmer teilnehmende teilnehmenden fahrgast fahrgäste fahrer besucher gast gäste
    versicherte versicherter versicherten steuerzahler steuerpflichtige steuerpflichtiger steuerpflichtigen
    rentner empfänger geflüchtete geflüchteter geflüchteten spender klientin kundin ärztin arzt ärzte
    """
    ).split()
)
#: What may have several rows, too, and is no person: with an id column it is what is protected.
_GROUPS = frozenset(
    _folded(
        """
    household households family families firm firms company companies business businesses enterprise
    enterprises organisation organisations organization organizations school schools farm farms

    haushalt haushalte familie familien firma firmen betrieb betriebe unternehmen organisation organisationen
    schule schulen hof höfe
    """
    ).split()
)
#: What a German word for somebody may end with: Patientin, Schülerinnen.
_FEMININE = re.compile("(?:innen|in)$")


def names_people(words: str) -> bool:
    """Whether any word of it is one for people.

    >>> [names_people(each) for each in ("Person", "young patients", "Schüler:innen", "visit", "household")]
    [True, True, True, False, False]
    """
    return any(map(_is_of_people, _parts(words)))


def names_subjects(words: str) -> bool:
    """Whether its last word is one for people, or for groups of them that an id column may stand for.

    >>> [names_subjects(each) for each in ("adult patient", "Kundinnen", "households", "patient visit")]
    [True, True, True, False]
    """
    parts = _parts(words)
    return bool(parts) and (_is_of_people(parts[-1]) or parts[-1] in _GROUPS)


def _parts(words: str) -> list[str]:
    """Words in small letters; what marks a gender within one (Schüler:innen) does not divide it."""
    joined = re.sub(r"(?<=\w)[:*_/·](?=in(?:nen)?\b)", "", _folded(words))
    return re.findall(r"[^\W\d_]+", joined)


def _is_of_people(part: str) -> bool:
    stem = _FEMININE.sub("", part)
    return part in _PEOPLE or (stem != part and not _PEOPLE.isdisjoint((stem, f"{stem}e", f"{stem}en")))
