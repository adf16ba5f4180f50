internal import CMediaBridge

/// The result of pushing a buffer.
package enum FlowResult: Sendable {
    /// The buffer was accepted.
    case ok
    /// The receiver accepts no more buffers.
    case endOfStream
    /// The pipeline is not running.
    case flushing
    /// An error; the bus has the details.
    case error

    init(_ raw: GstFlowReturn) {
        switch raw {
        case GST_FLOW_OK: self = .ok
        case GST_FLOW_EOS: self = .endOfStream
        case GST_FLOW_FLUSHING: self = .flushing
        default: self = .error
        }
    }
}
