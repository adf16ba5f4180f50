/// What goes wrong in a ``Bridge`` while it runs.
public enum BridgeEvent: Sendable {
    /// It is in the report's ``BridgeReport/failures`` as well; the bridge goes on with what is left.
    case failed(PipelineError)
    /// Nothing has moved for a while, and why, as far as it can be told. Once for each time; the bridge
    /// goes on, and so may the stream.
    case stalled(PipelineError)
}
