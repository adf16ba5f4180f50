/// A part of a bridge that a failure belongs to.
enum BridgePart: Hashable, Sendable {
    /// A capture, by its name in the plan.
    case capture(String)
    /// A stream of a capture.
    case stream(String)
    /// An output, a recording or another destination.
    case output(String)
}

extension BridgePlan {
    /// Returns the error with the name of its part in front, unless the message states the name, or
    /// the part is the only one of its kind.
    func naming(_ error: PipelineError, of part: BridgePart) -> PipelineError {
        switch part {
        case .stream: return error
        case .capture(let name):
            return captures.count > 1 ? error.prefixed(by: "capture", name) : error
        case .output(let name):
            if let recording = recordings.first(where: { $0.name == name }) {
                return error.prefixed(by: "recording", recording.path)
            }
            let count = outputs.count + recordings.count + destinations.count
            let isOnly = count == 1 && name == Self.outputName(0)
            return isOnly ? error : error.prefixed(by: "output", name)
        }
    }
}

extension PipelineError {
    fileprivate func prefixed(by kind: String, _ name: String) -> PipelineError {
        guard !message.contains("\"\(name)\"") else { return self }
        var error = self
        error.message = "\(kind) \"\(name)\": \(message)"
        return error
    }
}
