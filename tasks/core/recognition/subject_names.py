"""Headers that say whose row it is, in several languages and spellings.

A header goes in, how likely it names the subject comes out. Only a draft asks (``marginalia init``): what the
operator accepts decides, and nothing in a run calls this.

>>> [likeness(name) for name in ("Personen-Nr.", "idcode", "child", "visit id", "region", "cases")]
[4, 3, 2, 1, 0, 0]
"""

import re

from tasks.core.recognition.header_words import header_words


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Whom a row may be about: beginnings of words, without accents.
_WHO = _words_of(
    "person persona personne patient patien pacient pazient pacjent subject subjekt participant "
    "teilnehm proband respondent befragt client klient customer kund member mitglied student schuler "
    "eleve etudiant alumn employ emplead mitarbeit schuel versichert insured assure user benutzer "
    "utilisateur usuari household haushalt hogar menage hausholt case fall dossier expedient citizen "
    "burger einwohn inhabitant individu famil tenant mieter donor spender driver fahrer deelnem "
    "respond repondant rispondent encuestad pupil learner wearer guest resident worker staff salari abonn "
    "adherent child woman player athlete contestant champion sportler spieler joueur jugador "
    "device vehicle usager beneficiar policyholder borrower taxpayer contribuable inquilin alunn apprentic "
    "medewerk klant potilas asiakas brukar elev пациент клиент"
)
#: The same as it is shortened: whole words.
_WHO_SHORT = {
    "pat",
    "pers",
    "subj",
    "resp",
    "kd",
    "kdn",
    "cust",
    "emp",
    "ma",
    "vers",
    "mitgl",
    "pt",
    "account",
    "konto",
    "compte",
    "hh",
    "fam",
}
#: Whose rows may stand together though each is another person's.
_HOUSEHOLD = _words_of("household haushalt hogar menage hausholt hid hh fam")
#: Many of them: a column of that name says how many, and not who. So does any that ends in ``s``.
_MANY = _words_of(
    "children women men people personen patienten patientinnen falle faelle kunden mitglieder haushalte "
    "versicherte versicherten studenten studierende nutzer besucher pazienti studenti pacjenci leerlingen "
    "patienter elever kinder fahrzeuge"
)
#: The most letters that may follow the beginning of a word for somebody: Teilnehmerin, not Personenzahl.
_LONGEST_ENDING = 5
#: What has ids and a history, and is nobody: a place, a thing, what a design of an experiment names.
_NOBODY = _words_of(
    "place places ort orte lieu lugar luogo plaats site standort station city town vill village stadt "
    "gemeinde commune municipality municipalities municipio ciudad comune county counties kreis "
    "district bezirk quartier area gebiet zone region country land pays pais state province kanton "
    "canton location address adresse street strasse block tract ward room zimmer bed bett centre center "
    "zentrum hospital klinik clinic krankenhaus school sch schule ecole escuela class klasse kurs "
    "course dept department abteilung store shop filiale laden branch building gebaude plot field feld "
    "parcel tree species item artikel article product produkt movie film title book song model type "
    "kind code line route flight stratum strata cluster group gruppe groupe grupo pair fold split batch "
    "wave round set test trial exam question frage drug atc icd week month year day date time hour "
    "occasion period"
)
#: What says that it is an id: whole words.
_ID = _words_of(
    "id ids uniqueid idcode idnr idno idnum idnumber idperson uid uuid guid ident identifier identifiant "
    "identificador identificativo identifikation ref reference referenz identification identyfikator "
    "kennung kennziffer kennzahl kennnummer schluessel schlussel key cle clave chiave pseudonym "
    "pseudonyme"
)
#: What says that it is a number or code of something: whole words.
_NUMBER = _words_of("nr no num number nummer numer numero nro code cod codice codigo kod")
#: Who is none, but may be what is protected.
_COMPANY = _words_of(
    "firm firma company unternehmen betrieb entreprise empresa impresa bedrijf establishment"
)
#: What numbers are counted by, not told apart: "number of patients".
_COUNTED = {"of", "av", "van", "von", "der"}
#: Ids of people as such: words.
_OWN = _words_of(
    "pid patid ptid subjid usubjid hid hhid hhnr hhnum hhno empid memid indid mrn ssn bsn cpr nhs ahv svnr "
    "pnr persid persnr pernum personnummer pesel dni nie nif curp cpf cnp egn matrikel matrikelnummer "
    "matricule upn uln nino vpnr hhidpn psid seqn"
)
#: What may stand beside a word for an id, and says no more of it.
_PLAIN = _words_of("unique uniq anon anonymous anonymised pseudo personal internal external new old my the")
#: The same, where a header holds no other word.
_OWN_ALONE = _words_of("respondent person subject patient participant proband")

#: Ends of words that say so, joined to whose it is.
_ENDS = _words_of("nummer nr id kennung kennziffer schlussel numer number numero nro uuid")

#: How likely it is: whose id, some id, a word for somebody, the id of something, none.
WHOSE, SOME_ID, SOMEBODY, OF_SOMETHING, NONE = 4, 3, 2, 1, 0


def likeness(name: str) -> int:
    """How likely a header names the subject: one of the five above."""
    words = header_words(name)
    whole = "".join(words)
    if _OWN & {whole, *words} or whole in _OWN_ALONE or (_OWN_ALONE & set(words) and _says_id(words)):
        return WHOSE
    if any(map(_is_who, words)) and _says_id(words):
        return NONE if _COUNTED & set(words) else WHOSE
    if whole in _ID or (_ID & set(words) and set(words) <= _ID | _PLAIN):
        return SOME_ID
    if whole in _NUMBER or (len(words) == 1 and _is_somebody(whole)):
        return SOMEBODY
    return OF_SOMETHING if _ID & set(words) or _COMPANY & set(words) else NONE


def names_nobody(name: str) -> bool:
    """Whether a header names a place, a thing or a group, whose ids are no person's."""
    words = [re.sub(r"(id|nr|no|num)?\d*$", "", word) for word in header_words(name)]
    return bool(_NOBODY & {*words, *(word.removesuffix("s") for word in words)})


def names_household(name: str) -> bool:
    """Whether a header names those who live together."""
    return any(word.startswith(who) for word in header_words(name) for who in _HOUSEHOLD)


def _is_who(word: str) -> bool:
    return word in _WHO_SHORT or _is_joined(word) or any(word.startswith(who) for who in _WHO)


def _is_somebody(word: str) -> bool:
    """Whether it is one word for one of them."""
    if word in _MANY or word.endswith("s"):
        return False
    return word in _WHO_SHORT or any(
        word.startswith(who) and len(word) - len(who) <= _LONGEST_ENDING for who in _WHO
    )


def _says_id(words: list[str]) -> bool:
    """Whether a word says id, or some number of whoever stands last: no number of customers' calls."""
    is_number = words[-1] in _NUMBER or (_NUMBER & set(words) and _is_who(words[-1]))
    return bool(is_number or _ID & set(words) or any(map(_is_joined, words)))


def _is_joined(word: str) -> bool:
    """Whether a word joins both, as German does and as haste does: kundennummer, patnr, householdid."""
    return any(word.endswith(end) and _is_who(word.removesuffix(end)) for end in _ENDS)
