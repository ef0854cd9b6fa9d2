// BatchRequest: one line of a batch file as a request. Takes generate's options as snake_case fields; bodies of OpenAI
// batch files are read as the server reads them.
import PagodaKit
import PagodaServer

package struct BatchRequest: Sendable {
  /// Any JSON scalar; nil if the line has none.
  package var id: JSONValue
  package var request: Result<Request, UsageError>

  package init(line: String) {
    guard let value = JSONValue.parse(line), let members = value.objectValue else {
      id = .null
      request = .failure(UsageError("the line is not a JSON object"))
      return
    }
    id = value["custom_id"] ?? value["id"] ?? .null
    do throws(UsageError) {
      guard let body = value["body"] else {
        var parser = BatchFields(members.filter { $0.key != "id" })
        request = .success(try parser.request())
        return
      }
      guard let bodyMembers = body.objectValue else { throw UsageError("body is not a JSON object") }
      request = .success(
        try read { () throws(PagodaError) in
          try BatchBody.request(bodyMembers, url: value["url"]?.stringValue ?? "")
        })
    } catch {
      request = .failure(error)
    }
  }
}

private func read<Value>(_ work: () throws(PagodaError) -> Value) throws(UsageError) -> Value {
  do { return try work() } catch { throw UsageError(error.message) }
}

/// Reads the fields one by one; an unknown one is an error, so that no option is silently ignored.
private struct BatchFields {
  let members: [JSONValue.Member]
  var raw = false
  private var prompt: Request.Prompt?
  private var system: String?
  private var thinking: Bool?
  private var sampling = SamplingParameters()
  private var wantsLogprobs = true
  private var grammar: Request.Grammar?

  init(_ members: [JSONValue.Member]) { self.members = members }

  mutating func request() throws(UsageError) -> Request {
    for member in members where member.value != .null { try take(member.key, member.value) }
    sampling.topLogProbabilities = wantsLogprobs ? sampling.topLogProbabilities ?? 0 : nil
    var request = Request(prompt: try wholePrompt(), sampling: sampling, thinking: thinking)
    request.grammar = grammar
    return request
  }

  private func wholePrompt() throws(UsageError) -> Request.Prompt {
    let system = system.map { [Message.system($0)] } ?? []
    switch prompt {
    case nil: throw UsageError("one of prompt, prompt_ids and messages is needed")
    case .text(let text) where !raw: return .messages(system + [.user(text)])
    case .messages(let messages):
      if raw { throw UsageError("raw leaves out the chat template, which messages needs") }
      return .messages(system + messages)
    case let other?:
      if !system.isEmpty || thinking != nil { throw UsageError("system and thinking need the chat template") }
      return other
    }
  }

  private mutating func take(_ key: String, _ value: JSONValue) throws(UsageError) {
    switch key {
    case "prompt":
      if let ids = value.arrayValue { return try set(.tokens(tokenIDs(ids, key))) }
      try set(.text(try string(key, value)))
    case "prompt_ids":
      guard let ids = value.arrayValue else { throw UsageError("prompt_ids is not an array of token ids") }
      try set(.tokens(tokenIDs(ids, key)))
    case "messages": try set(.messages(read { () throws(PagodaError) in try BatchBody.messages(value) }))
    case "raw": raw = try flag(key, value)
    case "system": system = try string(key, value)
    case "think", "enable_thinking", "thinking": thinking = try flag(key, value)
    case "chat_template_kwargs":
      for member in value.objectValue ?? [] { try take(member.key, member.value) }
    case "max_completion_tokens": try apply("max_tokens", value)
    case "logprobs": wantsLogprobs = try flag(key, value)
    case "json_object": if try flag(key, value) { try set(.jsonObject) }
    case "json_schema": try set(.jsonSchema(value.stringValue ?? value.text))
    case "response_format":
      if let format = try read({ () throws(PagodaError) in try BatchBody.grammar(value) }) { try set(format) }
    case "n":
      if value.intValue != 1 { throw UsageError("n is \(value.text); only 1 is supported") }
    case "stream":
      if try flag(key, value) { throw UsageError("stream is true; a batch returns only complete answers") }
    case "model", "user", "metadata", "store": break  // do not affect the answer
    default: try apply(key, value)
    }
  }

  private mutating func set(_ new: Request.Prompt) throws(UsageError) {
    if prompt != nil { throw UsageError("prompt, prompt_ids and messages exclude each other") }
    prompt = new
  }

  private mutating func set(_ new: Request.Grammar) throws(UsageError) {
    if grammar != nil { throw UsageError("json_object, json_schema and response_format exclude each other") }
    grammar = new
  }

  private mutating func apply(_ key: String, _ value: JSONValue) throws(UsageError) {
    guard let field = SamplingField.all.first(where: { $0.key == key }) else {
      throw UsageError("unknown field '\(key)'")
    }
    do { try field.apply(value, to: &sampling) } catch { throw UsageError(error.message) }
  }

  private func string(_ key: String, _ value: JSONValue) throws(UsageError) -> String {
    guard let text = value.stringValue else { throw UsageError("\(key) is not a string") }
    return text
  }

  private func flag(_ key: String, _ value: JSONValue) throws(UsageError) -> Bool {
    guard let flag = value.boolValue else { throw UsageError("\(key) is \(value.text); it must be true or false") }
    return flag
  }

  private func tokenIDs(_ values: [JSONValue], _ key: String) throws(UsageError) -> [Int32] {
    var ids: [Int32] = []
    for value in values {
      guard let number = value.intValue, let id = Int32(exactly: number), id >= 0 else {
        throw UsageError("\(key) has \(value.text); it must hold token ids")
      }
      ids.append(id)
    }
    return ids
  }
}
