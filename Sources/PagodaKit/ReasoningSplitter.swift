// ReasoningSplitter: tells what a model thinks from what it answers, while the text arrives in arbitrary pieces.

package struct ReasoningSplitter: Sendable {
  /// How an answer begins.
  package enum Opening: Sendable {
    case textOnly  // prompts without a chat template: tags are text
    case answer  // reasoning only if the answer itself opens it
    case reasoning  // the prompt ended with an open tag

    package init(prompt: String) {
      let end = prompt.reversed().drop { $0.isNewline }
      self = end.starts(with: "<think>".reversed()) ? .reasoning : .answer
    }
  }

  private enum State {
    case maybeTag  // nothing but white space so far
    case beforeReasoning  // newlines after the opening tag belong to it
    case reasoning
    case afterReasoning  // newlines between the tag and the answer belong to neither
    case text
  }

  private var state: State
  private var held = ""  // text that may turn out to be a tag

  package init(_ opening: Opening) {
    state =
      switch opening {
      case .textOnly: .text
      case .answer: .maybeTag
      case .reasoning: .reasoning
      }
  }

  /// Takes the next piece of text and returns what is certain now.
  package mutating func push(_ piece: String) -> [Event] {
    if piece.isEmpty { return [] }
    if state == .text { return [.text(piece)] }
    held += piece
    var events: [Event] = []
    while advance(&events) {}
    return events
  }

  /// The end of the answer: what was held back is no tag.
  package mutating func finish() -> [Event] {
    let rest = held
    held = ""
    if rest.isEmpty { return [] }
    return [state == .reasoning ? .reasoning(rest) : .text(rest)]
  }

  /// One transition; false when more text is needed.
  private mutating func advance(_ events: inout [Event]) -> Bool {
    switch state {
    case .maybeTag:
      let start = held.drop { $0.isWhitespace }
      if start.hasPrefix("<think>") {
        held = String(start.dropFirst(7))
        state = .beforeReasoning
        return true
      }
      if "<think>".hasPrefix(start) { return false }
      state = .text
      return true
    case .beforeReasoning:
      return skipNewlines(to: .reasoning)
    case .reasoning:
      if let tag = held.firstRange(of: "</think>") {
        emit(.reasoning, String(held[..<tag.lowerBound]).droppingLast("\n"), &events)
        held = String(held[tag.upperBound...])
        state = .afterReasoning
        return true
      }
      let safe = held.endOfTextBefore(anyPrefixOf: ["\n</think>", "</think>"])
      emit(.reasoning, String(held[..<safe]), &events)
      held = String(held[safe...])
      return false
    case .afterReasoning:
      return skipNewlines(to: .text)
    case .text:
      emit(.text, held, &events)
      held = ""
      return false
    }
  }

  private mutating func skipNewlines(to next: State) -> Bool {
    held = String(held.drop { $0.isNewline })
    if held.isEmpty { return false }
    state = next
    return true
  }

  private func emit(_ kind: State, _ text: String, _ events: inout [Event]) {
    if text.isEmpty { return }
    events.append(kind == .reasoning ? .reasoning(text) : .text(text))
  }
}

extension String {
  fileprivate func droppingLast(_ suffix: Character) -> String { last == suffix ? String(dropLast()) : self }

  /// Where a suffix begins that may still grow into one of `tags`; `endIndex` if none does.
  fileprivate func endOfTextBefore(anyPrefixOf tags: [String]) -> Index {
    let longest = tags.map(\.count).max() ?? 0
    var start = index(endIndex, offsetBy: -longest, limitedBy: startIndex) ?? startIndex
    while start < endIndex {
      let suffix = self[start...]
      if tags.contains(where: { $0.hasPrefix(suffix) }) { return start }
      start = index(after: start)
    }
    return endIndex
  }
}
