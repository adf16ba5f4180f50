import BridgeEngine
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

/// The microphone is opened only when the program asks for it.
@Suite(.hangGuard)
struct MicrophoneTests {
    /// The calls of a program, in any order.
    private enum Step: CaseIterable {
        case startPreview, stopPreview, join, leave
        case enableAudio, disableAudio
        case setSource, setBrokenSource, setMicrophone
        case enableExternal, disableExternal
        case beAudience, beBroadcaster
    }
    /// Whether the documentation allows the engine to open the microphone.
    private struct Expectation {
        var hasSource = false
        var hasExternal = false
        var isEnabled = false
        var mayOpen = false

        mutating func note(_ step: Step, succeeded: Bool) {
            guard succeeded else { return }
            switch step {
            case .enableAudio:
                guard !isEnabled else { return }
                isEnabled = true
                mayOpen = !hasSource && !hasExternal
            case .disableAudio: (isEnabled, mayOpen) = (false, false)
            case .setSource, .setBrokenSource:
                (hasSource, hasExternal, isEnabled, mayOpen) = (true, false, true, false)
            case .setMicrophone:
                (hasSource, hasExternal, isEnabled, mayOpen) = (false, false, true, true)
            case .enableExternal: (hasExternal, isEnabled, mayOpen) = (true, true, false)
            case .disableExternal:
                guard hasExternal else { return }
                hasExternal = false
                if !hasSource { (isEnabled, mayOpen) = (false, false) }
            default: break
            }
        }
    }

    private func perform(_ step: Step, on engine: MediaEngine) async -> Bool {
        do {
            switch step {
            case .startPreview: try await engine.startPreview()
            case .stopPreview: try await engine.stopPreview()
            case .join: try await engine.joinChannel("room", userID: 1)
            case .leave: try await engine.leaveChannel()
            case .enableAudio: try await engine.enableAudio()
            case .disableAudio: try await engine.disableAudio()
            case .setSource: try await engine.setAudioSource(Silence())
            case .setBrokenSource: try await engine.setAudioSource(Silence(isBroken: true))
            case .setMicrophone: try await engine.setAudioSource(nil)
            case .enableExternal:
                try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
            case .disableExternal: try await engine.disableExternalAudioSource()
            case .beAudience: try await engine.setClientRole(.audience)
            case .beBroadcaster: try await engine.setClientRole(.broadcaster)
            }
            return true
        } catch { return false }
    }

    /// - Returns: The number of the step at which the microphone was opened without a request.
    private func check(_ steps: [Step]) async -> Int? {
        let backend = ListeningBackend()
        let engine = makeEngine(backend, transport: LoopbackNetwork()) { $0.hasVideo = false }
        var expectation = Expectation()
        var fault: Int?
        for (number, step) in steps.enumerated() {
            let before = backend.microphones
            let asks = step == .enableAudio || step == .setMicrophone
            let mayOpen = expectation.mayOpen
            let succeeded = await perform(step, on: engine)
            expectation.note(step, succeeded: succeeded)
            if backend.microphones > before, !mayOpen, !asks { fault = fault ?? number }
            // `enableAudio` may open the microphone only if the microphone is the selected source.
            if step == .enableAudio, backend.microphones > before, !expectation.mayOpen {
                fault = fault ?? number
            }
            let isEnabled = await engine.isAudioEnabled
            if isEnabled != expectation.isEnabled { fault = fault ?? number }
        }
        await engine.shutDown()
        return fault
    }

    @Test func disabledAudioPushDoesNotOpenTheMicrophone() async {
        #expect(await check([.enableExternal, .disableExternal, .join]) == nil)
        #expect(await check([.enableExternal, .disableExternal, .startPreview, .join]) == nil)
        #expect(
            await check([.enableExternal, .startPreview, .stopPreview, .disableExternal, .join])
                == nil)
        #expect(
            await check([
                .enableAudio, .enableExternal, .disableExternal, .startPreview, .join,
            ]) == nil)
    }

    @Test func runningMicrophoneIsNotReopened() async throws {
        let backend = ListeningBackend()
        let engine = makeEngine(backend)
        try await engine.enableAudio()
        try await engine.startPreview()
        #expect(backend.microphones == 1)
        try await engine.setAudioSource(nil)
        #expect(backend.microphones == 1)
        await engine.shutDown()
    }

    /// Every order of three calls, between a beginning and an end that would open the microphone.
    @Test func microphoneStateIsCorrectAfterAnyThreeCalls() async {
        let audio: [Step] = [
            .enableAudio, .disableAudio, .setSource, .setBrokenSource, .setMicrophone,
            .enableExternal, .disableExternal, .startPreview, .stopPreview,
        ]
        for first in audio {
            for second in audio {
                for third in audio {
                    let steps = [first, second, third, .join, .leave, .startPreview, .join]
                    let fault = await check(steps)
                    #expect(fault == nil, "\(steps), at \(fault ?? -1)")
                }
            }
        }
    }

    @Test(arguments: 0..<100)
    func microphoneStateIsCorrectAfterRandomCalls(_ seed: Int) async {
        var generator = SeededGenerator(seed: UInt64(seed))
        let steps = (0..<20).map { _ in
            Step.allCases[Int.random(in: 0..<Step.allCases.count, using: &generator)]
        }
        let fault = await check(steps + [.startPreview, .join])
        #expect(fault == nil, "seed \(seed), at \(fault ?? -1): \(steps)")
    }
}

/// Delivers nothing.
private final class Silence: AudioSource, Sendable {
    private let target = Mutex<(any AudioFrameConsumer)?>(nil)
    private let isBroken: Bool
    init(isBroken: Bool = false) { self.isBroken = isBroken }

    var consumer: (any AudioFrameConsumer)? {
        get { target.withLock { $0 } }
        set { target.withLock { $0 = newValue } }
    }
    func shouldStart() throws {
        if isBroken { throw Refusal(reason: "no card") }
        let frame = try AudioFrame(
            copying: block(0), sampleRate: 48000, channels: 1, runningTime: .zero)
        consumer?.consume(frame)
    }
    func shouldStop() {}
    func shouldDispose() {}
}

/// Counts how often the microphone is opened.
private final class ListeningBackend: VirtualBackend {
    private let inner = TestBackend()
    private let count = Atomic<Int>(0)
    var microphones: Int { count.load(ordering: .relaxed) }

    var time: VirtualTimeline { inner.time }
    func makeDefaultSource() throws -> sending any VideoSource { try inner.makeDefaultSource() }
    func makeDefaultAudioSource() throws -> sending any AudioSource {
        count.add(1, ordering: .relaxed)
        return Silence()
    }
    func makeConverter() -> any VideoConverter { inner.makeConverter() }
    func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder { try inner.makeDecoder(codec, to: consumer) }
}
