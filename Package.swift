// swift-tools-version: 6.2
// The package manifest: a C++20 core, its Swift API, the command-line program, and their tests.
// Only PagodaKit imports the C++ core. It is built with library evolution, so its clients do not need C++ interop.
import PackageDescription

let apple: [Platform] = [.macOS, .iOS]
// The engine with the embedded model, all devices and image files, for the command-line program and the tests.
let everything: [Target.Dependency] = ["PagodaKit", "PagodaMini", "CUDADevice", "ImageDecoders", "SoftwareDevice"]
// metal-cpp instead of our own declarations of Metal, if METAL_CPP names its folder; see docs/mac.md.
let metalCpp: [CXXSetting] =
  Context.environment["METAL_CPP"].map { folder in
    [
      .define("PAGODA_METAL_CPP", .when(platforms: apple)),
      .unsafeFlags(["-fblocks", "-isystem", folder], .when(platforms: apple)),
    ]
  } ?? []
// Line tables instead of a description of every type: traces still name lines, and the compiler needs a quarter less time. The
// package's own -g comes later on the command line, so the option is the compiler's inner one.
let lineTables: CXXSetting = .unsafeFlags(["-Xclang", "-debug-info-kind=line-tables-only"])
let package = Package(
  name: "pagoda",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [
    .library(name: "PagodaKit", targets: ["PagodaKit"]),
    // Optional: a program includes these only if it depends on them.
    .library(name: "PagodaMini", targets: ["PagodaMini"]),  // the embedded model
    .library(name: "PagodaCUDA", targets: ["CUDADevice"]),
    .library(name: "PagodaImages", targets: ["ImageDecoders"]),  // PNG, JPEG and WebP files
    .library(name: "PagodaSoftwareDevice", targets: ["SoftwareDevice"]),
    .library(name: "PagodaServer", targets: ["PagodaServer"]),
    .library(name: "PagodaHub", targets: ["PagodaHub"]),
    .library(name: "PagodaMCP", targets: ["PagodaMCP"]),  // tools of servers of the Model Context Protocol
    .library(name: "PagodaTesting", targets: ["PagodaTesting"]),  // an engine without a model, for tests of clients
    .library(name: "PagodaFoundationModels", targets: ["PagodaFoundationModels"]),
    .library(name: "PagodaChatCore", targets: ["PagodaChatCore"]),
    .library(name: "PagodaTransformers", targets: ["PagodaTransformers"]),
    .executable(name: "pagoda", targets: ["PagodaCLI"]),
  ],
  traits: [
    .trait(
      name: "Transformers",
      description:
        "Tokenizers, chat templates and the Hub client of Hugging Face's swift-transformers (PagodaTransformers).")
  ],
  dependencies: [
    // Fetched only if the trait is enabled, because nothing else depends on it.
    .package(url: "https://github.com/huggingface/swift-transformers", from: "1.0.0")
  ],
  targets: [
    .target(
      name: "CxxCore",
      path: "CxxCore",
      exclude: ["gpu", "src"],
      sources: ["joined"],  // each compiles several files of `src` as one, in half the time; see Tools/native/join.py
      publicHeadersPath: "include",
      cxxSettings: [
        .headerSearchPath("src"),
        .headerSearchPath("../Shaders"),  // for args/*.h, which the kernels include too
        .define("NDEBUG", .when(configuration: .release)),
        .define("PAGODA_METAL_ONLY", .when(platforms: apple, configuration: .release)),  // see kernel_table.h
        // Without optimisation the core is too slow for tests.
        .unsafeFlags(["-O2"], .when(configuration: .debug)), lineTables,
      ],
      linkerSettings: [
        .linkedFramework("CoreGraphics", .when(platforms: [.macOS])),  // without it a tool has no default GPU
        .linkedFramework("Foundation", .when(platforms: apple)),
        .linkedFramework("Metal", .when(platforms: apple)),
      ]),
    // Everything for GPUs: a quarter of the core's files, which a program without a GPU does not compile. Like the targets of
    // the devices it does not depend on CxxCore, which every program links that has a device.
    .target(
      name: "CxxGPU",
      path: "CxxCore/gpu",  // files that include those of CxxCore/src/device/gpu, as above
      cxxSettings: [
        .headerSearchPath("../src"), .headerSearchPath("../include"), .headerSearchPath("../../Shaders"),
        .define("NDEBUG", .when(configuration: .release)),
        .define("PAGODA_METAL_ONLY", .when(platforms: apple, configuration: .release)),  // see kernel_table.h
        .unsafeFlags(["-O2"], .when(configuration: .debug)), lineTables,  // as in CxxCore
      ] + metalCpp),
    .target(name: "MiniModel", exclude: ["README.md", "files"]),
    .target(
      name: "PagodaMini",
      dependencies: ["MiniModel", "PagodaKit"],
      swiftSettings: [.unsafeFlags(["-enable-library-evolution"])]),  // so that clients need not import MiniModel
    // Linking one of these targets registers its device; nothing imports them. They do not depend on CxxCore, because
    // every program that uses them links it already.
    .target(name: "CUDADevice", dependencies: ["CxxGPU"]),
    .target(name: "SoftwareDevice", dependencies: ["CxxGPU"]),
    // Without these packages everything still builds, and the decoders say what is missing. Apple's systems use ImageIO.
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    .target(
      name: "ImageDecoders",
      dependencies: [
        .target(name: "CPNG", condition: .when(platforms: [.linux])),
        .target(name: "CJPEG", condition: .when(platforms: [.linux])),
        .target(name: "CWebP", condition: .when(platforms: [.linux])),
      ],
      cxxSettings: [
        .headerSearchPath("../../CxxCore/include"),
        .unsafeFlags(["-O2"], .when(configuration: .debug)),
      ],
      linkerSettings: [
        .linkedFramework("CoreFoundation", .when(platforms: apple)),
        .linkedFramework("CoreGraphics", .when(platforms: apple)),
        .linkedFramework("ImageIO", .when(platforms: apple)),
      ]),
    .target(
      name: "PagodaFoundation",
      swiftSettings: [
        .unsafeFlags(["-enable-library-evolution"]),
        .unsafeFlags(["-suppress-warnings"], .when(platforms: [.linux])),  // about its import of Foundation
      ]),
    .target(
      name: "PagodaKit",
      dependencies: ["CxxCore", .target(name: "CxxGPU", condition: .when(platforms: apple)), "PagodaFoundation"],
      swiftSettings: [
        .interoperabilityMode(.Cxx),
        // Otherwise every client would have to enable C++ interop too.
        .unsafeFlags(["-enable-library-evolution"]),
      ]),
    .systemLibrary(name: "CEpoll"),
    // HTTPS for the command-line program. Without the package everything still builds, and the option says what is missing.
    // Apple's systems use Secure Transport.
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .target(
      name: "CTLS", dependencies: [.target(name: "COpenSSL", condition: .when(platforms: [.linux]))],
      linkerSettings: [.linkedFramework("Security", .when(platforms: apple))]),
    .target(name: "PagodaTLS", dependencies: ["CTLS", "PagodaServer"]),
    .target(name: "ServerPage", exclude: ["files"]),
    .target(name: "PagodaServer", dependencies: ["PagodaKit", "CDigest", "CEpoll", "ServerPage"]),
    .target(
      name: "CDigest",
      cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),  // debug builds hash gigabytes too
    .target(name: "PagodaHub", dependencies: ["CDigest", "PagodaKit"], exclude: ["README.md"]),
    .target(name: "PagodaMCP", dependencies: ["PagodaKit"]),
    .executableTarget(name: "MCPProbe", dependencies: ["PagodaMCP", "PagodaTesting"], path: "Tests/MCPProbe"),
    .target(name: "PagodaTesting", dependencies: ["PagodaKit"]),
    .target(name: "PagodaFoundationModels", dependencies: ["PagodaKit"]),
    .target(
      name: "PagodaTransformers",
      dependencies: [
        "PagodaKit",
        .product(name: "Tokenizers", package: "swift-transformers", condition: .when(traits: ["Transformers"])),
        .product(name: "Hub", package: "swift-transformers", condition: .when(traits: ["Transformers"])),
      ]),
    .target(
      name: "PagodaChatCore",
      dependencies: ["ImageDecoders", "PagodaHub", "PagodaKit", "PagodaMCP", "PagodaMini", "PagodaServer"]),
    .executableTarget(
      name: "PagodaCLI", dependencies: ["PagodaServer", "PagodaTLS", "PagodaHub", "PagodaMCP"] + everything,
      path: "Apps/PagodaCLI"),

    // Does not depend on CxxCore: if CxxCore's module map were on the command line, clang in C++20 mode would turn each
    // include of a core header into a module import and fail. The test target links both.
    .target(
      name: "CoreTestSuite",
      path: "Tests/CoreTestSuite",  // files that include those of CxxCoreTests; see Tools/native/join.py
      publicHeadersPath: "include",
      cxxSettings: [
        .headerSearchPath("../CxxCoreTests"), .headerSearchPath("../../CxxCore/include"),
        .headerSearchPath("../../CxxCore/src"),
        .headerSearchPath("../../Shaders"),
      ]),
    .executableTarget(name: "CxxTestListTool", path: "Tools/CxxTestList/Tool"),
    .plugin(
      name: "CxxTestList", capability: .buildTool(), dependencies: ["CxxTestListTool"], path: "Tools/CxxTestList/Plugin"
    ),
    .testTarget(
      name: "CxxCoreTests",
      dependencies: ["CoreTestSuite", "CxxCore", "CUDADevice", "ImageDecoders", "SoftwareDevice"],
      path: "Tests/CxxCoreTestRunner",
      plugins: ["CxxTestList"]),
    .testTarget(name: "PagodaKitTests", dependencies: ["PagodaTesting", "PagodaTransformers"] + everything),
    .testTarget(name: "PagodaXCTests", dependencies: everything),
    .testTarget(name: "PagodaHubTests", dependencies: ["PagodaHub"]),
    .testTarget(name: "PagodaServerTests", dependencies: ["PagodaServer"] + everything),
    .testTarget(name: "PagodaCLITests", dependencies: ["PagodaCLI"]),
    .executableTarget(name: "ChatStoreWriter", dependencies: ["PagodaChatCore"], path: "Tests/ChatStoreWriter"),
    .testTarget(
      name: "PagodaChatCoreTests", dependencies: ["PagodaChatCore", "PagodaMCP", "PagodaMini", "ChatStoreWriter"]),
  ],
  cxxLanguageStandard: .cxx20)

#if os(macOS)
package.products.append(.executable(name: "PagodaChat", targets: ["PagodaChat"]))
package.targets.append(
  .executableTarget(
    name: "PagodaChat", dependencies: ["PagodaChatCore"], path: "Apps/PagodaChat",
    exclude: [
      "Assets.xcassets", "Info-iOS.plist", "Info.plist", "Localizable.xcstrings", "Pagoda-iOS.entitlements",
      "Pagoda.entitlements", "Scripts",
      "project.yml",
    ]))
#endif
