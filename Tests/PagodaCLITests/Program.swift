// Runs the built `pagoda` as a process.
import Foundation

enum Program {
  struct Run {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Next to the test bundle in the build folder.
  private static let executable: URL = {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    return folder.appending(path: "pagoda")
  }()

  static func start(_ arguments: [String], output: Pipe, errors: Pipe, input: Pipe) throws -> Process {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    return process
  }

  /// Standard error stays small, so reading one stream after the other cannot block.
  static func run(_ arguments: String..., input: String = "") throws -> Run { try run(arguments, input: input) }

  static func run(_ arguments: [String], input: String = "") throws -> Run {
    let (output, errors, stdin) = (Pipe(), Pipe(), Pipe())
    let process = try start(arguments, output: output, errors: errors, input: stdin)
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let outputText = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let errorText = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Run(status: process.terminationStatus, output: outputText, errors: errorText)
  }

  /// A folder for one test, removed afterwards.
  static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
