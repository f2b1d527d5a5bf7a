/// The lines of a kind of text, with placeholders for names, words and numbers.
///
/// A placeholder is `~` and a letter: `n` any name, `l` one of the few names that a file reuses, `w` a word, `s` some words, `i` an integer,
/// `d` a decimal number, `h` six hexadecimal digits, `f` some words of a foreign script, `b` a piece of base64, `c` some coordinates.
struct Grammar: Sendable {
  /// One line, parsed into pieces.
  struct Line: Sendable {
    enum Piece: Sendable {
      case text([UInt8])
      case name, local, word, sentence, integer, decimal, hexadecimal, foreign, base64, coordinates
    }

    let pieces: [Piece]

    init(_ text: String) {
      var pieces: [Piece] = []
      var literal: [UInt8] = []
      var bytes = Array(text.utf8)[...]
      while let byte = bytes.popFirst() {
        guard byte == UInt8(ascii: "~"), let letter = bytes.popFirst() else {
          literal.append(byte)
          continue
        }
        if !literal.isEmpty { pieces.append(.text(literal)) }
        literal = []
        switch letter {
        case UInt8(ascii: "n"): pieces.append(.name)
        case UInt8(ascii: "l"): pieces.append(.local)
        case UInt8(ascii: "w"): pieces.append(.word)
        case UInt8(ascii: "s"): pieces.append(.sentence)
        case UInt8(ascii: "i"): pieces.append(.integer)
        case UInt8(ascii: "d"): pieces.append(.decimal)
        case UInt8(ascii: "h"): pieces.append(.hexadecimal)
        case UInt8(ascii: "f"): pieces.append(.foreign)
        case UInt8(ascii: "b"): pieces.append(.base64)
        case UInt8(ascii: "c"): pieces.append(.coordinates)
        default: preconditionFailure("a grammar contains an unknown placeholder")
        }
      }
      if !literal.isEmpty { pieces.append(.text(literal)) }
      self.pieces = pieces
    }
  }

  private(set) var fileExtension: String
  /// The number that selects the frequent names of this kind of text.
  var dialect = 0
  /// The first lines of every such file.
  let start: [Line]
  let plain: [Line]
  /// Lines after which the text is indented once more.
  let opening: [Line]
  let closing: Line
  /// Whether the text has no line breaks and no indentation.
  var isMinified = false

  init(_ fileExtension: String, start: [String], plain: [String], opening: [String], closing: String) {
    self.fileExtension = fileExtension
    self.start = start.map(Line.init)
    self.plain = plain.map(Line.init)
    self.opening = opening.map(Line.init)
    self.closing = Line(closing)
  }

  /// The kinds of text.
  static let all: [Grammar] = {
    var all = [
      script, data, shader, style, markup, drawing, map, translation, script.named("ts"), script.named("lua"), data.named("atlas"),
      data.named("gltf"), markup.named("html"), markup.named("resx"), translation.named("po"), shader.named("wgsl"),
    ]
    for index in all.indices { all[index].dialect = index }
    return all
  }()

  /// Returns a grammar with the same lines for files of another kind, which have their own names.
  private func named(_ fileExtension: String) -> Grammar {
    var grammar = self
    grammar.fileExtension = fileExtension
    return grammar
  }

  static let script = Grammar(
    "js",
    start: [
      "/**", " * ~s", " * @copyright ~w ~w", " * @license MIT", " */", "'use strict';", "import { ~n, ~n } from './~w/~n.js';",
      "import ~n from '../~w/~n.js';",
    ],
    plain: [
      "this.~l = ~n;", "const ~l = this.~n.~n(~l, ~i);", "~l.~n(~l);", "return this.~l;", "~l.~n = ~l.~n + ~d;",
      "let ~l = new ~n(~l, '~w');", "this.~n(~l.~l, ~l.~n);", "// ~s", "~l[~i] = ~l;", "~l.push({ ~n: ~l, ~n: ~i });",
      "this.~l.on('~w', this.~n, this);", "var ~l = Math.min(~l, ~n) * ~d;", "throw new Error('~s');", "~l += ~n(~l);",
      "/** @type {~n} ~s */",
    ],
    opening: [
      "function ~n(~l, ~l) {", "if (~l.~n === ~l) {", "for (let i = 0; i < ~l.length; i++) {", "~l.forEach(function (~l) {",
      "class ~n extends ~n {", "~n(~l, ~l = ~i) {", "if (!this.~l) {", "switch (~l) {",
    ],
    closing: "}")

