// ReceiptFile: a line of JSON for each answer, written without delaying the engine.
import Foundation
import PagodaKit

final class ReceiptFile: Sendable {
  private let file: FileHandle
  private let hasPrompts: Bool
  private let queue = DispatchQueue(label: "receipts")

  /// The receipts file of `--receipts`; nil without it.
  init?(_ arguments: Arguments) throws {
    guard let path = arguments.string("receipts") else {
      if arguments.has("receipts-prompts") { throw UsageError("--receipts-prompts needs --receipts") }
      return nil
    }
    let handle = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard handle >= 0 else { throw CommandFailure("\(path): \(String(cString: strerror(errno)))") }
    file = FileHandle(fileDescriptor: handle, closeOnDealloc: true)
    hasPrompts = arguments.has("receipts-prompts")
  }

  /// Starts writing the engine's answers.
  func keep(of engine: Engine) async throws {
    let head: [JSONValue.Member] = [
      .init(key: "model", value: .string(try await engine.fingerprint())),
      .init(key: "version", value: .string(PagodaVersion.current)),
    ]
    engine.keepReceipts { [self] receipt in
      var receipt = receipt
      if !hasPrompts { receipt.prompt = nil }
      let line = JSONValue.object((receipt.json.objectValue ?? []) + head).text + "\n"
      queue.async { self.write(line) }
    }
  }

  private func write(_ line: String) {
    do {
      try file.write(contentsOf: Data(line.utf8))
    } catch {
      Terminal.note("a receipt could not be written: \(error)")
    }
  }

  /// Waits until everything is written.
  func flush() { queue.sync {} }
}
