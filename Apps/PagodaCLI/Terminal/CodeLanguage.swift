// CodeLanguage: the marks of strings and comments, and the keywords, of the languages that answers are written in.

/// What CodeColours needs to know of a language.
struct CodeLanguage: Sendable {
  struct Mark: Sendable {
    var start: String
    var end: String?  // nil: the end of the line
    var isComment: Bool
    var endsWithLine: Bool
  }

  var keywords: Set<String>
  var marks: [Mark]  // longer ones first
  var ignoresCase = false
  var isDiff = false

  /// By a name or file ending, in any case; nil for an unknown one.
  static func named(_ name: String) -> CodeLanguage? {
    let name = name.lowercased()
    return families.first { $0.names.contains(name) }?.language
  }

  private init(
    keywords: String, comments: [String] = [], blocks: [(String, String)] = [], quotes: String = "\"'",
    longQuotes: [String] = [], ignoresCase: Bool = false, isDiff: Bool = false
  ) {
    self.keywords = Set(keywords.split(whereSeparator: \.isWhitespace).map(String.init))
    let marks =
      comments.map { Mark(start: $0, end: nil, isComment: true, endsWithLine: true) }
      + blocks.map { Mark(start: $0.0, end: $0.1, isComment: true, endsWithLine: false) }
      + longQuotes.map { Mark(start: $0, end: $0, isComment: false, endsWithLine: false) }
      // A quote that is not closed in its line is an apostrophe more often than a string.
      + quotes.map { Mark(start: String($0), end: String($0), isComment: false, endsWithLine: $0 != "`") }
    self.marks = marks.sorted { $0.start.count > $1.start.count }
    self.ignoresCase = ignoresCase
    self.isDiff = isDiff
  }

  private static let families: [(names: Set<String>, language: CodeLanguage)] = [
    (
      ["python", "py", "python3"],
      CodeLanguage(
        keywords: """
          False None True and as assert async await break case class continue def del elif else except finally for from global
          if import in is lambda match nonlocal not or pass raise return try while with yield self
          """, comments: ["#"], longQuotes: ["\"\"\"", "'''"])
    ),
    (
      ["swift"],
      CodeLanguage(
        keywords: """
          actor any as associatedtype async await break case catch class continue default defer deinit do else enum extension
          fallthrough false fileprivate final for func guard if import in init inout internal is lazy let mutating nil open
          override package private protocol public repeat rethrows return self Self some static struct subscript super switch
          throw throws true try typealias var weak where while
          """, comments: ["//"], blocks: [("/*", "*/")], quotes: "\"", longQuotes: ["\"\"\""])
    ),
    (
      ["rust", "rs"],
      CodeLanguage(
        keywords: """
          as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub
          ref return self Self static struct super trait true type unsafe use where while
          """, comments: ["//"], blocks: [("/*", "*/")], quotes: "\"")
    ),
    (
      [
        "c", "h", "cpp", "c++", "cc", "cxx", "hpp", "objc", "java", "js", "jsx", "javascript", "ts", "tsx",
        "typescript", "go",
        "golang", "kotlin", "kt", "csharp", "cs", "c#", "php", "scala", "dart", "zig", "metal", "cuda", "glsl", "css",
        "scss", "json5",
        "jsonc",
      ],
      CodeLanguage(
        keywords: """
          abstract and as async auto await bool boolean break byte case catch chan char class concept const constexpr continue
          default defer delete do double else enum export extends extern false final finally float for foreach from fun func
          function go goto if implements import in instanceof int interface let long map match mutable namespace new nil null
          nullptr of operator or override package private protected public range return select short signed sizeof static string
          struct super switch template this throw throws true try type typedef typename typeof undefined union unsigned using val
          var virtual void volatile when where while yield
          """, comments: ["//"], blocks: [("/*", "*/")], quotes: "\"'`")
    ),
    (
      ["sh", "bash", "zsh", "fish", "shell", "console", "shellscript", "make", "makefile", "dockerfile", "docker"],
      CodeLanguage(
        keywords: """
          if then else elif fi for in do done while until case esac function return export local set unset echo exit source alias
          cd sudo read test shift trap eval exec FROM RUN COPY ADD CMD ENTRYPOINT ENV WORKDIR EXPOSE ARG USER VOLUME
          """, comments: ["# "])
    ),
    (
      ["ruby", "rb", "perl", "pl", "r", "julia", "jl", "elixir", "ex"],
      CodeLanguage(
        keywords: """
          alias and begin break case class def defmodule do else elsif end ensure false for foreach function if in library local
          module my new next nil not or our package print puts require rescue return self sub super then true TRUE FALSE NULL
          undef unless until use using when while yield
          """, comments: ["#"])
    ),
    (
      ["json", "yaml", "yml", "toml", "ini", "conf", "hcl", "terraform", "tf"],
      CodeLanguage(keywords: "true false null yes no on off", comments: ["# ", "#!"])
    ),
    (
      ["sql", "postgres", "postgresql", "mysql", "sqlite"],
      CodeLanguage(
        keywords: """
          add all alter and as asc between by case check column commit constraint count create cross default delete desc distinct
          drop else end exists false foreign from full group having in index inner insert into is join key left like limit not
          null offset on or order outer primary references returning right rollback select set table then true union unique
          update using values view when where with
          """, comments: ["--"], blocks: [("/*", "*/")], quotes: "'\"", ignoresCase: true)
    ),
    (
      ["lua", "haskell", "hs", "elm", "ada"],
      CodeLanguage(
        keywords: """
          and break case class data deriving do else elseif end false for function goto if import in infix instance let local
          module newtype nil not of or repeat return then true type until where while
          """, comments: ["--"], quotes: "\"")
    ),
    (["html", "xml", "svg", "vue"], CodeLanguage(keywords: "", blocks: [("<!--", "-->")], quotes: "\"")),
    (["diff", "patch"], CodeLanguage(keywords: "", quotes: "", isDiff: true)),
  ]
}
