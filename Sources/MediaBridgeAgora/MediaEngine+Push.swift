public import BridgeEngine
@_exported public import MediaBridge
public import MediaCore

/// What the program pushes to a track.
public enum PushKind: Sendable {
    /// An ``ExternalVideoFrame`` with a `PixelBuffer` each.
    case pixelBuffers
    /// An ``ExternalVideoFrame`` with bytes each.
    case bytes
    /// Encoded frames (access units), and nothing else.
    case encoded
}

extension MediaEngine {
    /// Turns push mode on or off. In push mode, frames that the program pushes replace the source.
    /// While the engine runs, the previous source delivers until the first push, and the one that
    /// follows takes over with its first frame.
    ///
    /// - Parameter kind: What is pushed; `nil` turns push mode off.
    /// - Throws: As for `setVideoSource(_:)`.
    public func setExternalVideoSource(_ kind: PushKind?) async throws(EngineError) {
        try await setPushSource(kind.map(PushVideoSource.init))
    }

    /// Pushes one raw frame.
    ///
    /// - Parameters:
    ///   - frame: The frame, which is read before the call returns.
    ///   - track: The main track in push mode, or a custom track. Default: the main track.
    /// - Returns: The outcome: dropped as `notEnabled` without push mode, as `notStarted` unless
    ///   preview or channel runs, as `wrongBufferType` for another ``PushKind``, and as `badFormat`,
    ///   `badStride` or `badSize` for a value of the frame that cannot be. Thread: any, one push at a
    ///   time for each track; returns without waiting for the engine.
    @discardableResult
    nonisolated public func pushExternalVideoFrame(
        _ frame: ExternalVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushSource(of: track)?.push(frame, now: runningTime) ?? .dropped(.notEnabled)
    }

    /// Pushes one encoded frame (access unit), in decoding order. Receivers that take encoded frames,
    /// such as a recorder, get it unchanged; it is decoded only while a receiver needs pictures.
    ///
    /// If a frame cannot be decoded, the frames that depend on it are dropped too, as
    /// `needsKeyFrame`, until the next key frame, which the event `keyFrameNeeded` requests. The
    /// first frame must be a key frame. What is lost after the push has returned is counted in
    /// `EngineStatistics.Track.decoding`.
    ///
    /// - Returns: As for ``pushExternalVideoFrame(_:track:)``.
    @discardableResult
    nonisolated public func pushExternalEncodedVideoFrame(
        _ frame: EncodedVideoFrame, track: TrackID = .main
    ) -> FrameDisposition {
        pushSource(of: track)?.push(frame, now: runningTime) ?? .dropped(.notEnabled)
    }

    nonisolated private func pushSource(of track: TrackID) -> PushVideoSource? {
        pushes[track] as? PushVideoSource
    }

    // MARK: Tracks

    /// Creates a track for pushed frames. It runs while preview or channel does, is shown by sinks
    /// of its `VideoStreamID`, and is sent once it is published.
    ///
    /// - Parameter kind: What is pushed. Default: pixel buffers.
    /// - Returns: The id of the track.
    /// - Throws: `EngineError` with the code `shutDown` after the engine was shut down.
    public func createCustomVideoTrack(
        _ kind: PushKind = .pixelBuffers
    ) async throws(EngineError) -> TrackID {
        try await addTrack(from: PushVideoSource(kind))
    }

    /// Destroys a custom track and removes its sinks.
    ///
    /// - Throws: `EngineError` with the code `invalidArgument` if there is no such custom track.
    public func destroyCustomVideoTrack(_ id: TrackID) async throws(EngineError) {
        try await removeTrack(id)
    }

    /// Starts to send a custom track to the channel, from the next frame on.
    ///
    /// - Throws: `EngineError` with the code `invalidArgument` if there is no such track,
    ///   `notInChannel` unless the engine is a broadcaster in a channel.
    public func publishCustomVideoTrack(_ id: TrackID) async throws(EngineError) {
        try await publish(id)
    }

    /// Stops sending a custom track. Does nothing if it is not published.
    ///
    /// - Throws: `EngineError` with the code `shutDown` after the engine was shut down.
    public func unpublishCustomVideoTrack(_ id: TrackID) async throws(EngineError) {
        try await unpublish(id)
    }
}

// MARK: Audio

extension MediaEngine {
    /// Enables pushed audio in place of the audio source: signed 16-bit samples, interleaved.
    ///
    /// - Parameters:
    ///   - sampleRate: In Hz, from 8000 to 48000.
    ///   - channels: One or two.
    /// - Throws: `EngineError` with the code `invalidArgument` for other values.
    public func enableExternalAudioSource(
        sampleRate: Int, channels: Int
    ) async throws(EngineError) {
        try await setAudioPushSource(PushAudioSource(Self.externalFormat(sampleRate, channels)))
    }

    /// Disables pushed audio: the source that was set before is used again; if none was, audio is
    /// turned off.
    ///
    /// - Throws: The reason why that source does not start; there is no audio then.
    public func disableExternalAudioSource() async throws(EngineError) {
        try await setAudioPushSource(nil)
    }

