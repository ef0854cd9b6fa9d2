// A part of TeX's math as MathML, which browsers lay out themselves: letters, numbers, operators, fractions, roots, indices,
// accents, matrices and named functions. Unknown commands are shown as typed.

const SPACE = "http://www.w3.org/1998/Math/MathML";
const SYMBOLS = Object.fromEntries(`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν
xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ
Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ hbar ℏ emptyset ∅ forall ∀ exists ∃ Re ℜ Im ℑ aleph ℵ`.split(/\s+/).reduce((pairs, word, at, all) => (at % 2 ? pairs : [...pairs, [word, all[at + 1]]]), []));
const OPERATORS = Object.fromEntries(`times × cdot · div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ in ∈ notin ∉ subset ⊂ subseteq ⊆
supset ⊃ cup ∪ cap ∩ setminus ∖ to → rightarrow → leftarrow ← Rightarrow ⇒ Leftarrow ⇐ iff ⇔ Leftrightarrow ⇔ mapsto ↦ land ∧ lor ∨ neg ¬ wedge ∧ vee ∨
sum ∑ prod ∏ int ∫ oint ∮ cdots ⋯ ldots … dots … vdots ⋮ ddots ⋱ circ ∘ oplus ⊕ otimes ⊗ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ mid ∣ parallel ∥
perp ⊥ angle ∠ ast ∗ star ⋆ bullet ∙ prime ′ lvert | rvert | ll ≪ gg ≫ colon :`.split(/\s+/).reduce((pairs, word, at, all) => (at % 2 ? pairs : [...pairs, [word, all[at + 1]]]), []));
const FUNCTIONS = new Set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim max min sup inf det dim ker gcd deg arg Pr argmax argmin".split(" "));
const ACCENTS = { hat: "^", bar: "¯", overline: "¯", vec: "→", dot: "˙", ddot: "¨", tilde: "~" };
const FONTS = { mathbf: "bold", mathrm: "normal", mathbb: "double-struck", mathcal: "script", mathit: "italic", boldsymbol: "bold", operatorname: "normal" };
const SPACES = { ",": ".17em", ":": ".22em", ";": ".28em", " ": ".33em", quad: "1em", qquad: "2em", "!": "-.17em" };
const LARGE = /^[∑∏]$/;

function make(tag, attributes, ...children) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// A <math> element for `source`.
export function math(source, isDisplay) {
  const reader = new Reader(source, isDisplay);
  const row = make("mrow", {}, ...reader.row());
  return make("math", { display: isDisplay ? "block" : "inline", "aria-label": source }, row);
}

class Reader {
  constructor(source, isDisplay) {
    this.tokens = source.match(/\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|[^]/gu) ?? [];
    this.at = 0;
    this.isDisplay = isDisplay;
    this.depth = 0;
  }

  get next() { return this.tokens[this.at]; }

  skip() {
    while (this.next !== undefined && /^\s+$/.test(this.next)) this.at++;
  }

  // The nodes up to a closing token, which is consumed too.
  row(...ends) {
    const out = [];
    for (this.skip(); this.next !== undefined; this.skip()) {
      if (ends.includes(this.next)) {
        this.at++;
        break;
      }
      out.push(this.scripted());
    }
    return out;
  }

  argument() {
    this.skip();
    if (this.next === "{" && this.depth < 64) {
      this.at++;
      this.depth++;
      const node = make("mrow", {}, ...this.row("}"));
      this.depth--;
      return node;
    }
    return this.next === undefined ? make("mrow", {}) : this.atom();
  }

  scripted() {
    const base = this.atom();
    let below = null, above = null;
    for (this.skip(); ["_", "^", "'"].includes(this.next); this.skip()) {
      const mark = this.tokens[this.at++];
      if (mark === "_") below = this.argument();
      else above = mark === "^" ? this.argument() : make("mo", {}, "′");
    }
    if (!below && !above) return base;
    const isLarge = this.isDisplay && (LARGE.test(base.textContent) || base.textContent === "lim");
    const [both, low, high] = isLarge ? ["munderover", "munder", "mover"] : ["msubsup", "msub", "msup"];
    return below && above ? make(both, {}, base, below, above) : make(below ? low : high, {}, base, below ?? above);
  }

