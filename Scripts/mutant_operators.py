"""Proposes faults for Swift sources, which it reads as text. Scripts/mutants.py plants them.

Each fault changes one line. PLANTED in the new line is true if the fault is on. The operators:
  never      a condition of 'if' or 'while' does not hold, or a loop is left out
  unchecked  a condition, or one side of && or ||, is ignored
  boundary   < becomes <=, and so on
  inverted   a condition that is returned, stored or passed means its opposite
  off-by-one '+ 1' or '- 1' is left out
  min-max    min becomes max, or max min
  flag       true becomes false, or false true
  skipped    a call or an assignment is left out

A line must be a whole statement, or start one, and be compiled on Linux. Bindings, patterns, preconditions and the text of messages stay."""

import re

# Skipping these calls ends in a deadlock, does not compile, or changes only the time that something takes.
UNSKIPPED = {
    "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "init", "resume", "lock", "unlock", "wait", "sleep", "usleep",
    "yield", "reserveCapacity", "checkpoint", "print", "return", "exit", "abort", "ERR_clear_error",
}
OPPOSITE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "min": "max", "max": "min"}
STRING = re.compile(r'(#*)("""|")')
PREFIX = re.compile(r"(?:(?:try|await|unsafe) )+")
COMPARISON = re.compile(r" (<=|>=|==|!=|<|>) ")
TYPE = re.compile(r"(?:[@\w()]+ )*?(?:struct|class|enum|extension|protocol|actor) [\w.]+")
BODY = re.compile(r"(?:@?[\w()]+ )*?(?:(func) (\S+?)[(<]|(init|deinit|subscript|get|set|didSet|willSet|_read|_modify)\b|(?:var|let) (\w+)[^=]*$)")
LOOP = re.compile(r"(for|while|repeat|defer|guard)\b")
CONTROL = re.compile(r"(?:.*(?: = |\breturn ))?(if|switch|do)\b", re.DOTALL)
# Starts or ends a line that belongs to the statement before or after it.
CONTINUES = re.compile(r"[.&|?:+*/<>=,)\]{}-]|else\b|where\b|in\b|#")
CONTINUED = re.compile(r"(?:[=(\[,+*/&|-]| \?|->| is| as)$")


def end_of_string(text, start):
    hashes, quote = STRING.match(text, start).groups()
    close, escape, at = quote + hashes, "\\" + hashes, start + len(hashes + quote)
    while at < len(text) and not text.startswith(close, at):
        if not text.startswith(escape, at):
            at += 1
        elif not text.startswith("(", at + len(escape)):
            at += len(escape) + 1
        else:
            at, depth = at + len(escape) + 1, 1
            while depth:
                if STRING.match(text, at):
                    at = end_of_string(text, at)
                else:
                    depth += {"(": 1, ")": -1}.get(text[at], 0)
                    at += 1
    return at + len(close)


def masked(text):
    """The text without the contents of comments and strings. Every character keeps its place."""
    parts, done = [], 0
    for found in re.finditer(r'//[^\n]*|/\*|#*"', text):
        start = found.start()
        if start < done:
            continue
        if found[0].startswith("//"):
            end, hidden = found.end(), " " * len(found[0])
        elif found[0] == "/*":
            end = text.index("*/", start) + 2
            hidden = re.sub(r"[^\n]", " ", text[start:end])
        else:
            end = end_of_string(text, start)
            hidden = '"' + re.sub(r"[^\n]", "_", text[start + 1 : end - 1]) + '"'
        parts += [text[done:start], hidden]
        done = end
    return "".join(parts) + text[done:]


