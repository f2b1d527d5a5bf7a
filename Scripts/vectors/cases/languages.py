"""A file with one choice of a language in a line."""

import random

from vectors.format.languages import taken

LANGUAGES_FILE = "manifest/languages.txt"
# The user's languages, and those of the packs; the fallback if there is one.
CASES = """
fr,de de,en-US en-US
fr de,en-US en-US
fr de,en-US -
- de,en-US en-US
en-GB de,en-US -
en-GB en-AU,en-GB,en-US -
en-AU en,en-GB,en-US -
en-NZ en,en-001,en-US -
en-PR en,en-GB -
en en-AU,en-GB,en-US -
en-DE de,en-US -
de-CH,en de-AT,de-DE,en -
de-1996-AT de,de-1996,de-AT -
pt-BR pt-PT -
pt-PT pt,pt-BR -
pt-AO pt,pt-BR,pt-PT -
pt pt-BR,pt-PT -
es-MX es,es-419,es-ES -
es-AR es-ES,es-MX -
it it-CH,it-IT -
zh-Hans zh-Hant -
zh-Hans-CN,ja ja,zh-Hant -
zh-Hant-HK zh-Hans,zh-Hant -
zh-HK zh-Hans-CN,zh-Hant-TW -
zh-TW zh-CN,zh-TW -
zh zh-Hans,zh-Hant zh-Hant
zh-CN zh -
zh-TW zh -
zh-TW en,zh en
sr-Latn-RS sr-Cyrl,sr-Latn -
sr-Cyrl sr-Latn -
sr sr-Latn -
sr-Latn-RS sr -
no-NO nb,sv -
nb no -
iw he -
DE_ch de-AT,de-CH -
de-DE-u-co-phonebk de -
den,d de -
x-de,de de -
de-,fr de,fr -
yue en,zh-Hant en
no nb,no -
ja,ko,fr-CA de,fr-FR de
"""
SUBTAGS = {"en": ("", "US", "GB", "AU", "001", "PH", "Latn-GB"), "pt": ("", "BR", "PT", "AO"), "es": ("", "419", "ES", "MX"),
           "zh": ("", "Hans", "Hant", "TW", "CN", "HK", "Hant-HK", "Hans-SG"), "sr": ("", "Latn", "Cyrl", "RS", "Latn-RS"),
           "de": ("", "DE", "CH", "1996", "CH-1996-x-a"), "nb": ("", "NO"), "no": ("", "NO")}


def language_lines():
    """Lines of the user's languages, those of the packs and the fallback, and what the device takes; `-` where there is none."""
    for line in CASES.split("\n"):
        if line:
            yield language_line(line)
    source = random.Random("languages")
    tags = [f"{language}-{rest}".rstrip("-") for language, all_rests in SUBTAGS.items() for rest in all_rests]
    for _ in range(400):
        languages = sorted(source.sample(tags, source.randint(1, 6)))
        user = source.sample(tags, source.randint(1, 3))
        fallback = source.choice([*languages, "-"])
        yield language_line(f"{','.join(user)} {','.join(languages)} {fallback}")


def language_line(case):
    user, languages, fallback = ([] if field == "-" else field.split(",") for field in case.split(" "))
    return f"{case} {taken(user, languages, fallback[0] if fallback else None) or '-'}"


def check_language_line(line):
    return language_line(line.rsplit(" ", 1)[0]) == line
