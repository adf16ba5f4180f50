internal import MediaCore

extension EngineStatistics: CustomStringConvertible {
    /// One line for each track, renderer and sink, and for what came from and went to a channel.
    public var description: String {
        var lines = local.sorted { $0.key.number < $1.key.number }.map { "\($0.key): \($0.value)" }
        lines += renderers.sorted { $0.key.number < $1.key.number }.map { "\($0.key): \($0.value)" }
        for (user, tracks) in remote.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            lines += tracks.sorted { $0.key.number < $1.key.number }.map { track, counts in
                "user \(user), \(track): \(counts.received) frames, "
                    + "\(counts.frameRate.inTenths) fps"
            }
        }
        if let localAudio { lines.append("audio: \(localAudio.balance)") }
        lines += audioSinks.sorted { $0.key.number < $1.key.number }
            .map { "\($0.key): \($0.value.balance)" }
        lines += remoteAudio.sorted { "\($0.key)" < "\($1.key)" }
            .map { "audio of user \($0.key): \($0.value.received) frames" }
        if outgoing.offered > 0 { lines.append("to the channel: \(outgoing)") }
        if outgoingAudio.offered > 0 { lines.append("audio to the channel: \(outgoingAudio)") }
        if gone.renderers.balance.offered > 0 {
            lines.append("removed renderers: \(gone.renderers.balance)")
        }
        return lines.isEmpty ? "nothing yet" : lines.joined(separator: "\n")
    }
}

extension EngineStatistics.Track: CustomStringConvertible {
    /// The balance and the frame rate as text.
    public var description: String { "\(balance), \(frameRate.inTenths) fps" }
}

extension EngineStatistics.Renderer: CustomStringConvertible {
    /// The balance, the frame rate and the freezes as text.
    public var description: String {
        "\(balance), \(frameRate.inTenths) fps"
            + (freezes > 0
                ? ", \(freezes) \(freezes == 1 ? "freeze" : "freezes") of \((frozen / .seconds(1)).inTenths) s"
                : "")
    }
}

extension ChannelStatistics.Frames: CustomStringConvertible {
    /// The balance as text.
    public var description: String { "\(balance)" }
}

extension Double {
    /// The value rounded to one decimal place.
    fileprivate var inTenths: Double { (self * 10).rounded() / 10 }
}
