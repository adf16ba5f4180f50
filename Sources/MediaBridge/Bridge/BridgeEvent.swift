/// What goes wrong in a ``Bridge`` while it runs.
public enum BridgeEvent: Sendable {
    /// It is in the report's ``BridgeReport/failures`` as well; the bridge goes on with what is left.
    case failed(PipelineError)
    /// An element of a capture or an output warned: with its path, and in GStreamer's words. The bridge goes
    /// on. A stream that never comes is ``failed(_:)``.
    case warned(PipelineError)
    /// Nothing has moved for a while, in the whole bridge or in one output, and why, as far as it can be told. Once for each time; the bridge
    /// goes on, and so may the stream.
    case stalled(PipelineError)
}
