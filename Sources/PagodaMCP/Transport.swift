// Transport: carries JSON-RPC messages to a server and back.
import Foundation

/// Carries messages, one JSON text each. `receive` is called for each message of the server, on any thread; `close` ends
/// it, with the reason if the server ended by itself.
protocol Transport: Sendable {
  func open(
    receive: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable (String) -> Void
  ) async throws
  func send(_ message: String) async throws
  func close() async
}

#if os(macOS) || os(Linux)
/// A program's standard input and output, a message per line. What it writes to standard error is kept for errors.
final class ProgramTransport: Transport, @unchecked Sendable {
  private let process = Process()
  private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
  private let lock = NSLock()
  private var buffer = Data()  // guarded by `lock`, as is `errorTail`
  private var errorTail = ""
  private let name: String

  init(_ name: String, _ command: String, _ arguments: [String], _ environment: [String: String]) {
    self.name = name
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [command] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
  }

  func open(
    receive: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable (String) -> Void
  ) async throws {
    signal(SIGPIPE, SIG_IGN)  // writing to a program that has ended is an error, not the end of this one
    do { try process.run() } catch {
      throw MCPError(server: name, message: "the program cannot be started: \(error.localizedDescription)")
    }
    follow(output) { [self] data in
      for line in take(data) { receive(line) }
    } end: { [self] in
      ended(reason)
    }
    follow(errors) { [self] data in
      lock.withLock { errorTail = String((errorTail + String(decoding: data, as: UTF8.self)).suffix(400)) }
    } end: {
    }
  }

  /// Reads on a thread of its own until the program has closed its side. `readabilityHandler` is not used: on Linux it
  /// sometimes misses the end of a program that ends at once, and its client then waits forever.
  private func follow(
    _ pipe: Pipe, each: @escaping @Sendable (Data) -> Void, end: @escaping @Sendable () -> Void
  ) {
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = read(handle.fileDescriptor, &bytes, bytes.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return end() }
        each(Data(bytes[..<count]))
      }
    }
  }

  private var reason: String {
    let words = lock.withLock { errorTail }.trimmingCharacters(in: .whitespacesAndNewlines)
    return words.isEmpty ? "the program ended" : "the program ended: \(words)"
  }

  /// The whole lines that are complete with these bytes.
  private func take(_ data: Data) -> [String] {
    lock.withLock {
      buffer += data
      guard let end = buffer.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
      let lines = buffer[..<end].split(separator: UInt8(ascii: "\n"))
      buffer = Data(buffer[(end + 1)...])
      return lines.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  func send(_ message: String) async throws {
    do { try input.fileHandleForWriting.write(contentsOf: Data((message + "\n").utf8)) } catch {
      throw MCPError(server: name, message: reason)
    }
  }

  /// Closing the input asks the program to end; one that does not is terminated.
  func close() async {
    try? input.fileHandleForWriting.close()
    for _ in 0..<20 where process.isRunning { try? await Task.sleep(for: .milliseconds(50)) }
    if process.isRunning { process.terminate() }
  }
}
#endif
