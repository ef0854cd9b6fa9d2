// swift-tools-version: 6.0
// Example programs that use PagodaKit from another package, without C++ interoperability.
import PackageDescription

let package = Package(
  name: "examples",
  platforms: [.macOS(.v14)],
  dependencies: [.package(name: "pagoda", path: "../..")],
  targets: [
    .executableTarget(name: "Ask", dependencies: [.product(name: "PagodaKit", package: "pagoda")]),
    .executableTarget(name: "Tour", dependencies: [.product(name: "PagodaKit", package: "pagoda")]),
  ])

// A SwiftUI app; `Tools/checks/apple_stubs.sh` type-checks it on Linux.
#if os(macOS)
package.targets.append(
  .executableTarget(name: "MiniChat", dependencies: [.product(name: "PagodaKit", package: "pagoda")]))
#endif