    /// Pushes one block of audio without copying it.
    ///
    /// Its running time is the capture time of the first sample, on any clock that only advances,
    /// preferably `runningTime` of the engine; `nil` for directly after the previous push, or now.
    /// Running times that show a gap or an overlap are trusted: silence is inserted or samples are
    /// cut off, and both are counted (`EngineStatistics.LocalAudio.corrections`). Running times that
    /// advance unevenly are taken for the times of the pushes: then the number of samples determines
    /// the time, and running times correct it slowly.
    ///
    /// ```swift
    /// let frame = try AudioFrame(copying: samples, sampleRate: 48000, channels: 1, runningTime: nil)
    /// engine.pushExternalAudioFrame(frame)
    /// ```
    ///
    /// - Returns: The outcome: dropped as `notEnabled` if pushing is not enabled, as `badFormat` for
    ///   a format other than the one that was enabled, as `notStarted` unless preview or channel
    ///   runs. Thread: any, one push at a time; returns without waiting for the engine.
    @discardableResult
    nonisolated public func pushExternalAudioFrame(_ frame: AudioFrame) -> FrameDisposition {
        (audioPushes[.main] as? PushAudioSource)?.push(frame) ?? .dropped(.notEnabled)
    }

    /// Lets the program pull the mix of all users. The playback sinks get no audio meanwhile.
    ///
    /// - Parameters:
    ///   - sampleRate: In Hz, from 8000 to 48000.
    ///   - channels: One or two.
    /// - Throws: `EngineError` with the code `invalidArgument` for other values.
    public func enableExternalAudioSink(
        sampleRate: Int, channels: Int
    ) async throws(EngineError) {
        try await setPulledAudio(Self.externalFormat(sampleRate, channels))
    }

    /// Disables pulling; the playback sinks get audio again.
    ///
    /// - Throws: `EngineError` with the code `shutDown` after the engine was shut down.
    public func disableExternalAudioSink() async throws(EngineError) {
        try await setPulledAudio(nil)
    }

    /// Returns the next audio of all users, mixed: signed 16-bit samples, interleaved,
    /// little-endian. Missing audio is silence, which is counted (`EngineStatistics.Playback`).
    ///
    /// A jitter buffer for each user smooths uneven arrival (`MediaEngine.Configuration.jitterBuffer`);
    /// the mix is made in steps of 10 ms. Pull audio at the rate at which it is played. If more
    /// arrives for longer than the buffer's maximum delay, the oldest audio is dropped.
    ///
    /// - Parameter length: In bytes: rate / 1000 × 2 × channels × milliseconds. Rounded down to
    ///   whole samples.
    /// - Returns: That many bytes; `nil` unless ``enableExternalAudioSink(sampleRate:channels:)``
    ///   was called. Thread: any, one call at a time.
    nonisolated public func pullPlaybackAudioFrame(length: Int) -> [UInt8]? {
        pullAudio(length: length)
    }

    private static func externalFormat(
        _ sampleRate: Int, _ channels: Int
    ) throws(EngineError) -> AudioFormat {
        guard (8000...48000).contains(sampleRate), (1...2).contains(channels) else {
            throw EngineError(
                .invalidArgument,
                message: "unsupported audio format: \(sampleRate) Hz, \(channels) channels",
                advice: "8000 to 48000 Hz, 1 or 2 channels")
        }
        return AudioFormat(sampleRate: sampleRate, channels: channels)
    }
}

// MARK: Renderers

extension MediaEngine {
    /// Replaces the renderer of the local video; `nil` removes it. Sinks that were added stay.
    ///
    /// - Throws: As for `addVideoSink(_:to:options:)`.
    public func setLocalVideoRenderer(
        _ renderer: sending (any VideoSink)?, options: SinkOptions = SinkOptions()
    ) async throws(EngineError) {
        try await setVideoSink(renderer, for: .local(), options: options)
    }

    /// Replaces the renderer of a user's video; `nil` removes it. The user need not be in the
    /// channel yet: a renderer that is set before joining misses no frame.
    ///
    /// - Throws: As for `addVideoSink(_:to:options:)`.
    public func setRemoteVideoRenderer(
        _ renderer: sending (any VideoSink)?, forUserID user: UserID, track: TrackID = .main,
        options: SinkOptions = SinkOptions()
    ) async throws(EngineError) {
        try await setVideoSink(renderer, for: .remote(user, track), options: options)
    }

    /// The renderer that was set for the local video; `nil` if none.
    public var localVideoRenderer: EndpointReference<any VideoSink>? {
        mainVideoSink(of: .local())
    }

    /// Returns the renderer that was set for a user's video; `nil` if none.
    public func remoteVideoRenderer(
        forUserID user: UserID, track: TrackID = .main
    ) -> EndpointReference<any VideoSink>? {
        mainVideoSink(of: .remote(user, track))
    }
}