  atom() {
    const token = this.tokens[this.at++];
    if (token === "{") {
      this.at--;
      return this.argument();
    }
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/^[0-9]/.test(token)) return make("mn", {}, token);
    if (/^\p{L}/u.test(token)) return make("mi", {}, token);
    return make("mo", /^[()[\]|]$/.test(token) ? { stretchy: "false" } : {}, token === "-" ? "−" : token);
  }

  command(name) {
    if (SYMBOLS[name]) return make("mi", {}, SYMBOLS[name]);
    if (OPERATORS[name]) return make("mo", {}, OPERATORS[name]);
    if (FUNCTIONS.has(name)) return make("mi", {}, name);
    if (SPACES[name]) return make("mspace", { width: SPACES[name] });
    if (ACCENTS[name]) return make("mover", { accent: "true" }, this.argument(), make("mo", {}, ACCENTS[name]));
    switch (name) {
      case "frac": case "dfrac": case "tfrac": return make("mfrac", {}, this.argument(), this.argument());
      case "binom": return make("mrow", {}, make("mo", {}, "("), make("mfrac", { linethickness: "0" }, this.argument(), this.argument()), make("mo", {}, ")"));
      case "sqrt": return this.root();
      case "text": case "mbox": case "textbf": return make("mtext", {}, this.raw());
      case "left": case "right": case "big": case "Big": case "bigl": case "bigr": return this.fence();
      case "begin": return this.environment();
      case "limits": case "displaystyle": return make("mrow", {});
      case "\\": return make("mspace", { linebreak: "newline" });
    }
    if (FONTS[name]) return make("mi", { mathvariant: FONTS[name], class: FONTS[name] }, this.raw());
    if (name.length === 1) return make("mo", {}, name); // \{ \} \% \$
    return make("mtext", {}, `\\${name}`);
  }

  root() {
    this.skip();
    if (this.next !== "[") return make("msqrt", {}, this.argument());
    this.at++;
    const degree = make("mrow", {}, ...this.row("]"));
    return make("mroot", {}, this.argument(), degree);
  }

  fence() {
    this.skip();
    const token = this.tokens[this.at++] ?? ".";
    const sign = token.startsWith("\\") ? OPERATORS[token.slice(1)] ?? token.slice(1) : token;
    return make("mo", { stretchy: "true" }, sign === "." ? "" : sign);
  }

  // The characters of a group, verbatim.
  raw() {
    this.skip();
    if (this.next !== "{") return this.tokens[this.at++] ?? "";
    let text = "", depth = 0;
    do {
      const token = this.tokens[this.at++];
      if (token === "{" && depth++ === 0) continue;
      if (token === "}" && --depth === 0) break;
      text += token;
    } while (this.next !== undefined);
    return text;
  }

  environment() {
    const name = this.raw();
    const rows = [[[]]];
    for (this.skip(); this.next !== undefined; this.skip()) {
      if (this.next === "\\end") {
        this.at++;
        this.raw();
        break;
      }
      if (this.next === "&") {
        this.at++;
        rows.at(-1).push([]);
      } else if (this.next === "\\\\") {
        this.at++;
        rows.push([[]]);
      } else rows.at(-1).at(-1).push(this.scripted());
    }
    const table = make("mtable", name.startsWith("align") || name === "cases" ? { columnalign: name === "cases" ? "left left" : "right left" } : {},
      ...rows.filter((row) => row.length > 1 || row[0].length > 0).map((row) => make("mtr", {}, ...row.map((cell) => make("mtd", {}, ...cell)))));
    const [open, close] = { pmatrix: "()", bmatrix: "[]", vmatrix: "||", cases: "{", Bmatrix: "{}" }[name] ?? "";
    return make("mrow", {}, ...(open ? [make("mo", { stretchy: "true" }, open)] : []), table, ...(close ? [make("mo", { stretchy: "true" }, close)] : []));
  }
}
