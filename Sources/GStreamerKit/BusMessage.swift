/// What a pipeline says on its bus, as a value.
public enum BusMessage: Sendable {
    /// Every sink has seen the end of its stream.
    case endOfStream
    case error(PipelineError)
    case warning(PipelineError)
    /// The pipeline itself, not one of its elements, reached a state.
    case stateChanged(PipelineState)
    /// A change to PAUSED or PLAYING is complete in every element.
    case asyncDone
    /// An element's latency changed. The pipeline has dealt with it already.
    case latencyChanged
    /// A network source fills its buffers: percent.
    case buffering(Int)
    /// An element's own message, as the text of its structure.
    case element(path: String, structure: String)
    /// Any other message, by GStreamer's name for its type.
    case other(String)
}

/// GStreamer's four states.
public enum PipelineState: Int, Sendable, Comparable {
    case null = 1
    case ready
    case paused
    case playing

    public static func < (a: PipelineState, b: PipelineState) -> Bool { a.rawValue < b.rawValue }
}
