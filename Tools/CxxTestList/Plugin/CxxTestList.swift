// Runs CxxTestListTool over Tests/CxxCoreTests whenever one of its sources changes.
import Foundation
import PackagePlugin

@main
struct CxxTestList: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    let folder = context.package.directoryURL.appending(path: "Tests/CxxCoreTests")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let sources = (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "cpp" }
      .sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appending(path: "CxxCoreTests.swift")
    return [
      .buildCommand(
        displayName: "Listing the C++ tests",
        executable: try context.tool(named: "CxxTestListTool").url,
        arguments: [output.path] + sources.map(\.path),
        inputFiles: sources,
        outputFiles: [output])
    ]
  }
}
