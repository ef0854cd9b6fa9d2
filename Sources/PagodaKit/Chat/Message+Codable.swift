// The saved form of messages, which other versions can read.

extension Message: Codable {
  private enum CodingKeys: CodingKey { case role, content, parts, reasoning, toolCalls, toolCallID }

  /// Missing keys other than the role get their defaults, so that files of other versions can be read.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      role: try fields.decode(Role.self, forKey: .role),
      content: try fields.decodeIfPresent(String.self, forKey: .content) ?? "",
      reasoning: try fields.decodeIfPresent(String.self, forKey: .reasoning),
      toolCalls: try fields.decodeIfPresent([ToolCall].self, forKey: .toolCalls) ?? [],
      toolCallID: try fields.decodeIfPresent(String.self, forKey: .toolCallID))
    if let parts = try fields.decodeIfPresent([Part].self, forKey: .parts) { self.parts = parts }
  }

  /// Writes the message. Earlier versions read its text and ignore its images.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(role, forKey: .role)
    try fields.encode(content, forKey: .content)
    if !images.isEmpty { try fields.encode(parts, forKey: .parts) }
    try fields.encodeIfPresent(reasoning, forKey: .reasoning)
    try fields.encode(toolCalls, forKey: .toolCalls)
    try fields.encodeIfPresent(toolCallID, forKey: .toolCallID)
  }
}

extension Message.Part: Codable {
  private enum CodingKeys: CodingKey { case text, image }

  /// Reads a part with either a text or an image.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    if let image = try fields.decodeIfPresent(ImageInput.self, forKey: .image) {
      self = .image(image)
    } else {
      self = .text(try fields.decodeIfPresent(String.self, forKey: .text) ?? "")
    }
  }

  /// Writes the text or the image under its own key.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .text(let text): try fields.encode(text, forKey: .text)
    case .image(let image): try fields.encode(image, forKey: .image)
    }
  }
}
