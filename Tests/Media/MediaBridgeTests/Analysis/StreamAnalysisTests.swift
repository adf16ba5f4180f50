import MediaBasics
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Counts what it sees, and runs a closure on it.
private struct Spy: VideoDetector {
    var analysis = PictureAnalysis()
    var body: @Sendable (VideoFrame) throws -> Finding = { _ in Finding(false, score: 0) }
    func inspect(_ picture: VideoFrame) throws -> Finding { try body(picture) }
}

/// Detectors beside the outputs of a bridge.
@Suite(.hangGuard) struct StreamAnalysisTests {
    private static let raw =
        "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=320,height=180,framerate=25/1"
    private static let encoded = raw + " ! x264enc key-int-max=10 bframes=2 ! h264parse"

    private func run(
        _ capture: String, _ detectors: [StreamDetector], outputs: [String] = ["fakesink"],
        onEvent: @escaping @Sendable (BridgeEvent) -> Void = { _ in }
    ) async throws -> BridgeReport {
        var plan = BridgePlan(capture: capture, outputs: outputs)
        plan.detectors = detectors
        let bridge = try Bridge(plan)
        bridge.onEvent(onEvent)
        let report = await bridge.run()
        expectBalanced(report)
        for detector in report.detectors.values { expectBalanced(detector.balance) }
        return report
    }

    private func seen(
        _ capture: String, _ analysis: PictureAnalysis = PictureAnalysis()
    ) async throws -> [(size: VideoSize, format: VideoPixelFormat, time: Double)] {
        let seen = Observed<[(size: VideoSize, format: VideoPixelFormat, time: Double)]>([])
        let report = try await run(
            capture,
            [
                StreamDetector(
                    "spy",
                    pictures: {
                        Spy(analysis: analysis) { picture in
                            let time = picture.runningTime?.seconds ?? -1
                            seen.change {
                                $0.append((picture.size, picture.format.pixelFormat, time))
                            }
                            return Finding(false, score: 0)
                        }
                    })
            ])
        #expect(report.outputs["output"]?.frames == 50)
        #expect(report.detectors["spy"]?.frames == seen.value.count)
        #expect(report.detectors["spy"]?.dropped.total == 0)
        return seen.value
    }

