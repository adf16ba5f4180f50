internal import MediaCore

/// What differs between hosts of video sources and of audio sources.
protocol HostedSource: CountedMedia {
    /// `any VideoSource` or `any AudioSource`.
    associatedtype Source
    /// Begins the source's name in the trace.
    static var sourceName: String { get }
    static func endpoint(of source: Source) -> any MediaEndpoint
    /// Makes the calls of the query sequence.
    static func query(_ source: Source) -> SourceTraits
    static func connect(_ source: Source, to port: SourcePort<Self>?)
    /// Asks for a key frame.
    static func requestKeyFrame(_ source: Source)
    /// Makes it keep to a limit, as far as it can.
    ///
    /// - Returns: The parts that it keeps to.
    static func keep(_ source: Source, to limit: VideoLimit) -> VideoLimit
}

extension HostedSource {
    static func requestKeyFrame(_ source: Source) {}
    static func keep(_ source: Source, to limit: VideoLimit) -> VideoLimit { VideoLimit() }
}

extension VideoMedia: HostedSource {
    static var sourceName: String { "source" }

    static func endpoint(of source: any VideoSource) -> any MediaEndpoint { source }

    static func query(_ source: any VideoSource) -> SourceTraits {
        var traits = SourceTraits()
        traits.bufferType = source.bufferType()
        traits.captureType = source.captureType()
        traits.contentHint = source.contentHint()
        traits.pacing = source.pacing()
        traits.timeBase = source.timeBase()
        return traits
    }

    static func connect(_ source: any VideoSource, to port: VideoSourcePort?) {
        source.consumer = port
    }

    static func requestKeyFrame(_ source: any VideoSource) { _ = source.requestKeyFrame() }

    static func keep(_ source: any VideoSource, to limit: VideoLimit) -> VideoLimit {
        source.adapt(to: limit)
    }
}

extension AudioMedia: HostedSource {
    static var sourceName: String { "audio source" }

    static func endpoint(of source: any AudioSource) -> any MediaEndpoint { source }

    static func query(_ source: any AudioSource) -> SourceTraits {
        var traits = SourceTraits()
        traits.pacing = source.pacing()
        traits.timeBase = source.timeBase()
        return traits
    }

    static func connect(_ source: any AudioSource, to port: AudioSourcePort?) {
        source.consumer = port
    }
}