  static let data = Grammar(
    "json", start: ["\"version\": ~i,", "\"name\": \"~w\","],
    plain: [
      "\"~l\": ~i,", "\"~l\": \"~w\",", "\"~l\": ~d,", "\"~n\": true,", "\"~l\": [~i, ~i, ~i, ~i],", "\"~l\": \"#~h\",",
      "\"~n\": \"~s\",", "\"id\": \"~h~h\",", "\"frame\": { \"x\": ~i, \"y\": ~i, \"w\": ~i, \"h\": ~i },",
    ],
    opening: ["\"~l\": {", "\"~n\": {", "{", "\"~l\": ["], closing: "},")

  static let shader = Grammar(
    "glsl",
    start: ["#version 300 es", "precision highp float;", "uniform mat4 ~l;", "uniform sampler2D ~l;", "in vec3 ~l;", "out vec4 ~l;"],
    plain: [
      "vec3 ~l = normalize(~l.xyz);", "float ~l = dot(~l, ~l) * ~d;", "~l.rgb += texture(~n, ~l.xy).rgb * ~d;", "#include <~n>",
      "vec4 ~l = ~n * vec4(~l, 1.0);", "~l = mix(~l, ~l, clamp(~n, 0.0, 1.0));", "// ~s", "#define ~n ~d",
    ],
    opening: ["void ~n(in vec3 ~l, out vec4 ~l) {", "if (~l.x < ~d) {", "for (int i = 0; i < ~i; i++) {", "struct ~n {"], closing: "}")

  static let style = Grammar(
    "css", start: ["/* ~s */", "@charset \"utf-8\";"],
    plain: [
      "color: #~h;", "margin: ~ipx ~ipx;", "padding: ~ipx;", "background: url(../img/~n.png) no-repeat;", "font-size: ~ipx;",
      "transition: opacity ~ds ease-in-out;", "border: 1px solid rgba(~i, ~i, ~i, ~d);", "width: ~i%;", "display: flex;",
      "position: absolute;", "transform: translate(~ipx, ~ipx);",
    ],
    opening: [".~l-~n {", "#~l .~n {", ".~l:hover, .~l.~n {", "@media (max-width: ~ipx) {"], closing: "}")

  static let markup = Grammar(
    "xml", start: ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<!-- ~s -->"],
    plain: [
      "<~l name=\"~n\" value=\"~i\"/>", "<object id=\"~i\" x=\"~d\" y=\"~d\" width=\"~i\" height=\"~i\"/>", "<~l>~s</~l>",
      "<property name=\"~l\" type=\"~w\" value=\"~n\"/>", "<tile id=\"~i\" gid=\"~i\"/>",
    ],
    opening: ["<~l id=\"~n\">", "<group name=\"~n\" class=\"~l\">", "<div class=\"~l ~n\">"], closing: "</div>")

  static let drawing = Grammar(
    "svg", start: ["<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ~i ~i\">"],
    plain: [
      "<path d=\"M~c\" fill=\"#~h\"/>", "<path class=\"~l\" d=\"M~c~c\"/>", "<image xlink:href=\"data:image/png;base64,~b\"/>",
      "<use xlink:href=\"#~l\" transform=\"matrix(~d ~d ~d ~d ~d ~d)\"/>",
    ],
    opening: ["<g id=\"~l\" stroke=\"#~h\">"], closing: "</g>")

  static let map = Grammar(
    "tmx", start: ["<?xml version=\"1.0\"?>", "<map version=\"1.0\" width=\"~i\" height=\"~i\">"],
    plain: ["0,0,0,0,~i,~i,~i,0,0,~i,~i,0,0,0,", "~i,~i,~i,~i,~i,~i,~i,~i,~i,~i,~i,", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"],
    opening: ["<layer name=\"~l\" width=\"~i\" height=\"~i\"><data encoding=\"csv\">"], closing: "</data></layer>")

  static let translation = Grammar(
    "properties", start: ["# ~f"],
    plain: ["~l.~l=~f", "~l.~n=~f %1$s ~f", "~l.title=~f", "~l.error=~f: {0}"], opening: ["# ~f"], closing: "")

  /// A minified library: one long line of short names.
  static let minified: Grammar = {
    var grammar = Grammar(
      "min.js", start: ["/*! ~w v~i.~i.~i | MIT */", "!function(t,e){\"object\"==typeof exports?e(exports):e(t.~n={})}(this,function(t){"],
      plain: [
        "var e=this.~l,r=~i;", "t.~n=~l(e,r);", "e.~l=function(t){return t.~n};", "r.prototype.~n=function(){return this.~l};",
        "if(!t.~n)return e;", "n.push(t.~l*~d);", "throw new Error(\"~s\");", "this.~l=t,this.~n=e,this.~l=r;", "case ~i:return ~l;",
      ],
      opening: ["function ~l(t,e){", "for(var i=0;i<~l.length;i++){", "if(~l&&t.~n!==~i){", "t.~n=function(e,r){"], closing: "}")
    grammar.isMinified = true
    return grammar
  }()
}
