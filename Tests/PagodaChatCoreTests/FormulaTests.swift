// Formulas in TeX: on one line, as a tree for drawing, within sentences, and as blocks of Markdown.
import Foundation
import Testing

@testable import PagodaChatCore

@Suite struct FormulaTests {
  @Test(arguments: [
    ("x^2 + y_1", "x² + y₁"), (#"\frac{a+b}{2}"#, "(a + b)/2"), (#"\frac12"#, "1/2"), (#"a \over b"#, "a/b"),
    (#"\sum_{i=1}^{n} i = \frac{n(n+1)}{2}"#, "∑ᵢ₌₁ⁿ i = (n(n + 1))/2"), (#"\sqrt{x^2+y^2}"#, "√(x² + y²)"),
    (#"\sqrt[3]{8} = 2"#, "∛8 = 2"), (#"e^{i\pi} + 1 = 0"#, "e^(iπ) + 1 = 0"), (#"-x = -b"#, "−x = −b"),
    (#"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}"#, "∫₀^∞ e^(−x²) dx = √π/2"),
    (#"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"#, "(a b; c d)"),
    (#"\begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"#, "{1 if x > 0; 0 otherwise"),
    (#"\lim_{x \to 0} \frac{\sin x}{x}"#, "lim_(x → 0) (sin x)/x"), (#"\vec{v} \cdot \hat{n}"#, "v\u{20D7} · n\u{302}"),
    (#"\left(\frac{1}{2}\right)^2"#, "(1/2)²"), (#"\binom{n}{k}"#, "(n over k)"), ("f'(x)", "f′(x)"),
    (#"\mathbb{R}^n \ni \mathbf{x}"#, "ℝⁿ ∋ 𝐱"), (#"90^\circ"#, "90°"), (#"a \equiv b \pmod{n}"#, "a ≡ b (mod n)"),
    (#"2\sin\theta\cos\theta"#, "2 sin θ cos θ"), (#"O(n \log n)"#, "O(n log n)"),
    (#"\overline{AB}"#, "A\u{305}B\u{305}"),
    (#"\{1, 2\} \subset \mathbb{N}"#, "{1, 2} ⊂ ℕ"), (#"|x| \le 3"#, "|x| ≤ 3"), (#"\boxed{42}"#, "42"),
    (#"\text{speed} = \frac{\text{m}}{\text{s}}"#, "speed = m/s"), (#"\mathrm{Var}(X)"#, "Var(X)"),
    (#"5\% \not= 6"#, "5% \u{2260} 6"), (#"\unknown{a}"#, #"\unknowna"#), ("", ""),
  ])
  func a_formula_fits_on_a_line(_ tex: String, _ line: String) {
    #expect(Formula(tex: tex).line.precomposedStringWithCanonicalMapping == line.precomposedStringWithCanonicalMapping)
  }

  @Test func fractions_and_tables_are_drawn_in_two_dimensions() {
    let x = Formula.sign("x")
    #expect(
      Formula(tex: #"\frac{x}{\frac{1}{x}}"#) == .fraction(x, .fraction(.sign("1"), x, hasLine: true), hasLine: true))
    #expect(Formula(tex: #"\frac{x}{\frac{1}{x}}"#).height == 3 && Formula(tex: "x^2").height == 1)
    #expect(Formula(tex: #"\left[\begin{matrix} x \\ x \end{matrix}\right]"#) == .fenced("[", .table([[x], [x]]), "]"))
    #expect(Formula(tex: #"\sum_{x}^2 x"#).isFlat == false && Formula(tex: #"\sqrt{x} + x_2"#).isFlat)
    let parts = Formula(tex: #"x + x = \frac{x}{2} + x"#).drawnParts
    #expect(parts.map(\.line) == ["x + x =", "x/2", "\u{200B} + x"] && parts.map(\.isFlat) == [true, false, true])
  }

  /// Models write anything, and a formula is read after each of its tokens.
  @Test func every_beginning_of_a_formula_and_any_nonsense_can_be_read() {
    let whole =
      #"\left(\sum_{i=1}^{n} \begin{pmatrix} \frac{a_i}{\sqrt[3]{b^2}} & \text{if } x \\ \hat{y} & 0 \end{pmatrix}\right)^{-1}"#
    for end in whole.indices { _ = Formula(tex: String(whole[..<end])).line }
    let tokens = [
      "{", "}", "\\frac", "\\left(", "\\right", "\\begin{cases}", "\\end{x}", "&", "\\\\", "^", "_", "'", "[", "]", "x",
      "\\over",
    ]
    for seed in 0..<500 {
      var state = UInt64(seed)
      let text = (0..<20).map { _ -> String in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return tokens[Int(state >> 33) % tokens.count]
      }.joined(separator: " ")
      _ = Formula(tex: text).line
    }
    for opening in ["{", "\\left(", "\\sqrt ", "\\frac{", "\\begin{matrix}", "\\hat", "x^"] {
      _ = Formula(tex: String(repeating: opening, count: 1000)).line
    }
  }

  @Test func formulas_within_sentences_are_found_and_prices_and_code_are_not() {
    #expect(#"If \(a<b\), then $x_1^2 = 4$."#.replacingFormulas() == #"If a \< b, then x₁² = 4."#)
    #expect(#"$$a*b$$ or \[2^{10}\]"#.replacingFormulas() == "a∗b or 2¹⁰")
    for text in [
      "It costs $5 and $6.", "`$x$` and ``a`$y$``", #"\$3 and \$4"#, "$ x $", "a $", "$open", "no marks", #"\(open"#,
    ] {
      #expect(text.replacingFormulas() == text)
    }
  }

  @Test func formulas_on_lines_of_their_own_are_blocks() {
    func split(_ text: String) -> [MarkdownBlock] { MarkdownBlock.split(text) }
    #expect(
      split("So\n$$\nx = 1\n+ 2\n$$\nand") == [
        .paragraph("So"), .formula(tex: "x = 1\n+ 2", isClosed: true), .paragraph("and"),
      ])
    #expect(split("$$x$$") == [.formula(tex: "x", isClosed: true)])
    #expect(split(#"  \[ P(A|B) \]"#) == [.formula(tex: "P(A|B)", isClosed: true)])
    #expect(split("\\[\nx\n\\] is it") == [.formula(tex: "x", isClosed: true), .paragraph("is it")])
    #expect(split("$$x$$ is a formula") == [.paragraph("$$x$$ is a formula")])
    #expect(split("$$\nx +") == [.formula(tex: "x +", isClosed: false)])
    #expect(
      split("$$ is how it begins\n\nbut no end") == [.paragraph("$$ is how it begins"), .paragraph("but no end")])
  }
}
