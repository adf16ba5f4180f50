internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// Replaces the video source; `nil` selects the default one: the camera, else the screen, else
    /// a test picture.
    ///
    /// While the engine runs, the new source is started in parallel with the old one and takes over
    /// with its first frame: the video is not interrupted, and the running time continues. If it
    /// cannot start, the old one continues and the reason is thrown. Setting the source that is in
    /// use has no effect except a warning.
    ///
    /// - Throws: ``EngineError``: ``EngineError/Code/sourceNotInitialized``,
    ///   ``EngineError/Code/sourceNotStarted``, ``EngineError/Code/stuck``,
    ///   ``EngineError/Code/noFrame`` if the new source delivers no frame in time, or
    ///   ``EngineError/Code/cancelled`` if the task is cancelled before the first frame.
    public func setVideoSource(
        _ source: sending (any VideoSource)?
    ) async throws(EngineError) {
        let fresh: VideoSourceHost?
        if let source { fresh = makeHost(source, for: mainTrack) } else { fresh = nil }
        try await enter(cancelling: "the change of source")
        defer { leave() }
        let isKnown = fresh?.identity == mainSlot.chosen?.identity
        guard !isKnown || mainSlot.pushHost != nil else {
            guard let fresh else { return }
            hub.post(.warning("\(fresh.typeName) is already the video source; nothing changed"))
            return
        }
        let next = isKnown ? mainSlot.chosen : fresh
        if let next { try refuseOverdue(next) }
        if !holds.isEmpty { try await swap(to: try await hostOrDefault(next), in: mainSlot) }
        mainSlot.chosen = next
        await disablePush()
    }

    /// The source that was set last; `nil` if the default one or push mode is in use.
    public var videoSource: EndpointReference<any VideoSource>? {
        guard mainSlot.pushHost == nil else { return nil }
        return mainSlot.chosen.map { EndpointReference(host: $0) }
    }

    // MARK: Hosts

    func makeHost(_ source: sending any VideoSource, for track: LocalTrack) -> VideoSourceHost {
        sourceNumber += 1
        return VideoSourceHost(source, number: sourceNumber, to: track, trace: transitions)
    }

    /// Returns the host of the source to use. If the default source is running, for example while push
    /// mode waits for its first push, that is its present host.
    ///
    /// - Parameter host: The source that the program has set; `nil` for the default source.
    func hostOrDefault(_ host: VideoSourceHost?) async throws(EngineError) -> VideoSourceHost {
        if let host { return host }
        if let running = mainSlot.host, running !== mainSlot.pushHost,
            running !== mainSlot.chosen
        {
            return running
        }
        sourceNumber += 1
        return try await makeDefault(
            "default source", call: "makeDefaultSource", advice: "setVideoSource(_:)",
            number: sourceNumber, to: mainTrack
        ) { try $0.makeDefaultSource() }
    }

    // MARK: Holds

    /// Starts the sources, unless something holds them already.
    func acquire(_ hold: Hold) async throws(EngineError) {
        guard holds.isEmpty else {
            holds.insert(hold)
            return
        }
        // Video sinks are started first, so that they miss no frame.
        await bringUpSinks(VideoMedia.self) { $0.isLocal }
        // In parallel with video, so that both begin at the same time.
        async let sound: Void = acquireAudio()
        do throws(EngineError) {
            if configuration.hasVideo {
                let wanted = mainSlot.pushHost ?? mainSlot.chosen
                try await start(try await hostOrDefault(wanted), in: mainSlot)
            }
        } catch {
            await sound
            await releaseAudio()
            await tearDownSinks(VideoMedia.self) { $0.isLocal }
            hub.post(.localState(.video(.main), .failed))
            throw error
        }
        await sound
        holds.insert(hold)
        for slot in slots.values where slot.id != .video(.main) {
            guard let host = slot.pushHost else { continue }
            do throws(EngineError) { try await start(host, in: slot) } catch {
                hub.post(.sourceFailed(slot.id, error))
            }
        }
        if configuration.hasVideo { hub.post(.localState(.video(.main), .capturing)) }
        for slot in slots.values { checkEnding(of: slot) }
        startHeartbeat()
    }

    func start<Media>(
        _ host: SourceHost<Media>, in slot: SourceSlot<Media>
    ) async throws(EngineError) {
        slot.track.listen(to: host.port)
        do throws(EngineError) { try await bringUp(host) } catch {
            slot.track.listen(to: nil)
            throw error
        }
        slot.begin(host)
        limitSource(of: slot)
    }

    /// Releases a hold. The sources are stopped when the last hold is released.
    func release(_ hold: Hold) async {
        guard holds.remove(hold) != nil, holds.isEmpty else { return }
        for slot in slots.values { await stopSource(of: slot) }
        await releaseAudio()
        // A push source that has not received a push yet.
        if let pushHost = mainSlot.pushHost {
            mainTrack.entrance.forget(pushHost.port, for: nil)
            await tearDown(pushHost)
        }
        await tearDownSinks(VideoMedia.self) { $0.isLocal }
        if configuration.hasVideo { hub.post(.localState(.video(.main), .stopped)) }
        if membership == nil { stopHeartbeat() }
    }

    func stopSource<Media>(of slot: SourceSlot<Media>) async {
        guard let host = slot.host else { return }
        slot.endStall()
        slot.restarts.cancel()
        slot.host = nil
        await tearDown(host)
        // The frames that the source has delivered are still decoded and processed.
        await slot.track.settled(within: configuration.callTimeout)
        slot.track.listen(to: nil)
        await slot.track.settled(within: configuration.callTimeout)
    }
}

