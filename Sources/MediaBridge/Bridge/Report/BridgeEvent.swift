/// A problem in a ``Bridge`` while it runs.
public enum BridgeEvent: Sendable {
    /// A failure, which is also in the report's ``BridgeReport/failures``. The bridge goes on with
    /// what is left.
    case failed(PipelineError)
    /// An element of a capture or an output posted a warning. The error has the element's path and
    /// GStreamer's message. The bridge goes on. A stream that never comes is reported as
    /// ``failed(_:)``.
    case warned(PipelineError)
    /// A live capture has ended or failed, and is started again after `delay`: see
    /// ``BridgePlan/restart``. `attempt` counts the consecutive attempts from one.
    case restarting(capture: String, attempt: Int, delay: Duration, because: PipelineError)
    /// No data has moved for five seconds, in the whole bridge or in one output. The error gives
    /// the reason if it is known. Reported once per stall; the bridge goes on, and the stream may
    /// recover.
    case stalled(PipelineError)
}
