// swift-tools-version: 6.2
import PackageDescription

/// Measures the cost of MediaBridge against C, gst-launch-1.0 and Python. A separate package, so that
/// users of MediaBridge do not build it. `make bench` builds and runs it.
let package = Package(
    name: "Benchmarks",
    products: [
        // Preloaded into a process to count its allocations.
        .library(name: "AllocationCounter", type: .dynamic, targets: ["AllocationCounter"]),
        // Preloaded into a process to let callgrind count its instructions.
        .library(name: "CallgrindSupport", type: .dynamic, targets: ["CallgrindSupport"]),
    ],
    dependencies: [
        .package(name: "MediaBridge", path: "..", traits: ["Janus", "WebRTC"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CGStreamerApp", pkgConfig: "gstreamer-app-1.0",
            providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]),
        .systemLibrary(
            name: "CGStreamerVideo", pkgConfig: "gstreamer-video-1.0",
            providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]),
        // The floor: the same work in C.
        .executableTarget(
            name: "c-workloads", dependencies: ["CGStreamerApp", "CGStreamerVideo"]),
        // The library as a program uses it.
        .executableTarget(
            name: "swift-workloads",
            dependencies: [
                "CGStreamerApp", .product(name: "MediaBridgeAgora", package: "MediaBridge"),
                .product(name: "MediaBridgeTesting", package: "MediaBridge"),
                .product(name: "MediaBridgeElements", package: "MediaBridge"),
            ]),
        .target(name: "AllocationCounter"),
        .target(name: "CallgrindSupport"),
        .executableTarget(name: "measure"),
        // Runs all of the above in turn and compares them.
        .executableTarget(
            name: "bench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                "c-workloads", "measure", "swift-workloads", "webrtc-bench",
            ]),
        // Latency and cost between processes, through third-party peers.
        .executableTarget(
            name: "webrtc-bench",
            dependencies: [
                .product(name: "MediaBridgeAgora", package: "MediaBridge"),
                .product(name: "MediaBridgeJanus", package: "MediaBridge"),
                .product(name: "MediaBridgeWebRTC", package: "MediaBridge"),
            ],
            exclude: [
                "Rig/browser-janus.js", "Rig/browser-rig.js", "Rig/browser.py",
                "Rig/test-network.py",
            ]),
        // The sync error between an output and its live capture.
        .executableTarget(
            name: "sync-bench",
            dependencies: [.product(name: "MediaBridge", package: "MediaBridge")]),
    ]
)
