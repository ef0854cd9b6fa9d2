// TeX's names of symbols and fonts as Unicode characters.

enum FormulaSymbols {
  private static func table(_ text: String) -> [String: String] {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    return Dictionary(uniqueKeysWithValues: stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) })
  }

  /// Signs that stand for themselves, like letters.
  static let letters = table(
    """
    alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ
    nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ
    hbar ℏ imath ı jmath ȷ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ Re ℜ Im ℑ aleph ℵ wp ℘ top ⊤ bot ⊥
    angle ∠ triangle △ square □ Box □ blacksquare ■ checkmark ✓ degree ° prime ′ dagger † ddagger ‡ dots … ldots … dotsc …
    cdots ⋯ dotsb ⋯ vdots ⋮ ddots ⋱ neg ¬ lnot ¬ lbrace { rbrace } langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉
    vert | lvert | rvert | Vert ‖ lVert ‖ rVert ‖ int ∫ iint ∬ iiint ∭ oint ∮ colon : S § P ¶
    """)

  /// Operators and relations, which have spaces around them.
  static let operators = table(
    """
    times × cdot · div ÷ pm ± mp ∓ le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼
    simeq ≃ cong ≅ propto ∝ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ subsetneq ⊊ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖
    to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ iff ⟺ Leftrightarrow ⇔ implies ⟹
    impliedby ⟸ mapsto ↦ longmapsto ⟼ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹ hookrightarrow ↪
    rightleftharpoons ⇌ leadsto ⇝ uparrow ↑ downarrow ↓ land ∧ lor ∨ wedge ∧ vee ∨ circ ∘ oplus ⊕ ominus ⊖ otimes ⊗
    odot ⊙ mid ∣ nmid ∤ parallel ∥ perp ⊥ ast ∗ star ⋆ bullet ∙ ll ≪ gg ≫ prec ≺ succ ≻ preceq ⪯ succeq ⪰ lesssim ≲
    gtrsim ≳ vdash ⊢ models ⊨ asymp ≍ doteq ≐ triangleq ≜ coloneqq ≔ therefore ∴ because ∵ bmod mod
    """)

  /// Operators with limits above and below in displayed formulas.
  static let large = table(
    "sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀ bigsqcup ⨆")

  static let functions: Set = [
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln", "lg",
    "exp",
    "lim", "limsup", "liminf", "max", "min", "sup", "inf", "det", "dim", "ker", "gcd", "lcm", "deg", "arg", "Pr",
    "argmax",
    "argmin", "sgn", "tr", "rank",
  ]
  /// Functions with limits below in displayed formulas.
  static let limits: Set = [
    "lim", "limsup", "liminf", "max", "min", "sup", "inf", "det", "gcd", "Pr", "argmax", "argmin",
  ]

  static let marks: [String: FormulaMark] = [
    "hat": .hat, "widehat": .hat, "bar": .bar, "vec": .vec, "overrightarrow": .vec, "dot": .dot, "ddot": .ddot,
    "tilde": .tilde, "widetilde": .tilde, "overline": .overline, "underline": .underline,
  ]
  static let brackets: [String: (String, String)] = [
    "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "Bmatrix": ("{", "}"), "vmatrix": ("|", "|"), "Vmatrix": ("‖", "‖"),
    "cases": ("{", ""), "dcases": ("{", ""), "rcases": ("", "}"),
  ]
  /// Commands that change nothing that is shown.
  static let ignored: Set = [
    "displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "nonumber", "notag", "hline", "rm", "bf", "it",
    "middle", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr",
    "allowbreak",
  ]

  private static let double = table("C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ")
  private static let script = table("B ℬ E ℰ F ℱ H ℋ I ℐ L ℒ M ℳ R ℛ e ℯ g ℊ o ℴ")
  private static let fonts: [String: (capital: UInt32, small: UInt32, exceptions: [String: String])] = [
    "mathbb": (0x1D538, 0x1D552, double), "mathcal": (0x1D49C, 0x1D4B6, script), "mathscr": (0x1D49C, 0x1D4B6, script),
    "mathbf": (0x1D400, 0x1D41A, [:]), "boldsymbol": (0x1D400, 0x1D41A, [:]), "bm": (0x1D400, 0x1D41A, [:]),
  ]

  static func isFont(_ name: String) -> Bool { fonts[name] != nil }

  /// A letter in a font; everything else is unchanged.
  static func styled(_ text: String, _ font: String) -> String {
    guard let (capital, small, exceptions) = fonts[font] else { return text }
    return text.map { letter in
      if let known = exceptions[String(letter)] { return known }
      guard letter.isASCII, letter.isLetter, let code = letter.asciiValue else { return String(letter) }
      let value = letter.isUppercase ? capital + UInt32(code) - 65 : small + UInt32(code) - 97
      return Unicode.Scalar(value).map { String(Character($0)) } ?? String(letter)
    }.joined()
  }

  private static let superscripts = pairs(
    "0123456789+-−=()niabcdefghjklmoprstuvwxyzβγδθT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵝᵞᵟᶿᵀ")
  private static let subscripts = pairs(
    "0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")

  private static func pairs(_ from: String, _ to: String) -> [Character: Character] {
    Dictionary(uniqueKeysWithValues: zip(from, to))
  }

  /// The text in small characters above or below the line; nil if Unicode lacks one of them.
  static func raised(_ text: String) -> String? { mapped(text, superscripts) }
  static func lowered(_ text: String) -> String? { mapped(text, subscripts) }

  private static func mapped(_ text: String, _ table: [Character: Character]) -> String? {
    let small = text.filter { $0 != " " }.map { table[$0] }
    return small.contains(nil) ? nil : String(small.compactMap { $0 })
  }
}
