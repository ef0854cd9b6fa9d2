// Lean: the smallest program, with only PagodaKit: without the embedded model, CUDA and the software device.
import PagodaKit

@main
struct Lean {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 2 else { return print("Usage: Lean FOLDER QUESTION [DEVICE]") }
    var options = EngineOptions()
    if arguments.count > 3, let device = EngineOptions.Device(arguments[3]) { options.device = device }
    do {
      let engine = try await Engine.load(.folder(path: arguments[1]), options: options)
      print(try await engine.respond(to: Request(arguments[2])).text)
    } catch let error as PagodaError {
      print("error:", error.message)
    }
  }
}
