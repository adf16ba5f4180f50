internal import CMediaBridge

/// What a push came to.
public enum FlowResult: Sendable {
    case ok
    /// The other end wants no more.
    case endOfStream
    /// The pipeline is not running.
    case flushing
    /// An error, which the bus tells.
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
