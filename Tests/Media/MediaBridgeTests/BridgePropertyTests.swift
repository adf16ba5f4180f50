import MediaBridge
import TestSupport
import Testing

/// Properties of elements, while the bridge runs and after.
@Suite(.hangGuard)
struct BridgePropertyTests {
    private static let source =
        "videotestsrc is-live=true pattern=black name=src ! "
        + "video/x-raw,format=GRAY8,width=32,height=32,framerate=50/1"

    /// Runs a bridge until `body` returns. It has delivered a frame before.
    private func withBridge(
        _ capture: String = "\(source) ! videobalance", outputs: [String] = ["fakesink"],
        _ body: (Bridge, _ brightness: Observed<UInt8>) async throws -> Void
    ) async throws {
        let (brightness, hasBegun) = (Observed<UInt8>(0), Happening())
        var plan = BridgePlan(capture: capture, outputs: outputs)
        plan.processors = [
            Step { frame in
                let first = try frame.withPlanes { $0[0].withUnsafeBytes { $0[0] } }
                brightness.change { $0 = first }
                hasBegun.happen()
                return frame
            }
        ]
        let bridge = try Bridge(plan)
        async let ended = bridge.run()
        await hasBegun.wait()
        do { try await body(bridge, brightness) } catch {
            bridge.stop()
            _ = await ended
            throw error
        }
        bridge.stop()
        let report = await ended
        #expect(report.failures.isEmpty)
        expectBalanced(report)
    }

    private struct Step: VideoProcessor {
        let body: @Sendable (consuming VideoFrame) throws -> VideoFrame?
        func process(_ frame: consuming VideoFrame) throws -> VideoFrame? { try body(frame) }
    }

    @Test func propertyChangeAppliesToFlowingFrames() async throws {
        try await withBridge { bridge, brightness in
            let changed = try await bridge.setProperty("src.pattern", to: "white")
            #expect(changed.text == "white" && changed.element == "video/src")
            await brightness.wait { $0 > 200 }
            try await bridge.setProperty("videotestsrc.pattern", to: "2")
            await brightness.wait { $0 < 50 }
            #expect(try await bridge.properties(of: "src.pattern").map(\.text) == ["black"])
        }
    }

