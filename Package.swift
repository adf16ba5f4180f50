// swift-tools-version: 6.2
import PackageDescription

/// Settings of every Swift target: language mode 6 (from the tools version), and lifetime annotations, which
/// let a plane of pixels be a span that cannot outlive its mapping.
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
        .library(name: "MediaBridgeElements", targets: ["MediaBridgeElements"]),
        .library(name: "gstmediabridge", type: .dynamic, targets: ["element-examples"]),
        .library(name: "MediaBridgeWebRTC", targets: ["MediaBridgeWebRTC"]),
        .library(name: "MediaBridgeHTTP", targets: ["MediaBridgeHTTP"]),
        .library(name: "MediaBridgeJanus", targets: ["MediaBridgeJanus"]),
        .executable(name: "gst-bridge", targets: ["gst-bridge"]),
        .executable(name: "gst-bridge-network", targets: ["gst-bridge-network"]),
        .executable(name: "bridge-examples", targets: ["bridge-examples"]),
    ],
    // A package that needs only the library sets `traits: []`; SwiftPM then does not resolve or build the
    // dependencies of the command and the examples.
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
        // Only the parts of GStreamer's headers that Swift cannot import.
        .systemLibrary(
            name: "CMediaBridge",
            pkgConfig: "gstreamer-app-1.0",
            providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]
        ),
        // The calls of webrtcbin.
        .systemLibrary(
            name: "CWebRTC",
            pkgConfig: "gstreamer-sdp-1.0",
            providers: [.apt(["libgstreamer-plugins-base1.0-dev"])]
        ),
        // Linux system calls that drop privileges, which glibc does not wrap.
        .systemLibrary(name: "CSandbox"),
        // libyaml, for reading pipeline files.
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        // Code that the modules below share and that is independent of media and GStreamer.
        .target(name: "MediaBasics", swiftSettings: settings),
        // GStreamer concepts: pipelines, buses, caps, samples, appsink and appsrc.
        .target(
            name: "GStreamerKit", dependencies: ["CMediaBridge", "MediaBasics"],
            resources: [.embedInCode("Registry/packages.txt")], swiftSettings: settings),
        // Restrictions on the current process: Landlock, seccomp and capabilities.
        .target(
            name: "Sandboxing", dependencies: ["CSandbox", "GStreamerKit", "MediaBasics"],
            swiftSettings: settings),
        // RTC concepts: frames, times, sources, sinks, consumers. No C.
        .target(name: "MediaCore", dependencies: ["MediaBasics"], swiftSettings: settings),
        // Scheduling and routing of frames. No C.
        .target(
            name: "BridgeEngine", dependencies: ["MediaCore", "MediaBasics"],
            swiftSettings: settings),
        // Frames whose memory is a buffer of GStreamer, and buffers over the memory of frames.
        .target(
            name: "MediaFrames", dependencies: ["GStreamerKit", "MediaCore", "MediaBasics"],
            swiftSettings: settings),
        // The product: maps the RTC concepts to GStreamer.
        .target(
            name: "MediaBridge",
            dependencies: [
                "CYAML", "GStreamerKit", "MediaCore", "MediaBasics", "MediaFrames", "BridgeEngine",
                "Sandboxing",
            ],
            swiftSettings: settings
        ),
        // Swift classes as elements of GStreamer. Without Foundation, so that a plugin stays small.
        .target(
            name: "MediaBridgeElements",
            dependencies: [
                "CMediaBridge", "GStreamerKit", "MediaBasics", "MediaCore", "MediaFrames",
            ],
            swiftSettings: settings),
        // A plugin of sample elements.
        .target(
            name: "element-examples", dependencies: ["MediaBridgeElements"], swiftSettings: settings
        ),
        // Peer connections that carry encoded frames, WHIP and WHEP.
        .target(
            name: "MediaBridgeWebRTC",
            dependencies: [
                "CMediaBridge", "CWebRTC", "GStreamerKit", "MediaCore", "MediaBasics",
                "BridgeEngine", "MediaBridge",
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["WebRTC"])),
                .product(
                    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["WebRTC"])),
                .product(
                    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["WebRTC"])),
                .product(
                    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["WebRTC"])),
                .product(
                    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["WebRTC"])),
            ],
            resources: [
                .embedInCode("Pages/page-head.html"), .embedInCode("Pages/page.js"),
                .embedInCode("Pages/sender.html"), .embedInCode("Pages/token-form.html"),
                .embedInCode("Pages/viewer.html"),
            ],
            swiftSettings: settings
        ),
        // The HTTP server for WHIP and WHEP.
        .target(
            name: "MediaBridgeHTTP",
            dependencies: [
                "MediaBasics", "MediaBridge", "MediaBridgeWebRTC",
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
        // Channels over the VideoRoom plugin of a Janus server.
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
        // The commands without network code, shared by both programs.
        .target(
            name: "BridgeCommands",
            dependencies: ["MediaBasics", "MediaBridge", argumentParser, unixSignals],
            resources: ["element", "filter", "program", "sink", "sound", "source"].map {
                .embedInCode("Packages/Templates/\($0).txt")
            },
            swiftSettings: settings),
        // The command.
        .executableTarget(
            name: "gst-bridge", dependencies: ["BridgeCommands", "MediaBridge", argumentParser],
            swiftSettings: settings),
        // The same with the network commands; gst-bridge starts it for them.
        .executableTarget(
            name: "gst-bridge-network",
            dependencies: [
                "BridgeCommands", "MediaBasics", "MediaBridge", "MediaBridgeHTTP",
                "MediaBridgeJanus", "MediaBridgeWebRTC", argumentParser,
                .product(
                    name: "HTTPTypes", package: "swift-http-types",
                    condition: .when(traits: ["Command"])),
            ],
            resources: [.embedInCode("Serving/channel.html")],
            swiftSettings: settings
        ),
        // The samples that users of RTC SDKs try first, one file each.
        .executableTarget(
            name: "bridge-examples",
            dependencies: [
                "BridgeCommands", "MediaBridge",
                argumentParser,
                unixSignals,
            ],
            swiftSettings: settings
        ),
        // Shared test code: directories, programs with deadlines, films, displays, and checks with ffprobe.
        .target(
            name: "TestSupport", dependencies: ["BridgeEngine", "MediaBasics", "MediaBridge"],
            path: "Tests/TestSupport",
            exclude: [
                "aiortc-peer.py", "browser-janus.js", "browser-rig.js", "browser.py",
                "rtp-sender.py", "rtsp-camera.py", "test-network.py",
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
        // Repeated starts and stops, for tests of the resources that a process holds afterwards.
        .executableTarget(
            name: "CycleProbe", dependencies: ["MediaBridge", "TestSupport"],
            path: "Tests/Programs/CycleProbe", swiftSettings: settings
        ),
        // The same for peer connections.
        .executableTarget(
            name: "PeerCycleProbe", dependencies: ["CLiveObjects", "MediaBridgeWebRTC"],
            path: "Tests/Programs/PeerCycleProbe", swiftSettings: settings
        ),
        // Janus channels and viewer sessions, for tests that need them in a separate process.
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
        // The mix of many users, for the benchmarks.
        .executableTarget(
            name: "MixProbe", dependencies: ["BridgeEngine", "MediaBridge", "MediaCore"],
            path: "Tests/Programs/MixProbe", swiftSettings: settings
        ),
        // A typical first script, with loops at the top level, ended by Ctrl-C.
        .executableTarget(
            name: "ScriptProbe", dependencies: ["MediaBridge"], path: "Tests/Programs/ScriptProbe",
            swiftSettings: settings
        ),
        // Runs for minutes or hours, and reports resource growth.
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
        // Attacks that the sandbox tests run inside a sandbox.
        .target(name: "CAttacks", path: "Tests/Programs/SandboxProbe/CAttacks"),
        .executableTarget(
            name: "SandboxProbe", dependencies: ["CAttacks", "CSandbox", "MediaBridge"],
            path: "Tests/Programs/SandboxProbe", exclude: ["CAttacks"], swiftSettings: settings
        ),
        // Breaks recordings, and compares the resulting files with the promises: `make faults`.
        .executableTarget(
            name: "FaultSuite", dependencies: ["MediaBridge", "CMediaBridge", "TestSupport"],
            path: "Tests/Programs/FaultSuite", swiftSettings: settings
        ),
        .testTarget(
            name: "FaultTests",
            dependencies: ["TestSupport", "FaultSuite", "gst-bridge", "gst-bridge-network"],
            path: "Tests/Media/FaultTests", swiftSettings: settings
        ),
        // Changes captures in mid-stream, and compares the files with the offered frames: `make properties`.
        .executableTarget(
            name: "Properties", dependencies: ["MediaBridge", "TestSupport"],
            path: "Tests/Programs/Properties", swiftSettings: settings
        ),
        .testTarget(
            name: "PropertyTests",
            dependencies: ["TestSupport", "Properties", "gst-bridge", "gst-bridge-network"],
            path: "Tests/Media/PropertyTests", swiftSettings: settings
        ),
        // Splits published gst-launch lines as users would, and compares both results: `make wild`.
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
        // The folder structure, and the pages that refer to places in it.
        .testTarget(
            name: "HouseTests", dependencies: ["TestSupport"], path: "Tests/Unit/HouseTests",
            swiftSettings: settings),
        // The README's examples, verbatim.
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
        // Swift classes as elements, in programs of GStreamer and in this library.
        .testTarget(
            name: "ElementTests",
            dependencies: [
                "GStreamerKit", "MediaBridge", "MediaBridgeElements", "TestSupport",
                "element-examples", "gst-bridge", "gst-bridge-network",
            ],
            path: "Tests/Media/ElementTests", swiftSettings: settings),
        // The command, run as users run it: exit status, output and files.
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
        // RTP through GStreamer elements, and the test pictures and sound of the peers.
        .testTarget(
            name: "WebRTCMediaTests",
            dependencies: ["GStreamerKit", "MediaBridgeWebRTC", "TestSupport"],
            path: "Tests/Media/WebRTCMediaTests", swiftSettings: settings
        ),
        // Peer connections, WHIP and WHEP, against third-party peers.
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
        // Messages, tokens and back-off of channels over Janus, without a server.
        .testTarget(
            name: "JanusUnitTests",
            dependencies: ["BridgeEngine", "MediaBasics", "MediaBridgeJanus"],
            path: "Tests/Unit/JanusUnitTests", swiftSettings: settings
        ),
        // Channels over a real Janus server.
        .testTarget(
            name: "JanusTests",
            dependencies: [
                "CallProbe", "MediaBasics", "MediaBridgeJanus", "TestSupport", "gst-bridge",
                "gst-bridge-network",
                // For the fake servers that are not Janus.
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
        // The examples, run as commands; external tools check their files.
        .testTarget(
            name: "ExampleTests", dependencies: ["TestSupport", "bridge-examples"],
            path: "Tests/Media/ExampleTests", swiftSettings: settings
        ),
    ]
)
