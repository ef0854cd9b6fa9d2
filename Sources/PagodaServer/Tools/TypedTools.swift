// TypedTools: tools that OpenAI and Anthropic define by name, as functions with their documented inputs.
import PagodaKit

enum TypedTools {
  static func function(_ name: String, _ description: String, _ parameters: JSONValue) -> JSONValue {
    .object([
      "type": .string("function"),
      "function": .object([
        "name": .string(name), "description": .string(description), "parameters": parameters,
      ]),
    ])
  }

  /// A schema of an object with these properties; all of them are required unless others are named.
  static func object(_ properties: KeyValuePairs<String, JSONValue>, required: [String]? = nil) -> JSONValue {
    .object([
      "type": .string("object"), "properties": .object(properties),
      "required": .array((required ?? properties.map(\.key)).map { .string($0) }), "additionalProperties": .bool(false),
    ])
  }

  private static func text(_ description: String) -> JSONValue {
    .object(["type": .string("string"), "description": .string(description)])
  }

  private static func number(_ description: String) -> JSONValue {
    .object(["type": .string("integer"), "description": .string(description)])
  }

  private static func list(_ items: String, _ description: String) -> JSONValue {
    .object([
      "type": .string("array"), "items": .object(["type": .string(items)]), "description": .string(description),
    ])
  }

  private static func choice(_ names: [String]) -> JSONValue {
    .object(["type": .string("string"), "enum": .array(names.map { .string($0) })])
  }

  /// `local_shell`, `shell` or `apply_patch` of the Responses API.
  static func openAI(_ type: String) -> JSONValue {
    switch type {
    case "local_shell":
      function(
        type, "Runs a command on the user's machine and returns its output.",
        object(
          [
            "command": list("string", "The program and its arguments."), "working_directory": text("Where it runs."),
            "timeout_ms": number("Milliseconds after which it is stopped."),
          ], required: ["command"]))
    case "shell":
      function(
        type, "Runs commands in a shell on the user's machine and returns their output.",
        object(
          [
            "commands": list("string", "The commands, each for the shell."),
            "timeout_ms": number("Milliseconds after which they are stopped."),
            "max_output_length": number("Maximum characters of output to return."),
          ], required: ["commands"]))
    default:
      function(
        type, "Creates, changes or deletes a file on the user's machine.",
        object(
          [
            "type": choice(["create_file", "update_file", "delete_file"]), "path": text("The file."),
            "diff": text("The change in V4A diff format; lines begin with a space, + or -. Not for delete_file."),
          ], required: ["type", "path"]))
    }
  }

  /// Description and inputs of a tool that Anthropic defines, such as `bash_20250124`; nil for others.
  static func anthropic(_ type: String) -> (String, JSONValue)? {
    if type.hasPrefix("bash_") {
      let restart = JSONValue.object([
        "type": .string("boolean"), "description": .string("True starts a new session."),
      ])
      return (
        "Runs a command in a bash session on the user's machine, which keeps its state between calls.",
        object(["command": text("The command."), "restart": restart], required: [])
      )
    }
    if type.hasPrefix("text_editor_") {
      let commands = ["view", "create", "str_replace", "insert"]
      let hasUndo = ["text_editor_20241022", "text_editor_20250124"].contains(type)
      return (
        "Views, creates and edits files on the user's machine.", files(commands + (hasUndo ? ["undo_edit"] : []))
      )
    }
    if type.hasPrefix("memory_") {
      return (
        "Reads and changes files in the folder /memories, which are kept between conversations.",
        files(["view", "create", "str_replace", "insert", "delete", "rename"])
      )
    }
    return nil
  }

  private static func files(_ commands: [String]) -> JSONValue {
    var properties: [JSONValue.Member] = [
      .init(key: "command", value: choice(commands)), .init(key: "path", value: text("The file or folder.")),
      .init(key: "file_text", value: text("For create: the content of the file.")),
      .init(key: "old_str", value: text("For str_replace: the text to replace; it must occur exactly once.")),
      .init(key: "new_str", value: text("For str_replace: the new text.")),
      .init(
        key: "insert_line", value: number("For insert: the line after which the text is inserted; 0 is the beginning.")),
      .init(key: "insert_text", value: text("For insert: the text.")),
      .init(key: "view_range", value: list("integer", "For view: the first and the last line; -1 is the end.")),
    ]
    if commands.contains("rename") {
      properties += [
        .init(key: "old_path", value: text("For rename.")), .init(key: "new_path", value: text("For rename.")),
      ]
    }
    return .object([
      "type": .string("object"), "properties": .object(properties),
      "required": .array((commands.contains("rename") ? ["command"] : ["command", "path"]).map { .string($0) }),
      "additionalProperties": .bool(false),
    ])
  }
}
