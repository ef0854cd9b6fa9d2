// Runs the C++ tests of the core under Swift Testing; the tests themselves are listed by the CxxTestList plugin.
import CoreTestSuite
import Foundation
import Testing

/// The suite around all C++ tests. Their framework runs one test at a time.
@Suite(.serialized) struct CxxCore {
  @Test func every_cxx_test_is_listed() {
    #expect(Set(CxxTest.indices.keys).subtracting(listedCxxTests).isEmpty)
    #expect(Set(listedCxxTests).count == listedCxxTests.count, "two C++ tests share a name")
  }
}

/// The C interface of the C++ test framework, by name.
enum CxxTest {
  /// Index of each test that this build contains.
  static let indices: [String: Int32] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let fixtures = root.appending(path: "Fixtures")
    let mini = root.deletingLastPathComponent().appending(path: "Sources/MiniModel/files")
    pagoda_cxx_test_set_folders(fixtures.path, mini.path)
    let names = (0..<pagoda_cxx_test_count()).map { (String(cString: pagoda_cxx_test_name($0)), $0) }
    return Dictionary(names, uniquingKeysWith: { first, _ in first })
  }()

  static func isBuilt(_ name: String) -> Bool { indices[name] != nil }

  /// Runs one test and records what it reports as an issue.
  static func run(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let index = try #require(indices[name], sourceLocation: sourceLocation)
    guard let failure = pagoda_cxx_test_run(index) else { return }
    defer { free(failure) }
    Issue.record("\(name)\n\(String(cString: failure))", sourceLocation: sourceLocation)
  }
}
