// Formula: TeX's mathematics as a tree, which a view draws in two dimensions and `line` writes in one.

/// A formula, or a part of one.
public indirect enum Formula: Hashable, Sendable {
  /// Parts side by side.
  case row([Formula])
  /// A letter, a number, an operator or the name of a function.
  case sign(String)
  /// Words, as typed.
  case text(String)
  /// A fraction; without its line, a binomial coefficient.
  case fraction(Formula, Formula, hasLine: Bool)
  /// Indices beside the base, or below and above it.
  case scripts(base: Formula, below: Formula?, above: Formula?, isStacked: Bool)
  /// A root; the degree is nil for a square root.
  case root(Formula, degree: Formula?)
  /// Fences that grow with what is between them; either may be empty.
  case fenced(String, Formula, String)
  /// A letter or a group under or over a mark, such as a hat.
  case marked(Formula, FormulaMark)
  /// Rows of cells.
  case table([[Formula]])

  /// Reads TeX. Unknown commands are shown as typed, and a formula that is still being written as far as it goes.
  public init(tex: String) {
    var reader = FormulaReader(tex)
    self = reader.whole()
  }

  /// Whether one line shows it well: there is nothing in it that is drawn in two dimensions.
  public var isFlat: Bool {
    switch self {
    case .sign, .text: true
    case .row(let parts): parts.allSatisfy(\.isFlat)
    case .scripts(let base, let below, let above, let isStacked):
      !isStacked && base.isFlat && (below?.isFlat ?? true) && (above?.isFlat ?? true)
    case .root(let inner, let degree): inner.isFlat && (degree?.isFlat ?? true)
    case .fenced(_, let inner, _), .marked(let inner, _): inner.isFlat
    case .fraction, .table: false
    }
  }

  /// Its height in lines of text, which fences around it have too.
  public var height: Int {
    switch self {
    case .sign, .text: 1
    case .row(let parts): parts.map(\.height).max() ?? 1
    case .fraction(let above, let below, _): above.height + below.height
    case .scripts(let base, let below, let above, let isStacked):
      base.height + (isStacked ? (below?.height ?? 0) + (above?.height ?? 0) : 0)
    case .root(let inner, _), .fenced(_, let inner, _), .marked(let inner, _): inner.height
    case .table(let rows): max(1, rows.map { $0.map(\.height).max() ?? 1 }.reduce(0, +))
    }
  }

  /// Stands for a part that is drawn, so that an operator after it has two sides: a space without width.
  private static let neighbour = Formula.text("\u{200B}")

  /// The parts of a row to draw side by side: neighbours that are flat are one part, so that a view writes them as one text.
  public var drawnParts: [Formula] {
    guard case .row(let parts) = self else { return [self] }
    var (drawn, flat): ([Formula], [Formula]) = ([], [])
    for part in parts {
      if part.isFlat {
        flat.append(part)
        continue
      }
      if !flat.isEmpty, flat != [Self.neighbour] { drawn.append(.row(flat)) }
      drawn.append(part)
      flat = [Self.neighbour]
    }
    return flat.isEmpty || flat == [Self.neighbour] ? drawn : drawn + [.row(flat)]
  }
}

/// A mark over or under a letter or a group.
public enum FormulaMark: String, Hashable, Sendable {
  /// A circumflex.
  case hat
  /// A short line above.
  case bar
  /// An arrow above.
  case vec
  /// One dot above.
  case dot
  /// Two dots above.
  case ddot
  /// A tilde.
  case tilde
  /// A line above the whole group.
  case overline
  /// A line below the whole group.
  case underline

  /// The mark alone, for a group that one letter cannot carry.
  public var sign: String {
    switch self {
    case .hat: "^"
    case .vec: "→"
    case .dot: "˙"
    case .ddot: "¨"
    case .tilde: "~"
    case .bar, .overline: "‾"
    case .underline: "_"
    }
  }

  /// The character that combines with the letter before it.
  var combining: Character {
    switch self {
    case .hat: "\u{302}"
    case .bar: "\u{304}"
    case .vec: "\u{20D7}"
    case .dot: "\u{307}"
    case .ddot: "\u{308}"
    case .tilde: "\u{303}"
    case .overline: "\u{305}"
    case .underline: "\u{332}"
    }
  }
}
