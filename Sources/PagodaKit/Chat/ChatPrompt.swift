// ChatPrompt: a conversation as the chat template sees it, including parts that a Message cannot express.

/// The input of a chat template. `messages` and `tools` are objects in OpenAI's format, with their member order
/// preserved.
package struct ChatPrompt: Sendable {
  package var messages: [JSONValue]
  package var tools: [JSONValue]
  /// Additional variables, such as `enable_thinking`; they cannot replace those above.
  package var variables: [JSONValue.Member]

  package init(messages: [JSONValue], tools: [JSONValue] = [], variables: [JSONValue.Member] = []) {
    self.messages = messages
    self.tools = tools
    self.variables = variables
  }

  init(_ messages: [Message], tools: [JSONValue], thinking: Bool?) {
    let variables = thinking.map { [JSONValue.Member(key: "enable_thinking", value: .bool($0))] } ?? []
    self.init(messages: messages.map(\.json), tools: tools, variables: variables)
  }

  var json: JSONValue {
    var members = [JSONValue.Member(key: "messages", value: .array(messages))]
    if !tools.isEmpty { members.append(.init(key: "tools", value: .array(tools))) }
    members.append(.init(key: "add_generation_prompt", value: .bool(true)))
    return .object(members + variables.filter { variable in !members.contains { $0.key == variable.key } })
  }
}
