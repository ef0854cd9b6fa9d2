// ResponsesEncoder: the events of a streamed /v1/responses: each item of the output is added, grows, and is done.
import PagodaKit

struct ResponsesEncoder: StreamEncoder {
  private enum Item {
    case reasoning(id: String, text: String)
    case message(id: String, text: String, logprobs: [JSONValue])
    case call(ToolCall)

    var id: String {
      switch self {
      case .reasoning(let id, _), .message(let id, _, _): id
      case .call(let call): call.id
      }
    }

    func json(_ status: ResponsesFormat.ItemStatus, _ format: ResponsesFormat) -> JSONValue {
      switch self {
      case .reasoning(let id, let text): format.reasoning(id, text, status)
      case .message(let id, let text, let logprobs): ResponsesFormat.message(id, text, .array(logprobs), status)
      case .call(let call): format.call(call, status)
      }
    }
  }

  let format: ResponsesFormat
  private var current: Item?
  private var rejected: Item?  // a call that had begun; the answer may have been cut inside it
  private var waiting: [TokenInfo] = []  // tokens whose text has not been sent yet
  private var output: [JSONValue] = []  // items that are done
  private var sequence: Int64 = 0
  private var isFinished = false

  init(format: ResponsesFormat) { self.format = format }

  mutating func opening() -> String {
    let response = format.object([], completion: nil)
    return event("response.created", ["response": response]) + event("response.in_progress", ["response": response])
  }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .keepAlive: return (": keep-alive\n\n", false)
    case .text(let text): return (text, false)
    case .cut(let reason): return (failure(reason), true)
    case .event(_, .failure(let error)): return (failure(APIError(error)), true)
    case .event(_, .success(let segment)):
      let text = encode(segment)
      return (text, isFinished)
    }
  }

  private mutating func encode(_ segment: AnswerSegment) -> String {
    switch segment {
    case .text(let text):
      var out = ""
      var (id, whole, earlier) = (randomID("msg_"), "", [JSONValue]())
      if case .message(let openID, let openText, let openLogprobs)? = current {
        (id, whole, earlier) = (openID, openText, openLogprobs)
      } else {
        out = close() + begin(.message(id: id, text: "", logprobs: []))
        out += partEvent("response.content_part.added", ["part": ResponsesFormat.part("")])
      }
      let logprobs = format.logprobs(waiting)
      waiting = []
      current = .message(id: id, text: whole + text, logprobs: earlier + (logprobs.arrayValue ?? []))
      return out + partEvent("response.output_text.delta", ["delta": .string(text), "logprobs": logprobs])
    case .reasoning(let text):
      waiting = []
      var out = ""
      var (id, whole) = (randomID("rs_"), "")
      if case .reasoning(let openID, let openText)? = current {
        (id, whole) = (openID, openText)
      } else {
        out = close() + begin(.reasoning(id: id, text: ""))
      }
      current = .reasoning(id: id, text: whole + text)
      return out + partEvent("response.reasoning_text.delta", ["delta": .string(text)])
    case .callBegin(_, let id, let name): return close() + begin(.call(ToolCall(id: id, name: name, arguments: "")))
    case .callArguments(_, let text):
      guard case .call(var call)? = current else { return "" }
      call.arguments += text
      current = .call(call)
      if kind(of: call) != nil { return "" }  // known when it is complete: the model writes it as JSON
      return itemEvent("response.function_call_arguments.delta", ["delta": .string(text)])
    case .callEnd: return close()
    case .rejected(let call):
      if call.index != nil { (rejected, current) = (current, nil) }
      return ""
    case .progress, .trimmed: return ""
    case .token(let token, let isReasoning):
      if format.request.wantsLogprobs && !isReasoning { waiting.append(token) }
      return ""
    case .finished(let completion, let reasoningTokens):
      isFinished = true
      if completion.wasCut, current == nil { current = rejected }
      var out = ""
      if output.isEmpty && current == nil { out += encode(.text("")) }
      out += close(completion.finishReason == .length ? .incomplete : .completed)
      // OpenAI has no event for a cancelled response; its status shows it.
      let name = completion.finishReason == .stop ? "response.completed" : "response.incomplete"
      let response = format.object(output, completion: completion, reasoningTokens: reasoningTokens)
      format.keep(response)
      return out + event(name, ["response": response])
    }
  }

  private func kind(of call: ToolCall) -> ToolKind? { format.request.generation.toolList.kinds[call.name] }

  private mutating func begin(_ item: Item) -> String {
    current = item
    return event(
      "response.output_item.added",
      ["output_index": .integer(Int64(output.count)), "item": item.json(.inProgress, format)])
  }

  private mutating func close(_ status: ResponsesFormat.ItemStatus = .completed) -> String {
    guard let item = current else { return "" }
    var out = ""
    switch item {
    case .message(_, let text, let logprobs):
      out += partEvent("response.output_text.done", ["text": .string(text), "logprobs": .array(logprobs)])
      out += partEvent("response.content_part.done", ["part": ResponsesFormat.part(text, .array(logprobs))])
    case .reasoning(_, let text): out += partEvent("response.reasoning_text.done", ["text": .string(text)])
    case .call(let call):
      switch kind(of: call) {
      case nil:
        out += itemEvent(
          "response.function_call_arguments.done", ["arguments": .string(call.arguments), "name": .string(call.name)])
      case .custom:
        let input = JSONValue.string(call.customInput)
        out += itemEvent("response.custom_tool_call_input.delta", ["delta": input])
        out += itemEvent("response.custom_tool_call_input.done", ["input": input])
      case .localShell, .shell, .applyPatch: break  // complete with the item
      }
    }
    let json = item.json(status, format)
    out += event("response.output_item.done", ["output_index": .integer(Int64(output.count)), "item": json])
    output.append(json)
    current = nil
    return out
  }

  private mutating func itemEvent(
    _ name: String, _ members: [String: JSONValue], part: Int64? = nil
  ) -> String {
    var all: [JSONValue.Member] = [
      .init(key: "item_id", value: current?.json(.inProgress, format)["id"] ?? .string("")),
      .init(key: "output_index", value: .integer(Int64(output.count))),
    ]
    if let part { all.append(.init(key: "content_index", value: .integer(part))) }
    return event(name, all + members.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: $0.value) })
  }

  private mutating func partEvent(_ name: String, _ members: [String: JSONValue]) -> String {
    itemEvent(name, members, part: 0)
  }

  private mutating func event(_ name: String, _ members: KeyValuePairs<String, JSONValue>) -> String {
    event(name, members.map { .init(key: $0.key, value: $0.value) })
  }

  private mutating func event(_ name: String, _ members: [JSONValue.Member]) -> String {
    defer { sequence += 1 }
    let head: [JSONValue.Member] = [
      .init(key: "type", value: .string(name)), .init(key: "sequence_number", value: .integer(sequence)),
    ]
    return sse(.object(head + members), event: name)
  }

  private mutating func failure(_ error: APIError) -> String {
    format.ended()
    return event("response.failed", ["response": format.object(output, completion: nil, error: error)])
  }
}
