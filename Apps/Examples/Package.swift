// swift-tools-version: 6.0
// Example programs that use PagodaKit from another package, without C++ interoperability.
import PackageDescription

let kit = Target.Dependency.product(name: "PagodaKit", package: "pagoda")
let mini = Target.Dependency.product(name: "PagodaMini", package: "pagoda")
let package = Package(
  name: "examples",
  platforms: [.macOS(.v14)],
  dependencies: [.package(name: "pagoda", path: "../..")],
  targets: [
    .executableTarget(name: "Ask", dependencies: [kit, mini]),
    .executableTarget(name: "Tour", dependencies: [kit, mini]),
    .executableTarget(name: "Lean", dependencies: [kit]),
  ])

// A SwiftUI app; `Tools/checks/apple_stubs.sh` type-checks it on Linux.
#if os(macOS)
package.targets.append(.executableTarget(name: "MiniChat", dependencies: [kit, mini]))
#endif
