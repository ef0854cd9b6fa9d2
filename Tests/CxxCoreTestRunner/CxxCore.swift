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

extension Trait where Self == ConditionTrait {
  /// A C++ test that this build contains and this run does not leave to another runner.
  static func runs(_ name: String) -> Self {
    guard CxxTest.indices[name] != nil else { return .disabled("not built on this platform") }
    return .enabled(if: !CxxTest.left.contains(name), "left to the native runner")
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

  /// Tests that this run leaves to another runner: those in the file that PAGODA_CXX_TESTS_LEFT names, or none.
  static let left: Set<String> = {
    guard let path = ProcessInfo.processInfo.environment["PAGODA_CXX_TESTS_LEFT"], !path.isEmpty,
      let names = try? String(contentsOfFile: path, encoding: .utf8)
    else { return [] }
    return Set(names.split(separator: "\n").map(String.init))
  }()

  /// Runs one test and records what it reports as an issue.
  static func run(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let index = try #require(indices[name], sourceLocation: sourceLocation)
    guard let failure = pagoda_cxx_test_run(index) else { return }
    defer { free(failure) }
    Issue.record("\(name)\n\(String(cString: failure))", sourceLocation: sourceLocation)
  }
}
