// Grammars compiled ahead of their requests, on a thread of the caller's choice.
internal import CxxCore

extension Engine {
  /// Whether the constraint of a request is compiled already, or it has none. Calls that `toolChoice` requires do not
  /// count.
  package func hasGrammar(of request: Request) -> Bool {
    request.grammarSpec(calls: request.callGrammar).map { core.engine.has_grammar($0) } ?? true
  }

  /// Compiles the constraint of a request, so that its submission takes no time for it. May take half a second of CPU
  /// time; throws ``RefusedField`` if the constraint cannot be enforced.
  package func compileGrammar(of request: Request) throws {
    guard let grammar = request.grammarSpec(calls: request.callGrammar) else { return }
    if let error = core.engine.compile_grammar(grammar).error { throw error }
  }
}

extension Request.Grammar {
  /// Throws if the constraint cannot be enforced. Needs no model, so that it can be refused before one is loaded.
  package func check() throws { try pagoda.check_grammar(core).throwIfError() }
}

extension Request {
  /// The constraint in the core's form; `calls` is text of the kind `tool_calls`.
  func grammarSpec(calls: String?) -> pagoda.GrammarSpec? {
    if let coreGrammar { return coreGrammar.core }
    if let calls { return Request.CoreGrammar(kind: .toolCalls, text: calls).core }
    return grammar?.core
  }
}

extension Request.CoreGrammar {
  var core: pagoda.GrammarSpec { pagoda.GrammarSpec(kind: kind.core, schema: std.string(text)) }

  /// Nil if there is no grammar.
  init?(_ core: borrowing pagoda.GrammarSpec) {
    let kind = core.kind
    guard let name = Kind.allCases.first(where: { $0.core == kind }) else { return nil }
    self.init(kind: name, text: String(core.schema))
  }
}

extension Request.CoreGrammar.Kind {
  var core: pagoda.GrammarKind {
    switch self {
    case .jsonObject: .json_object
    case .jsonSchema: .json_schema
    case .toolCalls: .tool_calls
    case .regularExpression: .regex
    case .choice: .choice
    case .gbnf: .gbnf
    }
  }
}
