import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine
@testable import MediaBridgeTesting

/// An engine without C dependencies, with short timeouts.
///
/// - Parameter isKept: Whether the test keeps the engine until its end, where its counts are
///   checked.
func makeEngine(
    _ backend: any VirtualBackend = TestBackend(), transport: any ChannelTransport = NoTransport(),
    isKept: Bool = true, _ change: (inout MediaEngine.Configuration) -> Void = { _ in }
) -> MediaEngine {
    var configuration = MediaEngine.Configuration()
    configuration.statisticsInterval = nil
    // Differs from the call deadline, so that a test can distinguish the two timeouts.
    configuration.firstFrameTimeout = .seconds(3)
    change(&configuration)
    let engine = MediaEngine(
        configuration: configuration, backend: backend, transport: transport,
        timeline: backend.time)
    if isKept { BalanceBook.current?.add(engine) }
    return engine
}

extension MediaEngine {
    /// Waits until the statistics fulfil the condition: a frame is counted after its renderer has
    /// processed it.
    func statistics(once isReached: (EngineStatistics) -> Bool) async -> EngineStatistics {
        // The test's deadline cancels the wait.
        await CountWatch.read(
            within: nil, on: .system, isCancellable: true, until: isReached, statisticsNow)
    }

    /// The id of the sink that `setLocalVideoRenderer` has set.
    var mainSinkID: SinkID? { sinks.video.values.first { $0.isMain }?.host.id }

    func videoSinkHost(_ id: SinkID) -> VideoSinkHost? { sinks.video[id]?.host }
    func audioSink(_ id: SinkID) -> SinkHost<AudioMedia>? { sinks.audio[id]?.host }

    nonisolated var isLocalAudioMuted: Bool { audioTrack.isMuted }
    var isExternalVideoSourceEnabled: Bool { mainSlot.pushHost != nil }
    var isExternalAudioSourceEnabled: Bool { audioSlot.pushHost != nil }

    /// Pushes mono samples of 48 kHz.
    @discardableResult
    nonisolated func pushExternalAudioFrame(
        _ samples: [Int16], timestamp: MediaTime?
    ) -> FrameDisposition {
        let frame = try? AudioFrame(
            copying: samples, sampleRate: 48000, channels: 1, runningTime: timestamp)
        return frame.map { pushExternalAudioFrame($0) } ?? .dropped(.badSize)
    }

    /// The time of the engine's backend.
    nonisolated var time: VirtualTimeline {
        guard let time = clock.timeline as? VirtualTimeline else { preconditionFailure() }
        return time
    }

    /// The trace as text, without renderer entries.
    nonisolated var sourceTrace: [String] {
        trace.filter { $0.hasPrefix("source") }
    }
    nonisolated var rendererTrace: [String] {
        trace.filter { $0.hasPrefix("video sink") }
    }
}

extension EventSequence<EngineEvent> {
    /// Suspends until an event with this name, of this track unless it is `nil`. Fails the test if the
    /// engine shuts down first.
    func first(
        named name: String, of track: MediaTrackID? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let found: Bool? = await first { event in
            event.name == name && (track == nil || event.track == track) ? true : nil
        }
        #expect(found == true, "no event \(name)", sourceLocation: sourceLocation)
    }
}

extension EngineEvent {
    /// The case's name.
    var name: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }

    /// The track or the audio that the event names; `nil` if none.
    var track: MediaTrackID? {
        guard let value = Mirror(reflecting: self).children.first?.value else { return nil }
        let values = [value] + Mirror(reflecting: value).children.map(\.value)
        return values.lazy.compactMap { $0 as? MediaTrackID }.first
    }
}

extension [EngineEvent] {
    func count(_ name: String) -> Int { filter { $0.name == name }.count }

    /// The error codes of the events with this name.
    func codes(_ name: String) -> [EngineError.Code] {
        compactMap { event in
            guard event.name == name else { return nil }
            switch event {
            case .sourceFailed(_, let error), .sinkFailed(_, let error),
                .processorFailed(_, _, let error), .disconnected(let error):
                return error.code
            default: return nil
            }
        }
    }
}

extension LoopbackNetwork {
    /// The names of the channels that have members.
    var channelNames: [String] { state.withLock { Array($0.channels.keys) } }
}
