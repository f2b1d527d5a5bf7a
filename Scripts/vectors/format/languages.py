"""Which of some languages a device takes (FORMAT.md §9.8)."""

import re

ALIASES = {"no": "nb", "iw": "he", "in": "id"}
# The regions that do not share the texts of others, and those whose texts the others share.
SHARED = {"en": ("US AS GU MH MP PH PR UM VI", ("GB", "001")), "es": ("ES EA GQ IC PH", ("419", "MX")), "pt": ("BR", ("PT",))}
USUAL = {("en", ""): "US", ("pt", ""): "BR", ("zh", "Hant"): "TW", ("zh", "Hans"): "CN"}


def parse_tag(text):
    """(language, script, region, variants), the parts that are not there empty. None if it is no tag."""
    parts = re.split("[-_]", text)
    if not all(re.fullmatch("[A-Za-z0-9]{1,8}", part) for part in parts) or len(parts[0]) < 2:
        return None
    end = next((i for i, part in enumerate(parts) if len(part) == 1), len(parts))
    language, rest = ALIASES.get(parts[0].lower(), parts[0].lower()), parts[1:end]
    script = rest.pop(0).title() if rest and re.fullmatch("[A-Za-z][A-Za-z0-9]{3}", rest[0]) else ""
    region = rest.pop(0).upper() if rest and re.fullmatch("..|[0-9]..", rest[0]) else ""
    if language == "zh" and not script:
        script = "Hant" if region in ("TW", "HK", "MO") else "Hans"
    return language, script, region, tuple(part.lower() for part in rest)


def ranks(wanted, tag):
    """Where a tag stands among those close to the user's, the closest first. None if it is not close."""
    language, script, region, variants = wanted
    if tag is None or tag[0] != language or tag[1] and script and tag[1] != script:
        return None
    order = [(language, script, region, variants[:count]) for count in range(len(variants), -1, -1)]
    alone, shared = SHARED.get(language, ("", ()))
    if region and region not in alone.split():
        order += [(language, script, other, ()) for other in shared]
    order += [(language, script, "", ())] + [(language, "", "", ())] * (language != "zh")
    if tag in order:
        return order.index(tag)
    usual = USUAL.get((language, tag[1] if language == "zh" else ""), language.upper())
    return len(order) + (tag[2] != usual)


def taken(user, languages, fallback):
    """The language that a device with some languages of its user takes. None if it takes none."""
    for text in user:
        if text in languages:
            return text
        wanted = parse_tag(text)
        found = wanted and [(rank, tag) for tag in languages if (rank := ranks(wanted, parse_tag(tag))) is not None]
        if found:
            return min(found, key=lambda pair: pair[0])[1]
    return fallback if user else None
