"""Headers that say whose row it is, in several languages and spellings.

A header goes in, how likely it names the subject comes out. Only a draft asks (``marginalia init``): what the
operator accepts decides, and nothing in a run calls this.

>>> [likeness(name) for name in ("Personen-Nr.", "patient id", "visit id", "region")]
[3, 3, 1, 0]
"""

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
    "repondant rispondent encuestad pupil learner wearer guest resident worker staff salari abonn adherent "
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
}
#: What says that it is an id: whole words.
_ID = _words_of(
    "id ids uid uuid guid ident identifier identifiant identificador identificativo identifikation "
    "ref reference referenz "
    "identification identyfikator kennung kennziffer kennzahl kennnummer schluessel schlussel key cle "
    "clave chiave pseudonym pseudonyme"
)
#: What says that it is a number or code of something: whole words.
_NUMBER = _words_of("nr no num number nummer numer numero nro code cod codice codigo kod")
#: What numbers are counted by, not told apart: "number of patients".
_COUNTED = {"of", "av", "van", "von", "der"}
#: Ids of people as such: whole names.
_OWN = _words_of(
    "pid patid ptid subjid usubjid hhid empid mrn ssn bsn cpr nhs ahv svnr pnr personnummer pesel dni "
    "nie nif curp cpf cnp egn matrikel matrikelnummer matricule respondent person subject patient "
    "participant proband upn uln nino"
)

#: Ends of words that say so, joined to whose it is.
_ENDS = _words_of("nummer nr id kennung kennziffer schlussel numer number numero nro uuid")

#: How likely it is: whose id, some id (or a word for somebody), the id of something, none.
WHOSE, SOME_ID, OF_SOMETHING, NONE = 3, 2, 1, 0


def likeness(name: str) -> int:
    """How likely a header names the subject: one of `WHOSE`, `SOME_ID`, `OF_SOMETHING`, `NONE`."""
    words = header_words(name)
    whole = "".join(words)
    if whole in _OWN or (_OWN & set(words) and _says_id(words)):
        return WHOSE
    if any(map(_is_who, words)) and _says_id(words):
        return NONE if _COUNTED & set(words) else WHOSE
    if whole in _ID:
        return SOME_ID
    is_something = _ID & set(words) or (len(words) == 1 and _is_who(whole))
    return OF_SOMETHING if is_something else NONE


def _is_who(word: str) -> bool:
    return word in _WHO_SHORT or _is_joined(word) or any(word.startswith(who) for who in _WHO)


def _says_id(words: list[str]) -> bool:
    return any(word in _ID or word in _NUMBER for word in words) or any(map(_is_joined, words))


def _is_joined(word: str) -> bool:
    """Whether a word joins both, as German does and as haste does: kundennummer, patnr, householdid."""
    return any(word.endswith(end) and _is_who(word.removesuffix(end)) for end in _ENDS)
