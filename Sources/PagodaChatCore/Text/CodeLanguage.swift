// CodeLanguage: the syntax of a language, as far as the highlighter needs it.

/// A language as the highlighter sees it: its keywords, and the marks of comments and strings.
struct CodeLanguage: Sendable {
  var keywords: Set<String>
  var lineComments = ["//"]
  var hasBlockComments = true
  var quotes: Set<Unicode.Scalar> = ["\"", "'"]
  var hasTripleQuotes = false

  /// Looks up the name in a fence; nil for an unknown one.
  static func named(_ name: String) -> CodeLanguage? { all[name.lowercased()] }

  private static let all: [String: CodeLanguage] = {
    var table: [String: CodeLanguage] = [:]
    for (names, language) in groups { for name in names { table[name] = language } }
    return table
  }()

  private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map { String($0) }) }

  private static let cWords =
    "auto bool break case char const continue default do double else enum extern float for goto if "
    + "inline int long return short signed sizeof static struct switch typedef union unsigned void "
    + "volatile while NULL true false"

  private static let groups: [([String], CodeLanguage)] = [
    (
      ["swift"],
      CodeLanguage(
        keywords: words(
          "actor any as associatedtype async await break case catch class continue default defer deinit "
            + "do else enum extension false fileprivate final for func guard if import in indirect init "
            + "inout internal is let mutating nil nonisolated open operator override package private "
            + "protocol public repeat rethrows return self Self some static struct subscript super switch "
            + "throw throws true try typealias var weak where while"),
        quotes: ["\""], hasTripleQuotes: true)
    ),
    (
      ["python", "py"],
      CodeLanguage(
        keywords: words(
          "and as assert async await break class continue def del elif else except False finally for "
            + "from global if import in is lambda match None nonlocal not or pass raise return True try "
            + "while with yield"),
        lineComments: ["#"], hasBlockComments: false, hasTripleQuotes: true)
    ),
    (["c", "h"], CodeLanguage(keywords: words(cWords))),
    (
      ["cpp", "c++", "cc", "cxx", "hpp", "metal", "cuda"],
      CodeLanguage(
        keywords: words(
          cWords
            + " alignas catch class concept consteval constexpr constinit co_await co_return co_yield decltype delete explicit "
            + "export final friend kernel mutable namespace new noexcept nullptr operator override private protected public "
            + "requires template this throw try typename using virtual"))
    ),
    (
      ["javascript", "js", "typescript", "ts", "jsx", "tsx"],
      CodeLanguage(
        keywords: words(
          "abstract any as async await boolean break case catch class const continue debugger default "
            + "delete do else enum export extends false finally for from function if implements import in "
            + "instanceof interface let new null number of private protected public readonly return static "
            + "string super switch this throw true try type typeof undefined var void while yield"),
        quotes: ["\"", "'", "`"])
    ),
    (
      ["rust", "rs"],
      CodeLanguage(
        keywords: words(
          "as async await break const continue crate dyn else enum extern false fn for if impl in let "
            + "loop match mod move mut pub ref return self Self static struct super trait true type unsafe "
            + "use where while"),
        quotes: ["\""])  // ' also starts a lifetime
    ),
    (
      ["go", "golang"],
      CodeLanguage(
        keywords: words(
          "break case chan const continue default defer else fallthrough false for func go goto if "
            + "import interface map nil package range return select struct switch true type var"),
        quotes: ["\"", "'", "`"])
    ),
    (
      ["java", "kotlin", "kt"],
      CodeLanguage(
        keywords: words(
          "abstract boolean break byte case catch char class const continue data default do double else "
            + "enum extends false final finally float for fun if implements import in instanceof int "
            + "interface is long new null object override package private protected public return short "
            + "static super switch this throw throws true try val var void when while"),
        hasTripleQuotes: true)
    ),
    (
      ["sh", "bash", "zsh", "shell", "console"],
      CodeLanguage(
        keywords: words(
          "case do done elif else esac exit export fi for function if in local readonly return set "
            + "shift then unset until while"),
        lineComments: ["#"], hasBlockComments: false)
    ),
    (
      ["sql"],
      CodeLanguage(
        keywords: words(
          "ALTER AND AS ASC BY CASE CREATE DELETE DESC DISTINCT DROP ELSE END FROM GROUP HAVING IN "
            + "INDEX INNER INSERT INTO IS JOIN LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY KEY RIGHT "
            + "SELECT SET TABLE THEN UNION UPDATE VALUES WHEN WHERE WITH"),
        lineComments: ["--"])
    ),
    (
      ["json"],
      CodeLanguage(keywords: words("true false null"), lineComments: [], hasBlockComments: false, quotes: ["\""])
    ),
    (
      ["yaml", "yml", "toml"],
      CodeLanguage(
        keywords: words("true false null"), lineComments: ["#"], hasBlockComments: false, hasTripleQuotes: true)
    ),
  ]
}
