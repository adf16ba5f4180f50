/// Fills the appsrcs of a capture's string: with media that no element brings, such as that of a server with
/// which a session has to be agreed on first.
package protocol CaptureFeed: AnyObject, Sendable {
    /// Called once with the capture's pipeline, before it runs. The feed follows the pipeline's states
    /// (``Pipeline/onMessage(_:)``): it pushes while that is playing, and may be played several times.
    /// It must not retain the pipeline.
    func attach(to pipeline: Pipeline)
}
