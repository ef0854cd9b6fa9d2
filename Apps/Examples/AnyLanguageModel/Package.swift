// swift-tools-version: 6.1
// Pagoda behind AnyLanguageModel, Hugging Face's package with the API of Foundation Models: an adapter to copy. It is a
// separate package, because it downloads AnyLanguageModel.
import PackageDescription

let package = Package(
  name: "anylanguagemodel-example",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [.library(name: "PagodaAnyLanguageModel", targets: ["Adapter"])],
  dependencies: [
    .package(name: "pagoda", path: "../../.."),
    .package(url: "https://github.com/huggingface/AnyLanguageModel", from: "0.9.0"),
  ],
  targets: [
    .target(
      name: "Adapter",
      dependencies: [
        .product(name: "PagodaKit", package: "pagoda"),
        .product(name: "AnyLanguageModel", package: "AnyLanguageModel"),
      ])
  ])
