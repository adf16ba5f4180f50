internal import BridgeEngine
internal import FoundationEssentials

/// A notice that a member sends to the other users through its display name: a message, or a
/// voluntary leave. The display name is the only text that Janus 1.1 passes to all members of a
/// room at once, complete and in order.
enum Notice: Hashable, Sendable {
    case message(ChannelMessage, to: UserID?, Stamp)
    case goodbye

    /// Identifies a message, so that receivers detect one that is sent again because its answer was
    /// lost.
    struct Stamp: Hashable, Sendable {
        /// Identifies one membership.
        let sender: UInt64
        let number: Int
    }
    private static let mark = "mediabridge/1"

    var text: String {
        switch self {
        case .goodbye: return "\(Self.mark) goodbye"
        case .message(let message, let user, let stamp):
            let name = user.map { Data($0.name.utf8).base64EncodedString() } ?? "*"
            let bytes = Data(message.bytes).base64EncodedString()
            return "\(Self.mark) message \(stamp.sender) \(stamp.number) \(name) \(bytes)"
        }
    }

    /// - Returns: `nil` for an ordinary display name.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == Self.mark else { return nil }
        if words[1] == "goodbye", words.count == 2 {
            self = .goodbye
            return
        }
        guard words[1] == "message", words.count == 6, let sender = UInt64(words[2]),
            let number = Int(words[3]), let bytes = Data(base64Encoded: String(words[5])),
            bytes.count <= ChannelMessage.maximumSize
        else { return nil }
        var user: UserID?
        if words[4] != "*" {
            guard let name = Data(base64Encoded: String(words[4])) else { return nil }
            user = UserID(String(decoding: name, as: UTF8.self))
        }
        self = .message(
            ChannelMessage(bytes), to: user, Stamp(sender: sender, number: number))
    }
}
