internal import MediaCore

/// What differs between the engine's tables of sinks.
protocol StreamedSink: HostedSink {
    /// The streams that a sink can receive.
    associatedtype Stream: EngineStream
    static var table: WritableKeyPath<SinkTables, [SinkID: SinkEntry<Self>]> { get }
    /// The counts of removed sinks.
    static var departed: SinkCounts { get }
    /// Returns whether the engine has the stream.
    static func exists(_ stream: Stream, in engine: isolated MediaEngine) -> Bool
    static func attach(_ entry: SinkEntry<Self>, in engine: isolated MediaEngine)
    static func detach(_ entry: SinkEntry<Self>, in engine: isolated MediaEngine)
}

typealias SinkCounts = WritableKeyPath<
    EngineStatistics.Removed, Departed<SinkID, EngineStatistics.Sink>
>

/// The engine's sinks by id.
struct SinkTables {
    var video: [SinkID: SinkEntry<VideoMedia>] = [:]
    var audio: [SinkID: SinkEntry<AudioMedia>] = [:]
}

/// The name of a stream inside an engine.
protocol EngineStream: Hashable, Sendable {
    /// Whether the stream is the engine's own, not one from a channel.
    var isLocal: Bool { get }
}

extension VideoStreamID: EngineStream {}
extension AudioStreamID: EngineStream {}

/// A sink and its stream.
struct SinkEntry<Media: StreamedSink> {
    let host: SinkHost<Media>
    let stream: Media.Stream
    /// Whether ``MediaEngine/setVideoSink(_:for:options:)`` set it and replaces it.
    let isMain: Bool
}

extension VideoMedia: StreamedSink {
    static var table: WritableKeyPath<SinkTables, [SinkID: SinkEntry<VideoMedia>]> { \.video }
    static var departed: SinkCounts { \.videoSinks }

    static func exists(_ stream: VideoStreamID, in engine: isolated MediaEngine) -> Bool {
        if case .local(let track) = stream { engine.slots[track] != nil } else { true }
    }

    static func attach(_ entry: SinkEntry<VideoMedia>, in engine: isolated MediaEngine) {
        let (feed, options) = (entry.host.feed, entry.host.options)
        var request = RenderRequest(
            pixelFormat: entry.host.request?.pixelFormat ?? .any, size: options.size,
            fillsSize: options.renderMode == .hidden,
            isUpright: options.isUpright, mirror: options.mirror,
            units: AcceptedUnits(codecs: entry.host.request?.codecs ?? []))
        switch entry.stream {
        case .local(let track): engine.slots[track]?.track.local.attach(feed, for: request)
        case .remote(let user, let track):
            // Automatic mirroring applies to the local view only.
            if request.mirror == .automatic { request.mirror = .disabled }
            engine.remote.attach(feed, to: user, track, for: request)
        }
    }

    static func detach(_ entry: SinkEntry<VideoMedia>, in engine: isolated MediaEngine) {
        let feed = entry.host.feed
        switch entry.stream {
        case .local(let track): engine.slots[track]?.track.local.detach(feed)
        case .remote(let user, let track): engine.remote.detach(feed, from: user, track)
        }
    }
}

extension AudioMedia: StreamedSink {
    static var table: WritableKeyPath<SinkTables, [SinkID: SinkEntry<AudioMedia>]> { \.audio }
    static var departed: SinkCounts { \.audioSinks }

    static func exists(_ stream: AudioStreamID, in engine: isolated MediaEngine) -> Bool { true }

    static func attach(_ entry: SinkEntry<AudioMedia>, in engine: isolated MediaEngine) {
        let feed = entry.host.feed
        switch entry.stream {
        case .local: engine.audioTrack.local.attach(feed)
        case .remote(let user): engine.remote.audio.attach(feed, to: user)
        case .playback: engine.mixed.attach(feed)
        }
    }

    static func detach(_ entry: SinkEntry<AudioMedia>, in engine: isolated MediaEngine) {
        let feed = entry.host.feed
        switch entry.stream {
        case .local: engine.audioTrack.local.detach(feed)
        case .remote(let user): engine.remote.audio.detach(feed, from: user)
        case .playback: engine.mixed.detach(feed)
        }
    }
}
