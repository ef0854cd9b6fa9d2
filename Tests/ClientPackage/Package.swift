// swift-tools-version: 6.0
// A program of somebody else: depends on Pagoda, knows nothing of C++ interop.
import PackageDescription

let package = Package(
  name: "client",
  platforms: [.macOS(.v14)],
  dependencies: [.package(name: "pagoda", path: "../..")],
  targets: [.executableTarget(name: "Client", dependencies: [.product(name: "PagodaKit", package: "pagoda")])])
