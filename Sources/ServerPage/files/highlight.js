// Syntax highlighting: comments, strings, numbers and keywords, in one pass of one regular expression. There is no grammar,
// because a wrong colour does no harm.

const WORDS = {
  python: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self",
  javascript: "async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield interface type enum implements readonly private public",
  swift: "actor any as associatedtype async await break case catch class continue default defer do else enum extension false fileprivate final for func guard if import in init inout internal is let mutating nil open override package private protocol public repeat rethrows return self Self some static struct subscript super switch throw throws true try typealias var where while",
  c: "alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int long namespace new noexcept nullptr operator override private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
  rust: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  go: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
  java: "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for if implements import instanceof int interface long native new null package private protected public return short static super switch synchronized this throw throws transient true false try void volatile while var record",
  shell: "if then else elif fi for while until do done case esac in function return export local readonly set unset echo cd exit source",
  sql: "select from where and or not in is null as join left right inner outer on group by order having limit insert into values update set delete create table drop alter index primary key foreign references distinct union case when then else end",
  json: "true false null",
};
const NAMES = { py: "python", js: "javascript", ts: "javascript", jsx: "javascript", tsx: "javascript", typescript: "javascript", "c++": "c", cpp: "c", h: "c", hpp: "c", cs: "java", csharp: "java", kotlin: "java", kt: "java", rs: "rust", golang: "go", bash: "shell", sh: "shell", zsh: "shell", console: "shell", jsonc: "json", yaml: "shell", yml: "shell", toml: "shell" };
const HASH = new Set(["python", "shell"]);

// Splits `code` into plain texts and { kind, text }.
export function highlight(code, language) {
  const name = NAMES[language.toLowerCase()] ?? language.toLowerCase();
  const words = WORDS[name];
  if (!words || code.length > 100_000) return [code];
  const known = new Set((name === "sql" ? words + " " + words.toUpperCase() : words).split(" "));
  const comment = HASH.has(name) ? "#[^\\n]*" : name === "sql" ? "--[^\\n]*" : name === "json" ? "(?!)" : "\\/\\/[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)";
  const text = name === "python" ? '"""[^]*?(?:"""|$)|\'\'\'[^]*?(?:\'\'\'|$)|' : name === "javascript" || name === "go" ? "`(?:[^`\\\\]|\\\\.)*(?:`|$)|" : "";
  const pattern = new RegExp(`(${comment})|(${text}"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?)|(\\b(?:0[xX][0-9a-fA-F]+|\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b)|([A-Za-z_][A-Za-z0-9_]*)`, "g");
  const out = [];
  let last = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = match[1] !== undefined ? "comment" : match[2] !== undefined ? "string" : match[3] !== undefined ? "number" : known.has(match[4]) ? "keyword" : code[match.index + match[0].length] === "(" ? "call" : null;
    if (!kind) continue;
    if (match.index > last) out.push(code.slice(last, match.index));
    out.push({ kind, text: match[0] });
    last = match.index + match[0].length;
  }
  if (last < code.length) out.push(code.slice(last));
  return out;
}