    @Test(arguments: [
        ("src.patern", "white", "pattern"), ("src.pattern", "whit", "pattern=white"),
        ("src.pattern", "99", "smpte, snow"), ("src.num-buffers", "5x", "from -1 to 2147483647"),
        ("videobalance.hue", "1.5", "numbers from -1 to 1"),
        ("src.num-buffers", "99999999999999999999", "from -1"), ("sorc.pattern", "white", "src"),
        ("src.parent", "white", "GstObject"), ("src", "white", "src.PROPERTY"),
        ("", "1", "video/src"),
        (".", "1", "video/src"), ("s.active-pad", "sink_7", "sink_0, sink_1"),
    ])
    func aWrongNameOrValueIsRefusedWithAdvice(
        name: String, value: String, advice: String
    ) async throws {
        let bridge = try Bridge(
            BridgePlan(
                capture: "\(Self.source) ! videobalance ! s. videotestsrc name=other ! s. "
                    + "input-selector name=s", outputs: ["fakesink"]))
        let error = await #expect(throws: PipelineError.self) {
            try await bridge.setProperty(name, to: value)
        }
        #expect(error?.advice?.contains(advice) == true, "\(error as Any)")
    }

    @Test(arguments: [
        ("sel.sync-streams", "false", "the element is PLAYING"), ("sel.n-pads", "3", "read-only"),
        ("file.location", "/tmp/other", "when a file is open"),
        ("src.name", "other", "keeps \"src\""),
        ("src.is-live", "false", "frames may be dropped"),
        ("video/video.max-buffers", "1", "is set by the bridge"),
    ])
    func unsupportedChangeIsRefusedWithTheReason(
        name: String, value: String, reason: String
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withBridge(
                "\(Self.source) ! input-selector name=sel",
                outputs: ["filesink name=file location=\(directory.file("out"))"]
            ) { bridge, _ in
                let before = try await bridge.properties(of: name).map(\.text)
                let error = await #expect(throws: PipelineError.self) {
                    try await bridge.setProperty(name, to: value)
                }
                #expect("\(error as Any)".contains(reason))
                #expect(try await bridge.properties(of: name).map(\.text) == before)
            }
        }
    }

    @Test func ambiguousElementNameNeedsTheCaptureOrOutputName() async throws {
        var plan = BridgePlan(
            capture: "\(Self.source) ! queue name=q", outputs: ["queue name=q ! fakesink"])
        plan.outputs[0].name = "file"
        let bridge = try Bridge(plan)
        let error = await #expect(throws: PipelineError.self) {
            try await bridge.properties(of: "q.leaky")
        }
        #expect(error?.advice == "one of file/q, video/q")
        #expect(try await bridge.setProperty("file/q.leaky", to: "upstream").element == "file/q")
        #expect(try await bridge.properties(of: "video/q.leaky")[0].text == "no")
    }

    @Test func padsAndSelectorInputsCanBeChanged() async throws {
        try await withBridge(
            "input-selector name=s \(Self.source) ! s. "
                + "videotestsrc is-live=true pattern=white ! "
                + "capsfilter name=white caps=video/x-raw,format=GRAY8,width=32,height=32,"
                + "framerate=50/1 ! s. s. ! compositor name=mix"
        ) { bridge, brightness in
            #expect(try await bridge.setProperty("s.active-pad", to: "sink_1").text == "sink_1")
            await brightness.wait { $0 > 200 }
            #expect(try await bridge.setProperty("mix.sink_0::alpha", to: "0.25").text == "0.25")
            #expect(try await bridge.properties(of: "mix.sink_0::alpha")[0].defaultText == "1")
            let caps = try await bridge.setProperty(
                "white.caps", to: "video/x-raw,format=GRAY8,width=32,height=32,framerate=50/1"
            )
            #expect(caps.type == "GstCaps")
        }
    }

    @Test func propertiesStateTypesValuesDefaultsAndWhetherTheyCanChange() async throws {
        try await withBridge("\(Self.source) ! input-selector ! textoverlay name=o") { bridge, _ in
            let all = try await bridge.properties(of: "src")
            let pattern = try #require(all.first { $0.name == "pattern" })
            #expect(pattern.type == "GstVideoTestSrcPattern" && pattern.text == "black")
            #expect(pattern.values?.contains("white") == true && pattern.defaultText == "smpte")
            #expect(try await bridge.properties(of: "input-selector.n-pads")[0].isSettable == false)
            #expect(
                try await bridge.properties(of: "input-selector.active-pad")[0].isSettable == true)
            #expect(try await bridge.properties(of: "o.text")[0].isSettable == nil)
            #expect(
                Set(try await bridge.properties().map(\.element)).isSuperset(of: [
                    "video/o", "video/src",
                ]))
        }
    }

    /// A setter of videotestsrc frees the picture that its streaming thread copies.
    @Test func changesOfATestSourceDoNotRaceWithItsFrames() async throws {
        try await withBridge(
            "videotestsrc is-live=true pattern=black name=src ! "
                + "video/x-raw,format=GRAY8,width=32,height=32,framerate=1000/1"
        ) { bridge, _ in
            for number in 0..<300 {
                try await bridge.setProperty("src.background-color", to: "\(number)")
                try await bridge.setProperty(
                    "src.pattern", to: number.isMultiple(of: 2) ? "white" : "black")
            }
        }
    }

    @Test func clientsThatSetTheSamePropertyGetTheirOwnValues() async throws {
        try await withBridge("\(Self.source) ! textoverlay name=o") { bridge, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<4 {
                    group.addTask {
                        for number in 0..<250 {
                            let value = "\(client * 250 + number)"
                            let set = try await bridge.setProperty(
                                "o.text", to: value)
                            #expect(set.text == value)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func propertyValueSurvivesARestartAndTheEnd() async throws {
        var plan = BridgePlan(
            capture: Self.source.replacing("videotestsrc", with: "videotestsrc num-buffers=3"),
            outputs: ["fakesink"])
        var policy = RestartPolicy()
        (policy.delay, policy.longestDelay) = (.milliseconds(1), .milliseconds(1))
        plan.restart = policy
        let bridge = try Bridge(plan)
        try await bridge.setProperty("src.pattern", to: "ball")
        let (returns, returned) = AsyncStream.makeStream(of: Void.self)
        bridge.onEvent { if case .resumed = $0 { returned.yield() } }
        var iterator = returns.makeAsyncIterator()
        async let ended = bridge.run()
        for _ in 1...2 { await iterator.next() }
        #expect(try await bridge.properties(of: "src.pattern")[0].text == "ball")
        bridge.stop()
        _ = await ended
        #expect(try await bridge.setProperty("src.pattern", to: "snow").text == "snow")
    }
}