    @Test(arguments: [raw, encoded])
    func detectorReceivesFiveSmallFramesASecond(capture: String) async throws {
        let seen = try await seen(capture)
        #expect(seen.map(\.time) == (0..<10).map { Double($0) / 5 })
        #expect(
            seen.allSatisfy { $0.size == VideoSize(width: 160, height: 90) && $0.format == .gray8 })
    }

    @Test func detectorReceivesTheRequestedRateSizeAndFormat() async throws {
        var analysis = PictureAnalysis()
        (analysis.rate, analysis.pixelFormat) = (0, .bgra)
        analysis.size = VideoSize(width: 100, height: 100)
        let seen = try await seen(Self.encoded, analysis)
        #expect(seen.count == 50)
        #expect(
            seen.allSatisfy { $0.size == VideoSize(width: 100, height: 56) && $0.format == .bgra })
    }

    @Test func onlyKeyFramesAreDecodedOnRequest() async throws {
        var analysis = PictureAnalysis()
        analysis.keyFramesOnly = true
        let seen = try await seen(Self.encoded, analysis)
        #expect(seen.map(\.time) == [0, 0.4, 0.8, 1.2, 1.6])
    }

    @Test(arguments: [raw, encoded]) func eventBeginsAndEndsAtAFrame(capture: String)
        async throws
    {
        let events = Observed<[DetectedEvent]>([])
        let report = try await run(
            capture,
            [
                StreamDetector(
                    "middle",
                    pictures: {
                        Spy { picture in
                            let time = picture.runningTime?.seconds ?? 0
                            return Finding((0.3...0.7).contains(time), score: time)
                        }
                    })
            ]
        ) { if case .detected(let event) = $0 { events.change { $0.append(event) } } }
        let event = DetectedEvent(
            detector: "middle", stream: "video", began: MediaTime(seconds: 0.4),
            ended: MediaTime(seconds: 0.8), score: 0.6)
        #expect(report.events == [event])
        #expect(report.detectors["middle"]?.events == 1)
        var begun = event
        (begun.ended, begun.score) = (nil, 0.4)
        #expect(events.value == [begun, event])
    }

    @Test func throwingDetectorIsReportedAndTheStreamContinues() async throws {
        struct Broken: Error {}
        let report = try await run(
            Self.raw,
            [
                StreamDetector("broken", pictures: { Spy { _ in throw Broken() } }),
                StreamDetector("other", pictures: { Spy() }),
            ])
        #expect(report.outputs["output"]?.frames == 50)
        #expect(report.failures.map(\.code) == [.elementFailed])
        #expect(report.detectors["broken"]?.failure == report.failures.first)
        #expect(report.detectors["broken"]?.dropped[.failed] == 1)
        #expect(report.detectors["other"]?.frames == 10)
    }

    @Test(arguments: [raw, encoded])
    func hangingDetectorDoesNotDelayALiveStream(capture: String) async throws {
        let release = MonotonicSignal()
        let looks = Atomic(0)
        var plan = BridgePlan(
            capture: capture.replacing("videotestsrc", with: "videotestsrc is-live=true"),
            outputs: ["fakesink"])
        plan.detectors = [
            StreamDetector(
                "slow",
                pictures: {
                    Spy { _ in
                        if looks.add(1, ordering: .relaxed).newValue == 1 { release.wait() }
                        return Finding(false, score: 0)
                    }
                })
        ]
        let report = await (try Bridge(plan)).run()
        release.signal()
        #expect(report.captures["video"]?.frames == 50)
        #expect(report.captures["video"]?.dropped.total == 0)
        let balance = try #require(report.detectors["slow"]?.balance)
        #expect(balance.delivered == 0)
        #expect(balance.dropped[.evicted] > 0)
        expectBalanced(balance, isOver: false)
    }

    @Test(arguments: ["", " ! opusenc ! opusparse"])
    func soundDetectorReceivesRawAndEncodedAudio(encoder: String) async throws {
        let report = try await run(
            "audiotestsrc volume=0.1 num-buffers=100 samplesperbuffer=960 ! audio/x-raw,rate=48000,"
                + "channels=2\(encoder) ! appsink name=audio",
            [
                StreamDetector("sound", sound: { SoundDetector.sound }),
                StreamDetector("silence", sound: { SoundDetector.silence }),
            ], outputs: [])
        #expect(report.failures.isEmpty)
        #expect(report.events.map(\.detector) == ["sound"])
        let event = try #require(report.events.first)
        #expect(event.began < MediaTime(seconds: 0.1))
        #expect(abs(event.score - 0.07) < 0.01)
    }

    @Test func detectorRequiresAStreamOfItsKind() throws {
        var plan = BridgePlan(capture: Self.raw)
        plan.detectors = [StreamDetector("sound", sound: { SoundDetector.sound })]
        #expect { try Bridge(plan) } throws: { ($0 as? PipelineError)?.code == .wrongEnds }
        plan.detectors = [
            StreamDetector("a", pictures: { Spy() }), StreamDetector("a", pictures: { Spy() }),
        ]
        #expect { try Bridge(plan) } throws: { ($0 as? PipelineError)?.code == .duplicateName }
    }

    @Test(arguments: [
        "motion", "motion=0.8", "motion=area:50x100+50+0,rate:10,keyframes", "black=1",
        "silent=0.2,for:5s",
        "frozen=for:500ms", "sound=",
    ]) func detectorNamesAndOptionsAreParsed(text: String) throws {
        let detector = try StreamDetector(parsing: text)
        #expect(text.hasPrefix(detector.name))
    }

    @Test(arguments: [
        "", "movement", "motion=2", "motion=area:50x100", "motion=area:60x100+50+0",
        "motion=rate:-1",
        "sound=keyframes", "silent=for:soon", "motion=sensitivity",
    ]) func unknownDetectorNamesAndOptionsAreRefused(text: String) {
        #expect { try StreamDetector(parsing: text) } throws: {
            ($0 as? PipelineError)?.code == .badValue
        }
    }
}
