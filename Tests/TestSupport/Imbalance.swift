public import BridgeEngine
public import MediaCore

/// Describes an error in frame counts: frames that were counted twice, or frames that are
/// unaccounted for after everything has stopped.
///
/// - Parameters:
///   - what: The owner of the counts.
///   - isOver: Whether no frame may still be waiting.
/// - Returns: `nil` if the counts add up.
public func imbalance(
    of what: String, _ balance: FrameBalance, isOver: Bool = false
) -> String? {
    guard balance.isBalanced else { return "\(what): counted twice: \(balance)" }
    return isOver && balance.waiting != 0 ? "\(what): unaccounted for: \(balance)" : nil
}

extension FrameBalance {
    /// Whether no frame was counted twice. `false` indicates a defect in the code that counted.
    public var isBalanced: Bool {
        waiting >= 0 && delivered >= 0 && DropCause.allCases.allSatisfy { dropped[$0] >= 0 }
    }
}

extension EngineStatistics {
    /// All counts of an engine that do not add up.
    public func imbalances(isOver: Bool = false) -> [String] {
        var balances: [(String, FrameBalance)] = [
            ("to the channel", outgoing), ("sound to the channel", outgoingAudio),
            ("all video sinks", allVideoSinks),
        ]
        for (id, track) in local.merging(removed.tracks.latest, uniquingKeysWith: { a, _ in a }) {
            balances.append(("\(id)", track.balance))
            balances.append(("\(id), encoded", track.encoding))
            balances.append(("\(id), decoded", track.decoding))
            balances += track.processing.map { ("\(id), \($0.key) processors", $0.value) }
        }
        for (user, tracks) in remote {
            balances += tracks.map { ("\(user)'s \($0.key), decoded", $0.value.decoding) }
        }
        balances += removed.remote.latest.map { ("removed \($0.key), decoded", $0.value.decoding) }
        balances += videoSinks.map { ("\($0.key)", $0.value.balance) }
        balances += removed.videoSinks.latest.map { ("\($0.key)", $0.value.balance) }
        balances += audioSinks.map { ("\($0.key)", $0.value.balance) }
        balances += removed.audioSinks.latest.map { ("\($0.key)", $0.value.balance) }
        if let localAudio { balances.append(("sound", localAudio.balance)) }
        return balances.compactMap { imbalance(of: $0.0, $0.1, isOver: isOver) }
    }
}
