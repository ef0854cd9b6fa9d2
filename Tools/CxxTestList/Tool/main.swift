// Writes one Swift test per PAGODA_TEST(name) found in C++ sources, so that `swift test` lists, filters and counts them
// one by one (a parameterised test would count as a single one). Usage: CxxTestListTool OUT.swift IN.cpp...
import Foundation

/// The names in `PAGODA_TEST(name)` lines, in source order.
func testNames(in source: String) -> [String] {
  source.split(separator: "\n").compactMap { line in
    guard line.hasPrefix("PAGODA_TEST("), let end = line.firstIndex(of: ")") else { return nil }
    return String(line[line.index(line.startIndex, offsetBy: 12)..<end])
  }
}

/// Tests of one area (the part of the name before the first underscore) form one suite.
func suite(_ area: String, _ names: [String]) -> String {
  let tests = names.map { name in
    """
        @Test(.runs("\(name)"))
        func \(name)() throws { try CxxTest.run("\(name)") }

    """
  }
  return "extension CxxCore {\n  @Suite struct `\(area)` {\n\(tests.joined())  }\n}\n"
}

let arguments = CommandLine.arguments
guard arguments.count >= 2 else {
  FileHandle.standardError.write(Data("usage: CxxTestListTool OUT.swift IN.cpp...\n".utf8))
  exit(64)
}
var names: [String] = []
for path in arguments.dropFirst(2) { names += testNames(in: try String(contentsOfFile: path, encoding: .utf8)) }

let areas = Dictionary(grouping: names) { String($0.prefix { $0 != "_" }) }
var text = "// Made by CxxTestListTool from Tests/CxxCoreTests; not checked in.\nimport Testing\n\n"
text += "let listedCxxTests: [String] = [\n\(names.map { "  \"\($0)\",\n" }.joined())]\n\n"
text += areas.keys.sorted().map { suite($0, areas[$0] ?? []) }.joined(separator: "\n")
try text.write(toFile: arguments[1], atomically: true, encoding: .utf8)
