// swift-tools-version: 6.2
import PackageDescription

let gstreamer = [
    SystemPackageProvider.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])
]
let libraries = [
    "MediaBridge", "MediaBridgeAgora", "MediaBridgeTesting", "MediaBridgeElements",
    "MediaBridgeWebRTC", "MediaBridgeHTTP", "MediaBridgeJanus",
]
let media: [Target.Dependency] = ["GStreamerKit", "MediaBasics", "MediaCore"]
let engine: [Target.Dependency] = ["BridgeEngine", "MediaBasics", "MediaBridge", "MediaCore"]
let commands = ["gst-bridge", "gst-bridge-network"]

/// Products of other packages, for a trait.
func external(_ products: String..., for trait: String = "Command") -> [Target.Dependency] {
    let packages = [
        "ArgumentParser": "swift-argument-parser", "HTTPTypes": "swift-http-types",
        "NIOSSL": "swift-nio-ssl", "UnixSignals": "swift-service-lifecycle",
    ]
    return products.map {
        .product(name: $0, package: packages[$0] ?? "swift-nio", condition: .when(traits: [trait]))
    }
}

/// A program that tests run, or that a person runs by a target of the Makefile.
func program(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Tests/Programs/\(name)", exclude: exclude,
        resources: resources)
}

func tests(_ layer: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    let programs = layer == "Unit" ? [] : commands.map { Target.Dependency(stringLiteral: $0) }
    return .testTarget(
        name: name, dependencies: ["TestSupport"] + dependencies + programs,
        path: "Tests/\(layer)/\(name)")
}

