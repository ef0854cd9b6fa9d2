// TeX's names of symbols, and letters of other fonts, as Unicode characters.

const table = (text) => Object.fromEntries(text.trim().split(/\s+/).reduce((pairs, word, at, all) => (at % 2 ? pairs : [...pairs, [word, all[at + 1]]]), []));

export const LETTERS = table(`alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ varkappa ϰ lambda λ mu μ nu ν
xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π
Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ hbar ℏ hslash ℏ imath ı jmath ȷ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ Re ℜ Im ℑ
aleph ℵ beth ℶ wp ℘ top ⊤ bot ⊥ angle ∠ triangle △ square □ Box □ blacksquare ■ diamondsuit ♢ heartsuit ♡ clubsuit ♣ spadesuit ♠ checkmark ✓ degree ° complement ∁
flat ♭ natural ♮ sharp ♯ dagger † ddagger ‡ S § P ¶ pounds £ copyright ©`);

export const OPERATORS = table(`times × cdot · div ÷ pm ± mp ∓ le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ propto ∝
in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ subsetneq ⊊ supset ⊃ supseteq ⊇ supsetneq ⊋ cup ∪ cap ∩ setminus ∖ smallsetminus ∖ to → rightarrow → leftarrow ← gets ←
leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ iff ⟺ Leftrightarrow ⇔ implies ⟹ impliedby ⟸ mapsto ↦ longmapsto ⟼ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹
Longleftrightarrow ⟺ hookrightarrow ↪ hookleftarrow ↩ rightharpoonup ⇀ rightharpoondown ⇁ rightleftharpoons ⇌ leadsto ⇝ rightsquigarrow ⇝ uparrow ↑ downarrow ↓ updownarrow ↕
Uparrow ⇑ Downarrow ⇓ nearrow ↗ searrow ↘ land ∧ lor ∨ neg ¬ lnot ¬ wedge ∧ vee ∨ cdots ⋯ ldots … dots … dotsc … dotsb ⋯ vdots ⋮ ddots ⋱ circ ∘ oplus ⊕ ominus ⊖
otimes ⊗ odot ⊙ mid ∣ nmid ∤ parallel ∥ perp ⊥ ast ∗ star ⋆ bullet ∙ prime ′ ll ≪ gg ≫ prec ≺ succ ≻ preceq ⪯ succeq ⪰ lesssim ≲ gtrsim ≳ vdash ⊢ models ⊨ vDash ⊨ asymp ≍
doteq ≐ triangleq ≜ coloneqq ≔ therefore ∴ because ∵ colon : bowtie ⋈ ltimes ⋉ rtimes ⋊ amalg ⨿ uplus ⊎ sqcup ⊔ sqcap ⊓ sqsubseteq ⊑ dag † wr ≀ lhd ⊲ rhd ⊳ backslash ∖ mathellipsis …`);

// Operators with limits above and below in displayed formulas; integrals have them at the side.
export const LARGE = table(`sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigodot ⨀ biguplus ⨄ bigsqcup ⨆ bigvee ⋁ bigwedge ⋀`);
export const INTEGRALS = table("int ∫ iint ∬ iiint ∭ oint ∮ oiint ∯");

export const FENCES = table(`langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | vert | lVert ∥ rVert ∥ Vert ∥ | ∥ lbrace { rbrace } { { } } lbrack [ rbrack ]
lgroup ⟮ rgroup ⟯ ulcorner ⌜ urcorner ⌝ uparrow ↑ downarrow ↓ backslash \\`);

export const FUNCTIONS = new Set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup liminf max min sup inf det dim ker gcd lcm deg arg hom Pr argmax argmin sgn tr rank".split(" "));
export const LIMITS = new Set("lim limsup liminf max min sup inf det gcd Pr argmax argmin".split(" "));

export const ACCENTS = { hat: "^", widehat: "^", bar: "¯", vec: "→", dot: "˙", ddot: "¨", dddot: "⃛", tilde: "~", widetilde: "~", check: "ˇ", breve: "˘", acute: "´", grave: "`", mathring: "˚" };
export const ABOVE = { overline: "‾", overrightarrow: "→", overleftarrow: "←", overleftrightarrow: "↔", overbrace: "⏞" };
export const BELOW = { underline: "_", underbrace: "⏟", underrightarrow: "→", underleftarrow: "←" };
export const SPACES = { ",": ".17em", ":": ".22em", ">": ".22em", ";": ".28em", " ": ".33em", "~": ".33em", quad: "1em", qquad: "2em", "!": "-.17em", enspace: ".5em", thinspace: ".17em", medspace: ".22em", thickspace: ".28em", negthinspace: "-.17em" };

// The first code points of each font's capital letters, small letters and digits.
const STARTS = { bold: [0x1d400, 0x1d41a, 0x1d7ce], script: [0x1d49c, 0x1d4b6], fraktur: [0x1d504, 0x1d51e], double: [0x1d538, 0x1d552, 0x1d7d8], sans: [0x1d5a0, 0x1d5ba, 0x1d7e2], mono: [0x1d670, 0x1d68a, 0x1d7f6] };
const EXCEPTIONS = { script: table("B ℬ E ℰ F ℱ H ℋ I ℐ L ℒ M ℳ R ℛ e ℯ g ℊ o ℴ"), fraktur: table("C ℭ H ℌ I ℑ R ℜ Z ℨ"), double: table("C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ") };
const GREEK = { capital: 0x391, small: 0x3b1, boldCapital: 0x1d6a8, boldSmall: 0x1d6c2 };

export const FONTS = { mathbf: "bold", bm: "bold", boldsymbol: "bold", bold: "bold", mathcal: "script", mathscr: "script", mathfrak: "fraktur", mathbb: "double", Bbb: "double", mathsf: "sans", mathtt: "mono" };

// A letter or digit in another font; everything else is unchanged.
export function styled(character, font) {
  const known = EXCEPTIONS[font]?.[character];
  if (known) return known;
  const code = character.codePointAt(0), [capital, small, digit] = STARTS[font];
  if (/^[A-Z]$/.test(character)) return String.fromCodePoint(capital + code - 65);
  if (/^[a-z]$/.test(character)) return String.fromCodePoint(small + code - 97);
  if (/^[0-9]$/.test(character) && digit) return String.fromCodePoint(digit + code - 48);
  if (font === "bold" && /^[Α-Ω]$/.test(character)) return String.fromCodePoint(GREEK.boldCapital + code - GREEK.capital);
  if (font === "bold" && /^[α-ω]$/.test(character)) return String.fromCodePoint(GREEK.boldSmall + code - GREEK.small);
  return character;
}
