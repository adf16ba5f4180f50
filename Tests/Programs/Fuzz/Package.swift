// swift-tools-version: 6.2
import PackageDescription

/// libFuzzer targets for untrusted input. A separate package, because everything in it, including
/// MediaBridge, is built with `-sanitize=fuzzer,address`. `make fuzz SECONDS=30` builds and runs it.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "MediaBridge", path: "../../..", traits: [])],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        .target(name: "FuzzSupport", dependencies: ["CFuzzer"]),
    ]
        + [
            "fuzz-strings", "fuzz-untrusted", "fuzz-files", "fuzz-pushes", "fuzz-frames",
            "fuzz-repair",
        ].map { name in
            .executableTarget(
                name: name,
                dependencies: [
                    "FuzzSupport", .product(name: "MediaBridgeAgora", package: "MediaBridge"),
                ])
        }
)