class Block:
    """What is between two braces."""

    def __init__(self, parent, line, start, head):
        self.parent, self.line, self.start = parent, line, start
        # The lines where statements of this block start.
        self.lines = []
        self.name, self.is_type, self.is_body, self.is_inlinable = None, False, False, "@inlinable" in head or "@usableFromInline" in head
        # Whether its only expression is its value. Nil if that depends on the block around it.
        self.is_value = True
        # Whether it may never end if a line is left out.
        self.is_endless = False
        head = re.sub(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*", "", head)
        body = BODY.match(head)
        if control := LOOP.match(head):
            self.is_value, self.is_endless = False, control[1] in ("while", "repeat")
        elif control := CONTROL.match(head):
            self.is_value = True if control[0] != control[1] else None
        elif TYPE.match(head):
            self.is_type, self.is_value = True, False
        elif body:
            self.is_body, self.name = True, body[2] or body[3] or body[4]
            self.is_value = "->" in head and not head.endswith("-> Void ") if body[1] else self.name not in ("init", "deinit", "set", "didSet", "willSet")
        self.is_bool = self.is_body and re.search(r"(->|:) Bool $", head) is not None

    def ancestors(self):
        block = self
        while block:
            yield block
            block = block.parent

    def is_only_statement(self, line, is_label):
        if line not in self.lines:
            return True
        place = self.lines.index(line)
        before = place == 0 or is_label(self.lines[place - 1])
        after = place + 1 == len(self.lines) or is_label(self.lines[place + 1])
        return before and after

    def gives_value(self, is_label):
        if self.is_value is not None or not self.parent:
            return bool(self.is_value)
        return self.parent.is_only_statement(self.line, is_label) and self.parent.gives_value(is_label)


class Source:
    """A Swift file, with the block and the kind of each line."""

    def __init__(self, text):
        self.text, self.code = text, masked(text)
        self.lines, self.starts, at = self.code.split("\n"), [], 0
        for line in self.lines:
            self.starts.append(at)
            at += len(line) + 1
        self.blocks, self.is_statement = [None] * len(self.lines), [False] * len(self.lines)
        self.parse()

    def parse(self):
        open_brackets, conditions, before = [], 0, ""
        statement = {None: (0, 0)}
        for number, line in enumerate(self.lines):
            block = open_brackets[-1] if open_brackets else None
            stripped = line.strip()
            if stripped.startswith("#if"):
                conditions += 1
            elif stripped.startswith("#endif"):
                conditions -= 1
            elif stripped and not isinstance(block, str):
                label = re.match(r"(case|default)\b.*:$", before)
                if not CONTINUES.match(stripped) and (label or not CONTINUED.search(before)) and not re.match(r"@\w+(\(.*\))?$", before):
                    statement[block] = (self.starts[number], number)
                    if block:
                        block.lines.append(number)
                    self.blocks[number] = block
                    self.is_statement[number] = conditions == 0
                elif block and conditions == 0 and stripped.startswith("} else if "):
                    self.blocks[number] = block.parent
            before = stripped or before
            for found in re.finditer(r"[(){}\[\]]", line):
                match found[0]:
                    case "(" | "[":
                        open_brackets.append(found[0])
                    case "{":
                        around = open_brackets[-1] if open_brackets else None
                        outer = next((b for b in reversed(open_brackets) if isinstance(b, Block)), None)
                        start, first = statement[around] if not isinstance(around, str) else (self.starts[number] + found.start(), number)
                        block = Block(outer, first, self.starts[number] + found.end(), self.code[start : self.starts[number] + found.start()])
                        statement[block] = (self.starts[number] + found.end(), number)
                        open_brackets.append(block)
                    case _ if open_brackets:
                        open_brackets.pop()

    def is_label(self, number):
        return re.match(r"\s*(@unknown )?(case|default)\b", self.lines[number]) is not None

    def function(self, number):
        """The name of what a line belongs to."""
        names = [block.name for block in self.blocks[number].ancestors() if block.name] if self.blocks[number] else []
        own = re.match(r"\s*(?:[@\w()]+ )*?(?:func|var|let) (\w+)\b.*[{=]", self.lines[number])
        return re.sub(r"\W", "_", names[-1] if names else own[1] if own else "")

    def ends(self, number):
        """Whether the statement of a line ends with it."""
        after = next((line.strip() for line in self.lines[number + 1 :] if line.strip()), "}")
        return not CONTINUED.search(self.lines[number].rstrip()) and (after[0] == "}" or not CONTINUES.match(after) or after[0] == "#")


def depths(code):
    """The number of brackets around each character, or nil if they are not balanced."""
    found, depth = [], 0
    for character in code:
        depth -= character in ")]}"
        if depth < 0:
            return None
        found.append(depth)
        depth += character in "([{"
    return found if depth == 0 else None


class Span:
    """A part of a line."""

    def __init__(self, line, code, start, end):
        self.line, self.all, self.start, self.end = line, code, start, end

    @property
    def code(self):
        return self.all[self.start : self.end]

    @property
    def text(self):
        return self.line[self.start : self.end]

    def part(self, start, end):
        return Span(self.line, self.all, self.start + start, self.start + end)

    def with_new(self, new):
        return self.line[: self.start] + new + self.line[self.end :]

    def split(self, separator):
        """The parts between separators that no bracket is around."""
        if separator not in self.code:
            return [self]
        levels = depths(self.code)
        if levels is None:
            return [self]
        places = [found.start() for found in re.finditer(re.escape(separator), self.code) if levels[found.start()] == 0]
        starts = [0] + [place + len(separator) for place in places]
        return [self.part(start, end) for start, end in zip(starts, places + [len(self.code)])]

    def comparison(self):
        levels = COMPARISON.search(self.code) and depths(self.code)
        found = [match for match in COMPARISON.finditer(self.code) if levels[match.start()] == 0] if levels else []
        return found[0] if len(found) == 1 else None

    def is_logical(self):
        """Whether it is surely a condition."""
        if len(self.split(" ? ")) > 1 or re.search(r"\w<\w", self.code):
            return False
        return self.comparison() is not None or len(self.split(" && ")) > 1 or len(self.split(" || ")) > 1 or self.code.startswith("!")

    def without_prefix(self):
        prefix = PREFIX.match(self.code)
        return self.part(prefix.end(), len(self.code)) if prefix else self


def of_condition(span, is_whole=False, is_inverted=False):
    """The faults of a condition: pairs of an operator and the new line. A whole condition may be ignored, too."""
    span = span.without_prefix()
    if depths(span.code) is None or len(span.split(" ? ")) > 1 or re.search(r"\w<\w", span.code):
        return
    if is_whole:
        yield "unchecked", span.with_new(f"({span.text}) || PLANTED")
    leaves = []
    sides = span.split(" || ")
    for side in sides:
        if len(sides) > 1:
            yield "unchecked", side.with_new(f"({side.text}) && !PLANTED")
        factors = side.split(" && ")
        for factor in factors:
            if len(factors) > 1:
                yield "unchecked", factor.with_new(f"(({factor.text}) || PLANTED)")
        leaves += factors
    for leaf in leaves:
        found = leaf.comparison()
        if found and found[1] in OPPOSITE:
            left, right = leaf.text[: found.start()], leaf.text[found.end() :]
            yield "boundary", leaf.with_new(f"(PLANTED ? {left} {OPPOSITE[found[1]]} {right} : {leaf.text})")
    if is_inverted and len(leaves) == 1:
        yield "inverted", span.with_new(f"(({span.text}) != PLANTED)")


def of_branch(line, code):
    """The faults of 'if', 'guard', 'while' and 'for' whose condition is on one line."""
    found = re.match(r"\s*(?:\} else )?(if|guard|while) ", code) or re.search(r"(?: = |\breturn |\} else )(if) ", code)
    end = None
    if found:
        start = found.end()
        depth = 0
        for at in range(start, len(code)):
            if depth == 0 and code.startswith(" else {" if found[1] == "guard" else " {", at):
                end = at
                break
            depth += (code[at] in "([{") - (code[at] in ")]}")
    if end is None:
        yield from of_loop(line, code)
        return
    whole = Span(line, code, start, end)
    if re.search(r"\w<\w", whole.code):
        return
    if found[1] != "guard" and whole.code != "true":
        yield "never", whole.with_new(f"{whole.text}, !PLANTED")
    if found[1] != "while":
        for item in whole.split(", "):
            if not re.match(r"(let|var|case)\b|#", item.code):
                yield from of_condition(item, is_whole=True)


def of_loop(line, code):
    loop = re.match(r"\s*for (?:[^{}]|\{[^{}]*\}(?= *[.)]))*? \{", code)
    if not loop or "#" in code or depths(code[: loop.end() - 1]) is None:
        return
    head = Span(line, code, 0, loop.end() - 2)
    *_, where = head.split(" where ")
    if where.start == 0:
        yield "never", head.with_new(f"{head.text} where !PLANTED")
    else:
        yield "never", where.with_new(f"({where.text}) && !PLANTED")
        yield from of_condition(where, is_whole=True)


def of_value(line, code, is_bool):
    """The faults of a condition that is returned or stored, or that chooses between two values."""
    found = re.match(r"\s*(?:return |(?:let|var) \w+(?:: Bool)? = |[\w.]+ = )?", code)
    value = Span(line, code, found.end(), len(code.rstrip()))
    if depths(value.code) is None or re.match(r"(if|switch|let|var|func)\b", value.code):
        return
    if found[0].strip():
        parts = value.split(" ? ")
        if len(parts) == 2 and len(value.split(" ?? ")) == 1:
            yield from of_condition(parts[0], is_inverted=True)
        elif value.is_logical():
            yield from of_condition(value, is_inverted=True)
    elif is_bool:
        yield from of_condition(value, is_inverted=True)


def of_closures(line, code):
    """The faults of properties and closures on one line that return a condition."""
    for found in re.finditer(r"(?:(?:->|:) Bool|\.(?:filter|allSatisfy|contains)|\((?:where|while):) \{ ((?:(?! in )[^{}])*) \}", code):
        if found[1] not in ("get", "get set"):
            yield from of_condition(Span(line, code, *found.span(1)), is_inverted=True)


def of_numbers(line, code):
    for found in re.finditer(r"(?<=[\w)\]]) ([+-]) 1(?![\w.])", code):
        yield "off-by-one", Span(line, code, *found.span()).with_new(f" {found[1]} (PLANTED ? 0 : 1)")
    for found in re.finditer(r"(?<![\w.])(min|max)\(", code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += (code[end] in "([{") - (code[end] in ")]}")
            end += 1
        call = Span(line, code, found.start(), end)
        arguments = Span(line, code, found.end(), end - 1)
        if depth == 0 and len(arguments.split(", ")) > 1:
            yield "min-max", call.with_new(f"(PLANTED ? {OPPOSITE[found[1]]}({arguments.text}) : {call.text})")


def of_flags(line, code, is_in_body):
    places = re.finditer(r"(?<=\?\? )(true|false)\b|(?<=\w: )(true|false)(?=[,)])|(?<=\breturn )(true|false)(?=$|[ ,;})])", code)
    for found in [*places] + [*re.finditer(r"(?<=\w = )(true|false)$", code.rstrip())] * is_in_body:
        yield "flag", Span(line, code, *found.span()).with_new("!PLANTED" if found[0] == "true" else "PLANTED")


def of_statement(source, number, line, code):
    block = source.blocks[number]
    if not block or block.is_type:
        return
    levels = depths(code)
    if levels is None or not re.search(r"\)|[^=]= ", code):
        return
    bare = "".join(character for character, level in zip(code, levels) if level == 0).strip()
    call = re.fullmatch(r"(?:_ = )?(?:try[?]? |await |unsafe )*[\w.?!$()\[\]]*?(\w+)\(\)", bare)
    assignment = re.fullmatch(r"(self\.|\$0\.)?(\w+)((?:\.\w+|[?!]|\[\])*) ([-+*/&|]?=) (.+)", bare)
    indent = re.match(r"\s*", line)[0]
    if call and call[1] not in UNSKIPPED and not call[1][0].isupper() and not re.search(r"&\w*span\b", code, re.IGNORECASE):
        if not (block.is_only_statement(number, source.is_label) and block.gives_value(source.is_label)):
            yield "skipped", f"{indent}if !PLANTED {{ {line.strip()} }}"
    elif assignment and assignment[2] != "_" and not re.search(r"\b(if|switch)\b|\bself$|\bspan\b|Span$", bare):
        body = next((b for b in block.ancestors() if b.is_body), None)
        before = source.code[body.start : source.starts[number]] if body else ""
        is_plain = not assignment[3] and assignment[4] == "="
        # The first value of a variable, or of a property, has to be set.
        is_first = any(b.name == "init" for b in block.ancestors()) or re.search(rf"\b(?:let|var) {assignment[2]}\b(?![^\n]*=)", before)
        if not is_first and not (is_plain and assignment[5] in ("true", "false")):
            yield "skipped", f"{indent}if !PLANTED {{ {line.strip()} }}"


def of_file(text):
    """The faults of a file: its function, the operator, the number of the line, and the new line."""
    source = Source(text)
    for number, code in enumerate(source.lines):
        stripped = code.strip()
        line = source.text[source.starts[number] : source.starts[number] + len(code)]
        block = source.blocks[number]
        is_branch = block is not None and stripped.startswith("} else if ")
        if not (source.is_statement[number] or is_branch) or re.match(r"(precondition|assert|import|@|case [^.]|typealias)", stripped):
            continue
        if block and any(b.is_inlinable for b in block.ancestors()) or re.search(r"@inlinable|#", code) or "//" in line[len(code.rstrip()) :]:
            continue
        is_declaration = re.match(r"(?:[@\w()]+ )*?(?:func|init|subscript)\b", stripped) is not None
        is_in_body = block is not None and any(b.is_body for b in block.ancestors())
        is_endless = block is not None and any(b.is_endless for b in block.ancestors())
        is_bool = block is not None and block.is_bool and block.is_only_statement(number, source.is_label)
        found = [*of_branch(line, code), *of_closures(line, code)]
        if not is_declaration:
            found += [*of_numbers(line, code), *of_flags(line, code, is_in_body)]
        if source.is_statement[number] and source.ends(number):
            found += [*of_value(line, code, is_bool), *of_statement(source, number, line, code)]
        for operator, new in dict.fromkeys(found):
            # Without a step, a loop never ends.
            if is_endless and operator in ("off-by-one", "skipped") and re.match(r"[\w.]+ [-+*/&|]?= ", stripped):
                continue
            yield source.function(number), operator, number, new


def brackets(code):
    """The brackets that are not closed or not opened."""
    left = ""
    for bracket in re.findall(r"[(){}\[\]]", code):
        left = left[:-1] if left[-1:] + bracket in ("()", "{}", "[]") else left + bracket
    return left


def is_well_formed(old, new):
    return masked(new).count("PLANTED") == 1 and brackets(masked(old)) == brackets(masked(new))