// MARK: Default sources

extension MediaEngine {
    /// Creates a source that the program did not set, and its host.
    ///
    /// Runs on another queue, because devices may respond slowly and the engine must stay available.
    ///
    /// - Parameters:
    ///   - what: What the source is, for messages: `microphone`.
    ///   - call: The backend's method, for the error.
    ///   - make: Creates the source.
    func makeDefault<Media: SourcedMedia>(
        _ what: String, call: String, advice: String, number: Int,
        to receiver: any SourceReceiver<Media>,
        _ make: @escaping @Sendable (any MediaBackend) throws -> sending Media.Source
    ) async throws(EngineError) -> SourceHost<Media> {
        let (backend, trace, limit) = (self.backend, transitions, configuration.callTimeout)
        let made = await controlQueue.outcome(within: limit, on: clock.timeline) {
            Result<SourceHost<Media>, any Error> {
                SourceHost(try make(backend), number: number, to: receiver, trace: trace)
            }
        }
        guard let made else {
            throw EngineError(
                .stuck, call: call, message: "\(what) not found within \(limit)",
                advice: advice)
        }
        do { return try made.get() } catch {
            throw EngineError(
                .sourceNotInitialized, message: "\(what) not found", advice: advice,
                underlying: error)
        }
    }
}

// MARK: Slots

/// A track and its sources. Isolated to its engine.
final class SourceSlot<Media: SourcedMedia> {
    let track: Media.Track
    var id: MediaTrackID { track.mediaTrackID }
    /// The source that the program has set; `nil` for the default source.
    var chosen: SourceHost<Media>?
    /// The source to which the program pushes; `nil` if push mode is off.
    var pushHost: SourceHost<Media>?
    /// The running source; `nil` if none is running.
    var host: SourceHost<Media>?
    /// Whether the source has ended. If so, it is not reported as stalled.
    var hasEnded = false
    /// Reports the end of the source once its sinks have rendered its last frame.
    var endReport: Task<Void, Never>?
    /// Whether the source has failed since it was started.
    var hasFailed = false
    var watch = StallWatch()
    var fallback: Heartbeat?
    /// The operation that waits for the first frame of this port.
    var awaiting: (port: SourcePort<Media>, once: Once<Bool>)?
    var restarts = Restarts()
    /// The channel's limit for the track.
    var limit = VideoLimit()
    /// The parts of the limit that the source keeps to.
    var kept = VideoLimit()

    init(_ track: Media.Track) { self.track = track }

    /// Makes a source that has started the running one.
    func begin(_ host: SourceHost<Media>) {
        self.host = host
        (hasEnded, hasFailed) = (false, false)
    }

    func endStall() {
        watch.reset()
        endFallback()
    }

    func endFallback() { fallback.take()?.cancel() }

    /// The state of the automatic restarts of a failed source.
    struct Restarts {
        /// Fires at the next attempt.
        var timer: OneShotTimer?
        /// Distinguishes the current timer from earlier ones.
        var number = 0
        var attempts = RestartAttempts()
        /// The time of the latest attempt.
        var latest = MediaTime.zero

        mutating func cancel() {
            timer?.cancel()
            (timer, attempts) = (nil, RestartAttempts())
            number += 1
        }
    }
}

/// What differs between the engine's video sources and its audio source.
protocol SourcedMedia: HostedSource, StreamedSink {
    associatedtype Track: SourceReceiver<Self>
    /// Returns the slot of a track; `nil` if the track does not exist.
    static func slot(_ id: MediaTrackID, in engine: isolated MediaEngine) -> SourceSlot<Self>?
}

extension VideoMedia: SourcedMedia {
    typealias Track = LocalTrack

    static func slot(
        _ id: MediaTrackID, in engine: isolated MediaEngine
    ) -> SourceSlot<VideoMedia>? {
        if case .video(let track) = id { engine.slots[track] } else { nil }
    }
}

extension AudioMedia: SourcedMedia {
    typealias Track = AudioTrack

    static func slot(
        _ id: MediaTrackID, in engine: isolated MediaEngine
    ) -> SourceSlot<AudioMedia>? { engine.audioSlot }
}

extension MediaEngine {
    /// Posts the state of the main track or of the audio; the state of a custom track is no event.
    func post<Media>(_ state: LocalMediaState, of slot: SourceSlot<Media>) {
        guard slot.id == .video(.main) || slot.id == .audio else { return }
        hub.post(.localState(slot.id, state))
    }
}
