// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target: language mode 6 (from the tools version), and the lifetime annotations that
/// let a plane of pixels be a span that cannot leave its mapping.
let settings: [SwiftSetting] = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"]))
let unixSignals = Target.Dependency.product(
    name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Command"]))

let package = Package(
    name: "MediaBridge",
    products: [
        .library(name: "MediaBridge", targets: ["MediaBridge"]),
        .library(name: "MediaBridgeWebRTC", targets: ["MediaBridgeWebRTC"]),
        .library(name: "MediaBridgeHTTP", targets: ["MediaBridgeHTTP"]),
        .library(name: "MediaBridgeJanus", targets: ["MediaBridgeJanus"]),
        .executable(name: "gst-bridge", targets: ["gst-bridge"]),
        .executable(name: "gst-bridge-network", targets: ["gst-bridge-network"]),
        .executable(name: "bridge-examples", targets: ["bridge-examples"]),
    ],
    // Who depends on this package for its library alone says `traits: []`, and SwiftPM then neither resolves
    // nor builds what only the command and the examples need.
    traits: [
        .default(enabledTraits: ["Command", "HTTP", "Janus", "WebRTC"]),
        .trait(
            name: "Command",
            description: "The products gst-bridge, gst-bridge-network and bridge-examples",
            enabledTraits: ["HTTP", "Janus", "WebRTC"]),
        .trait(
            name: "HTTP", description: "The product MediaBridgeHTTP", enabledTraits: ["WebRTC"]),
        .trait(
            name: "Janus", description: "The product MediaBridgeJanus", enabledTraits: ["WebRTC"]),
        .trait(name: "WebRTC", description: "The product MediaBridgeWebRTC"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // What Swift cannot import from GStreamer's headers, and nothing else.
        .systemLibrary(
            name: "CMediaBridge",
            pkgConfig: "gstreamer-app-1.0",
            providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]
        ),
        // The kernel's calls that take rights away, which glibc does not wrap.
        .systemLibrary(name: "CSandbox"),
        // libyaml, which reads pipeline files.
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        // What the modules below share that is about neither media nor GStreamer.
        .target(name: "MediaBasics", swiftSettings: settings),
        // What gst-inspect-1.0 knows: pipelines, buses, caps, samples, appsink and appsrc.
        .target(
            name: "GStreamerKit", dependencies: ["CMediaBridge", "MediaBasics"],
            swiftSettings: settings),
        // A process that can do less from now on: Landlock, seccomp and capabilities.
        .target(
            name: "Sandboxing", dependencies: ["CSandbox", "GStreamerKit"],
            swiftSettings: settings),
        // What an RTC user knows: frames, times, sources, sinks, consumers. No C.
        .target(name: "MediaCore", swiftSettings: settings),
        // What decides what happens when: gates and fan-out. No C.
        .target(
            name: "BridgeEngine", dependencies: ["MediaCore", "MediaBasics"],
            swiftSettings: settings),
        // The translation between the two vocabularies, and the product.
        .target(
            name: "MediaBridge",
            dependencies: [
                "CYAML", "GStreamerKit", "MediaCore", "MediaBasics", "BridgeEngine", "Sandboxing",
            ],
            swiftSettings: settings
        ),
        // Peer connections in encoded units, WHIP and WHEP.
        .target(
            name: "MediaBridgeWebRTC",
            dependencies: [
                "GStreamerKit", "MediaCore", "MediaBasics", "BridgeEngine", "MediaBridge",
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["WebRTC"])),
            ],
            swiftSettings: settings
        ),
        // The HTTP server in front of WHIP and WHEP.
        .target(
            name: "MediaBridgeHTTP",
            dependencies: [
                "MediaBridge", "MediaBridgeWebRTC",
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["HTTP"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(
                    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(
                    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
            ],
            swiftSettings: settings
        ),
        // Channels over a Janus server's VideoRoom.
        .target(
            name: "MediaBridgeJanus",
            dependencies: [
                "GStreamerKit", "MediaCore", "MediaBasics", "BridgeEngine", "MediaBridgeWebRTC",
                .product(
                    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Janus"])),
            ],
            swiftSettings: settings
        ),
        // The commands without network code, in both programs.
        .target(
            name: "BridgeCommands",
            dependencies: ["MediaBasics", "MediaBridge", argumentParser, unixSignals],
            swiftSettings: settings),
        // The command.
        .executableTarget(
            name: "gst-bridge", dependencies: ["BridgeCommands", "MediaBridge", argumentParser],
            swiftSettings: settings),
        // The same with the commands of the network, which the command starts.
        .executableTarget(
            name: "gst-bridge-network",
            dependencies: [
                "BridgeCommands", "MediaBridge", "MediaBridgeHTTP", "MediaBridgeJanus",
                "MediaBridgeWebRTC", argumentParser,
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["Command"])),
            ],
            swiftSettings: settings
        ),
        // The samples that users of RTC SDKs try first, one file each.
        .executableTarget(
            name: "bridge-examples",
            dependencies: [
                "MediaBridge",
                argumentParser,
                unixSignals,
            ],
            swiftSettings: settings
        ),
        // What tests share: directories, programs with deadlines, films, displays, and ffprobe as judge.
        .target(
            name: "TestSupport", dependencies: ["BridgeEngine", "MediaBasics", "MediaBridge"],
            path: "Tests/TestSupport",
            exclude: [
                "aiortc-peer.py", "browser-janus.js", "browser-rig.js", "browser.py",
                "rtsp-camera.py", "test-network.py",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MediaBridgeTests",
            dependencies: [
                "MediaBridge", "CMediaBridge", "CycleProbe", "MediaBasics",
                "ScriptProbe", "TestSupport",
            ],
            path: "Tests/Media/MediaBridgeTests", swiftSettings: settings
        ),
        // Starts and stops for the tests of what a process holds afterwards.
        .executableTarget(
            name: "CycleProbe", dependencies: ["MediaBridge"], path: "Tests/Programs/CycleProbe",
            swiftSettings: settings
        ),
        // The same for peer connections.
        .executableTarget(
            name: "PeerCycleProbe", dependencies: ["CLiveObjects", "MediaBridgeWebRTC"],
            path: "Tests/Programs/PeerCycleProbe", swiftSettings: settings
        ),
        // Channels of Janus and sessions of viewers, for the tests that need a process of its own for them.
        .executableTarget(
            name: "CallProbe",
            dependencies: [
                "CLiveObjects", "MediaBridge", "MediaBridgeJanus", "MediaBridgeWebRTC",
                "TestSupport",
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["WebRTC"])),
            ],
            path: "Tests/Programs/CallProbe", swiftSettings: settings
        ),
        // A user's first script, with loops and an end by Ctrl-C at the top level.
        .executableTarget(
            name: "ScriptProbe", dependencies: ["MediaBridge"], path: "Tests/Programs/ScriptProbe",
            swiftSettings: settings
        ),
        // Runs for minutes or hours, and tells what grows.
        .target(
            name: "CLiveObjects", dependencies: ["CMediaBridge"],
            path: "Tests/Programs/Soak/CLiveObjects"),
        .executableTarget(
            name: "Soak",
            dependencies: [
                "CLiveObjects", "MediaBridge",
                argumentParser,
            ],
            path: "Tests/Programs/Soak", exclude: ["CLiveObjects"], swiftSettings: settings
        ),
        // What the tests of the sandbox run inside of one.
        .target(name: "CAttacks", path: "Tests/Programs/SandboxProbe/CAttacks"),
        .executableTarget(
            name: "SandboxProbe", dependencies: ["CAttacks", "CSandbox", "MediaBridge"],
            path: "Tests/Programs/SandboxProbe", exclude: ["CAttacks"], swiftSettings: settings
        ),
        // Breaks recordings, and holds what is left against what was promised: `make faults`.
        .executableTarget(
            name: "FaultSuite", dependencies: ["MediaBridge", "CMediaBridge", "TestSupport"],
            path: "Tests/Programs/FaultSuite", swiftSettings: settings
        ),
        .testTarget(
            name: "FaultTests",
            dependencies: ["TestSupport", "FaultSuite", "gst-bridge", "gst-bridge-network"],
            path: "Tests/Media/FaultTests", swiftSettings: settings
        ),
        // Changes captures in mid-stream, and holds the files against what was offered:
        // `make properties`.
        .executableTarget(
            name: "Properties", dependencies: ["MediaBridge", "TestSupport"],
            path: "Tests/Programs/Properties", swiftSettings: settings
        ),
        .testTarget(
            name: "PropertyTests",
            dependencies: ["TestSupport", "Properties", "gst-bridge", "gst-bridge-network"],
            path: "Tests/Media/PropertyTests", swiftSettings: settings
        ),
        // Cuts gst-launch lines from the wild as users cut them, and compares: `make wild`.
        .executableTarget(
            name: "Wild",
            dependencies: ["MediaBridge", "TestSupport", argumentParser],
            path: "Tests/Programs/Wild", resources: [.copy("Corpus"), .copy("Films.yaml")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "WildTests",
            dependencies: ["TestSupport", "Wild", "gst-bridge", "gst-bridge-network"],
            path: "Tests/Media/WildTests", swiftSettings: settings
        ),
        // The order of the folders, and the pages that name places in them.
        .testTarget(
            name: "HouseTests", dependencies: ["TestSupport"], path: "Tests/Unit/HouseTests",
            swiftSettings: settings),
        // The README's examples, as they stand there.
        .testTarget(
            name: "ReadmeTests",
            dependencies: [
                "MediaBridge", "gst-bridge", "gst-bridge-network", "bridge-examples", "TestSupport",
            ],
            path: "Tests/Media/ReadmeTests", swiftSettings: settings
        ),
        .testTarget(
            name: "MediaCoreTests", dependencies: ["MediaCore", "TestSupport"],
            path: "Tests/Unit/MediaCoreTests", swiftSettings: settings),
        .testTarget(
            name: "BridgeEngineTests",
            dependencies: ["BridgeEngine", "MediaBasics", "MediaCore", "TestSupport"],
            path: "Tests/Unit/BridgeEngineTests", swiftSettings: settings),
        .testTarget(
            name: "GStreamerKitTests", dependencies: ["GStreamerKit", "TestSupport"],
            path: "Tests/Media/GStreamerKitTests", swiftSettings: settings),
        // The command, run as its users run it: exit status, output and files.
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "MediaBridge", "TestSupport", "gst-bridge", "gst-bridge-network", "SandboxProbe",
            ],
            path: "Tests/Media/CommandTests", swiftSettings: settings
        ),
        .testTarget(
            name: "WebRTCUnitTests",
            dependencies: [
                "MediaBasics", "MediaBridge", "MediaBridgeHTTP", "MediaBridgeWebRTC", "TestSupport",
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["WebRTC"])),
            ],
            path: "Tests/Unit/WebRTCUnitTests", swiftSettings: settings
        ),
        // RTP through GStreamer's elements, and the pictures and sound that the peers of tests show.
        .testTarget(
            name: "WebRTCMediaTests",
            dependencies: ["GStreamerKit", "MediaBridgeWebRTC", "TestSupport"],
            path: "Tests/Media/WebRTCMediaTests", swiftSettings: settings
        ),
        // Peer connections, WHIP and WHEP, against peers of others.
        .testTarget(
            name: "WebRTCTests",
            dependencies: [
                "CallProbe", "GStreamerKit", "MediaBridge", "MediaBridgeHTTP", "MediaBridgeWebRTC",
                "PeerCycleProbe", "TestSupport", "gst-bridge", "gst-bridge-network",
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["WebRTC"])),
            ],
            path: "Tests/Live/WebRTCTests", swiftSettings: settings
        ),
        // Pipelines on an X display, on a network, and with cameras that are killed.
        .testTarget(
            name: "LivePipelineTests",
            dependencies: ["MediaBridge", "TestSupport", "gst-bridge", "gst-bridge-network"],
            path: "Tests/Live/LivePipelineTests", swiftSettings: settings),
        // The texts, tokens and back-off of channels over Janus, without a server.
        .testTarget(
            name: "JanusUnitTests",
            dependencies: ["BridgeEngine", "MediaBasics", "MediaBridgeJanus"],
            path: "Tests/Unit/JanusUnitTests", swiftSettings: settings
        ),
        // Channels over a real Janus.
        .testTarget(
            name: "JanusTests",
            dependencies: [
                "CallProbe", "MediaBasics", "MediaBridgeJanus", "TestSupport", "gst-bridge",
                "gst-bridge-network",
                // The servers that are no Janus.
                .product(
                    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Janus"])),
                .product(
                    name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["Janus"])),
            ],
            path: "Tests/Live/JanusTests", swiftSettings: settings
        ),
        // The examples, run as commands, and their files judged from outside.
        .testTarget(
            name: "ExampleTests", dependencies: ["TestSupport", "bridge-examples"],
            path: "Tests/Media/ExampleTests", swiftSettings: settings
        ),
    ]
)
