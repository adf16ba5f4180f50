internal import MediaCore

/// What differs between hosts of video sinks and of audio sinks.
protocol HostedSink: QueuedMedia {
    /// `any VideoSink` or `any AudioSink`.
    associatedtype Sink
    associatedtype ID: Hashable, Sendable, CustomStringConvertible
    /// What the program asked for when it added the sink.
    associatedtype Options: Sendable
    /// What the sink asked for when it was queried.
    associatedtype Request: Sendable
    /// Applies the request to frames that are not converted before the queue.
    associatedtype Converter: Sendable
    static var kind: MediaKind { get }
    static func endpoint(of sink: Sink) -> any MediaEndpoint
    /// Makes the calls of the query sequence.
    static func query(_ sink: Sink) -> Request
    static func queue(for options: Options) -> SinkQueueOptions
    /// Whether the item is rendered as it is, without a conversion.
    static func isUnconverted(_ item: SinkFeed<Self>.Item, for request: Request?) -> Bool
    /// Renders an item that left the queue.
    static func render(
        _ item: SinkFeed<Self>.Item, with sink: Sink, as request: Request?, by converter: Converter
    ) throws
    /// Returns the event that reports a failure.
    static func failed(_ id: ID, _ error: EngineError) -> EngineEvent
}

/// What a video sink said when it was queried.
struct VideoSinkRequest: Sendable {
    let pixelFormat: VideoPixelFormat
    /// The codecs whose units it takes.
    let codecs: Set<VideoCodec>
}

extension VideoMedia: HostedSink {
    static var kind: MediaKind { .video }

    static func endpoint(of sink: any VideoSink) -> any MediaEndpoint { sink }

    static func query(_ sink: any VideoSink) -> VideoSinkRequest {
        _ = sink.bufferType()
        return VideoSinkRequest(pixelFormat: sink.pixelFormat(), codecs: sink.codecs())
    }

    static func queue(for options: RendererOptions) -> SinkQueueOptions {
        SinkQueueOptions(depth: options.depth, whenFull: options.whenFull)
    }

    static func isUnconverted(
        _ item: VideoSinkFeed.Item, for request: VideoSinkRequest?
    ) -> Bool { item.conversion == nil }

    static func render(
        _ item: VideoSinkFeed.Item, with sink: any VideoSink, as request: VideoSinkRequest?,
        by converter: Void
    ) throws {
        switch item.frame {
        case .unit(let unit): try sink.render(unit)
        case .picture(let frame): try sink.render(item.conversion?.frame() ?? frame)
        }
    }

    static func failed(_ id: RendererID, _ error: EngineError) -> EngineEvent {
        .rendererFailed(id, error)
    }
}

extension AudioMedia: HostedSink {
    static var kind: MediaKind { .audio }

    static func endpoint(of sink: any AudioSink) -> any MediaEndpoint { sink }

    static func query(_ sink: any AudioSink) -> AudioConversion { sink.audioFormat() }

    /// Two thirds of a second of audio in frames of 10 ms.
    static func queue(for options: Void) -> SinkQueueOptions { SinkQueueOptions(depth: 64) }

    static func isUnconverted(
        _ item: AudioSinkFeed.Item, for request: AudioConversion?
    ) -> Bool { request?.changes(item.frame.format) == false }

    static func render(
        _ item: AudioSinkFeed.Item, with sink: any AudioSink, as request: AudioConversion?,
        by converter: any AudioConverter
    ) throws {
        guard let request, request.changes(item.frame.format) else {
            return try sink.render(item.frame)
        }
        // `nil`: the converter needs more samples first.
        if let made = try converter.convert(item.frame, to: request) { try sink.render(made) }
    }

    static func failed(_ id: AudioSinkID, _ error: EngineError) -> EngineEvent {
        .audioSinkFailed(id, error)
    }
}
