// swift-tools-version: 6.2
import PackageDescription

/// What the bridge costs against the same bridge in C. A package of its own, so that nobody who uses
/// MediaBridge builds it. `make bench` builds and runs it.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "MediaBridge", path: "..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CGStreamerApp", pkgConfig: "gstreamer-app-1.0",
            providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]),
        // The floor: the same work in C.
        .executableTarget(name: "c-bridge", dependencies: ["CGStreamerApp"]),
        // The library as a program uses it.
        .executableTarget(
            name: "swift-workload",
            dependencies: [.product(name: "MediaBridge", package: "MediaBridge")]),
        // The engine's fan-out, in C and as a program uses it.
        .executableTarget(name: "c-fanout", dependencies: ["CGStreamerApp"]),
        .executableTarget(
            name: "engine-workload",
            dependencies: [.product(name: "MediaBridge", package: "MediaBridge")]),
        .executableTarget(
            name: "engine-bench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                "BenchmarkSupport", "c-fanout", "engine-workload",
            ]),
        // Runs programs and measures them.
        .target(name: "BenchmarkSupport"),
        // How far an output is out of step with a live capture.
        .executableTarget(
            name: "sync-bench",
            dependencies: [.product(name: "MediaBridge", package: "MediaBridge")]),
        // Runs them all in turn and compares.
        .executableTarget(
            name: "bridge-bench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                "BenchmarkSupport", "c-bridge", "swift-workload",
            ]),
    ]
)