let package = Package(
    name: "MediaBridge",
    products: libraries.map { .library(name: $0, targets: [$0]) }
        + [.library(name: "gstmediabridge", type: .dynamic, targets: ["element-examples"])]
        + (commands + ["bridge-examples"]).map { .executable(name: $0, targets: [$0]) },
    // A package that needs only the library sets `traits: []`; SwiftPM then does not resolve or build the
    // dependencies of the command and the examples.
    traits: [
        .default(enabledTraits: ["Command", "HTTP", "Janus", "WebRTC"]),
        .trait(
            name: "Command", description: "gst-bridge, gst-bridge-network, bridge-examples",
            enabledTraits: ["HTTP", "Janus", "WebRTC"]),
        .trait(name: "WebRTC", description: "MediaBridgeWebRTC"),
        .trait(name: "HTTP", description: "MediaBridgeHTTP", enabledTraits: ["WebRTC"]),
        .trait(name: "Janus", description: "MediaBridgeJanus", enabledTraits: ["WebRTC"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // Only the parts of GStreamer's headers that Swift cannot import.
        .systemLibrary(name: "CMediaBridge", pkgConfig: "gstreamer-app-1.0", providers: gstreamer),
        // The calls of webrtcbin.
        .systemLibrary(name: "CWebRTC", pkgConfig: "gstreamer-sdp-1.0", providers: gstreamer),
        // Linux system calls that drop privileges, which glibc does not wrap.
        .systemLibrary(name: "CSandbox"),
        // libyaml, for reading pipeline files.
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        // .github/CONTRIBUTING.md says what each of these is for.
        .target(name: "MediaBasics"),
        .target(
            name: "GStreamerKit", dependencies: ["CMediaBridge", "MediaBasics"],
            resources: [.embedInCode("Registry/packages.txt")]),
        .target(name: "Sandboxing", dependencies: ["CSandbox", "GStreamerKit", "MediaBasics"]),
        .target(name: "MediaCore", dependencies: ["MediaBasics"]),
        .target(name: "BridgeEngine", dependencies: ["MediaCore", "MediaBasics"]),
        .target(name: "MediaFrames", dependencies: media),
        .target(
            name: "MediaBridge",
            dependencies: ["BridgeEngine", "CYAML", "MediaFrames", "Sandboxing"] + media),
        .target(name: "MediaBridgeAgora", dependencies: engine),
        .target(name: "MediaBridgeTesting", dependencies: engine),
        .target(
            name: "MediaBridgeElements", dependencies: ["CMediaBridge", "MediaFrames"] + media),
        .target(name: "element-examples", dependencies: ["MediaBridgeElements"]),
        .target(
            name: "MediaBridgeWebRTC",
            dependencies: ["BridgeEngine", "CMediaBridge", "CWebRTC", "MediaBridge"] + media
                + external("HTTPTypes", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOSSL", for: "WebRTC"),
            resources: [
                "page-head.html", "page.js", "sender.html", "token-form.html", "viewer.html",
            ]
            .map { .embedInCode("Pages/\($0)") }),
        .target(
            name: "MediaBridgeHTTP",
            dependencies: ["MediaBasics", "MediaBridge", "MediaBridgeWebRTC"]
                + external("HTTPTypes", "NIOCore", "NIOPosix", "NIOHTTP1", for: "HTTP")),
        .target(
            name: "MediaBridgeJanus",
            dependencies: ["BridgeEngine", "MediaBridgeWebRTC"] + media
                + external(
                    "NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket", "NIOSSL", for: "Janus")),
        .target(
            name: "BridgeCommands",
            dependencies: ["MediaBasics", "MediaBridge"]
                + external("ArgumentParser", "UnixSignals"),
            resources: ["element", "filter", "program", "sink", "sound", "source"].map {
                .embedInCode("Packages/Templates/\($0).txt")
            }),
        .executableTarget(
            name: "gst-bridge",
            dependencies: ["BridgeCommands", "MediaBridge"] + external("ArgumentParser")),
        .executableTarget(
            name: "gst-bridge-network",
            dependencies: ["BridgeCommands", "MediaBridgeHTTP", "MediaBridgeJanus"]
                + external("ArgumentParser", "HTTPTypes"),
            resources: [.embedInCode("Serving/channel.html")]),
        .executableTarget(
            name: "bridge-examples",
            dependencies: ["BridgeCommands", "MediaBridgeAgora", "MediaBridgeTesting"]
                + external("ArgumentParser", "UnixSignals")),
        .target(
            name: "TestSupport", dependencies: ["BridgeEngine", "MediaBasics", "MediaBridge"],
            path: "Tests/TestSupport",
            exclude: [
                "aiortc-peer.py", "browser-janus.js", "browser-rig.js", "browser.py",
                "rtp-sender.py", "rtsp-camera.py", "test-network.py",
            ]),
        .target(
            name: "CLiveObjects", dependencies: ["CMediaBridge"],
            path: "Tests/Programs/Soak/CLiveObjects"),
        .target(name: "CAttacks", path: "Tests/Programs/SandboxProbe/CAttacks"),
        program("CycleProbe", ["MediaBridgeAgora", "MediaBridgeTesting", "TestSupport"]),
        program("PeerCycleProbe", ["CLiveObjects", "MediaBridgeWebRTC"]),
        program(
            "CallProbe",
            ["CLiveObjects", "MediaBridgeAgora", "MediaBridgeJanus", "TestSupport"]
                + external("HTTPTypes", for: "WebRTC")),
        program("MixProbe", ["BridgeEngine", "MediaBridge", "MediaCore"]),
        program("ScriptProbe", ["MediaBridge"]),
        program(
            "Soak", ["CLiveObjects", "MediaBridgeTesting"] + external("ArgumentParser"),
            exclude: ["CLiveObjects"]),
        program("SandboxProbe", ["CAttacks", "CSandbox", "MediaBridge"], exclude: ["CAttacks"]),
        program("FaultSuite", ["MediaBridge", "CMediaBridge", "TestSupport"]),
        program("Properties", ["MediaBridge", "TestSupport"]),
        program(
            "Wild", ["MediaBridge", "TestSupport"] + external("ArgumentParser"),
            resources: [.copy("Corpus"), .copy("Films.yaml")]),
        tests("Unit", "HouseTests", []),
        tests("Unit", "MediaCoreTests", ["MediaBridgeAgora", "MediaCore"]),
        tests("Unit", "BridgeEngineTests", ["MediaBridgeAgora", "MediaBridgeTesting"] + engine),
        tests(
            "Unit", "WebRTCUnitTests", ["MediaBridgeHTTP"] + external("HTTPTypes", for: "WebRTC")),
        tests("Unit", "JanusUnitTests", ["BridgeEngine", "MediaBasics", "MediaBridgeJanus"]),
        tests(
            "Media", "MediaBridgeTests",
            ["CMediaBridge", "CycleProbe", "MediaBridgeAgora", "MediaBridgeTesting", "ScriptProbe"]),
        tests("Media", "GStreamerKitTests", ["GStreamerKit"]),
        tests("Media", "ElementTests", ["MediaBridge", "MediaBridgeElements", "element-examples"]),
        tests("Media", "CommandTests", ["MediaBridge", "SandboxProbe"]),
        tests("Media", "ExampleTests", ["bridge-examples"]),
        tests("Media", "ReadmeTests", ["bridge-examples"]),
        tests("Media", "FaultTests", ["FaultSuite"]),
        tests("Media", "PropertyTests", ["Properties"]),
        tests("Media", "WildTests", ["Wild"]),
        tests("Media", "WebRTCMediaTests", ["GStreamerKit", "MediaBridgeWebRTC"]),
        tests(
            "Live", "WebRTCTests",
            ["CallProbe", "MediaBridgeHTTP", "PeerCycleProbe"]
                + external("HTTPTypes", for: "WebRTC")),
        tests("Live", "LivePipelineTests", ["MediaBridge"]),
        tests(
            "Live", "JanusTests",
            ["CallProbe", "MediaBasics", "MediaBridgeJanus"]
                + external("NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket", for: "Janus")),
    ]
)

// Language mode 6 (from the tools version), and lifetime annotations, which let a plane of pixels be a span that cannot
// outlive its mapping.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableExperimentalFeature("Lifetimes"), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
