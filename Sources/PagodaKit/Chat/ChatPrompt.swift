// ChatPrompt: a conversation as the chat template sees it, including parts that a Message cannot express.

/// The input of a chat template. `messages` and `tools` are objects in OpenAI's format, with their member order
/// preserved.
package struct ChatPrompt: Sendable {
  package var messages: [JSONValue]
  package var tools: [JSONValue]
  /// Additional variables, such as `enable_thinking`; they cannot replace those above.
  package var variables: [JSONValue.Member]
  /// The images of all messages. A part of a message names its image by its position here, as `image_index`.
  package var images: [ImageInput]

  package init(
    messages: [JSONValue], tools: [JSONValue] = [], variables: [JSONValue.Member] = [], images: [ImageInput] = []
  ) {
    self.messages = messages
    self.tools = tools
    self.variables = variables
    self.images = images
  }

  init(_ messages: [Message], tools: [JSONValue], thinking: Bool?) {
    let variables = thinking.map { [JSONValue.Member(key: "enable_thinking", value: .bool($0))] } ?? []
    var images: [ImageInput] = []
    let list = messages.map { $0.json(adding: &images) }
    self.init(messages: list, tools: tools, variables: variables, images: images)
  }

  /// The images of the messages that are left, in the order in which the template writes their placeholders.
  var usedImages: [ImageInput] {
    messages.flatMap { message in
      (message["content"]?.arrayValue ?? []).compactMap { part in
        part["image_index"]?.intValue.flatMap { images.indices.contains(Int($0)) ? images[Int($0)] : nil }
      }
    }
  }

  var json: JSONValue {
    var members = [JSONValue.Member(key: "messages", value: .array(messages))]
    if !tools.isEmpty { members.append(.init(key: "tools", value: .array(tools))) }
    members.append(.init(key: "add_generation_prompt", value: .bool(true)))
    return .object(members + variables.filter { variable in !members.contains { $0.key == variable.key } })
  }
}
