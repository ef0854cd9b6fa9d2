// vLLM's routes for LoRA adapters: load and unload them while the server runs.
import Foundation
import PagodaKit

extension Service {
  static let loraRoutes: [String: [String: Work]] = [
    "/v1/load_lora_adapter": ["POST": .json(isGeneration: false, .openAI) { try $0.loadLora($1) }],
    "/v1/unload_lora_adapter": ["POST": .json(isGeneration: false, .openAI) { try $0.unloadLora($1) }],
  ]

  private func loadLora(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .loadLora)
    try refuseWithoutPermission()
    guard let name = try fields.string("lora_name", maximumBytes: 200) else { throw fields.missing("lora_name") }
    guard let path = try fields.string("lora_path", maximumBytes: 4096) else { throw fields.missing("lora_path") }
    if models.names.contains(name) || models.aliases.contains(where: { $0.pattern == name }) {
      throw APIError.invalid("'\(name)' is the name of a model", param: "lora_name")
    }
    do {
      try engine.loadLoraNow(LoraAdapter(name: name, folder: path))
    } catch let error as PagodaError {
      throw APIError.invalid(error.message, param: "lora_path", code: error.code)
    }
    exchange.reply(.whole(.json(.object(["id": .string(name), "object": .string("lora_adapter")]))))
  }

  private func unloadLora(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .unloadLora)
    try refuseWithoutPermission()
    guard let name = try fields.string("lora_name", maximumBytes: 200) else { throw fields.missing("lora_name") }
    guard models.adapters.contains(name) else { throw ServedModels.unknown(name, models.adapters) }
    try engine.unloadLora(named: name)
    exchange.reply(
      .whole(.json(.object(["id": .string(name), "object": .string("lora_adapter"), "deleted": .bool(true)]))))
  }

  /// A client that may load adapters can read folders of this machine.
  private func refuseWithoutPermission() throws {
    if loadsAdapters { return }
    throw APIError.invalid(
      "this server loads no adapters while it runs; start it with --allow-lora-loading", code: "not_allowed",
      status: 403)
  }
}

extension FieldTable {
  static let loadLora = FieldTable(
    known: ["lora_name", "lora_path"], ignored: [], refused: ["load_inplace": [.bool(false)]])
  static let unloadLora = FieldTable(known: ["lora_name"], ignored: ["lora_int_id"], refused: [:])
}
