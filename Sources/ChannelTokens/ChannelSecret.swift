public import BridgeEngine
internal import Crypto

/// What signs and checks the tokens of channels. Whoever has it may let anybody in: it is never printed.
public struct ChannelSecret: Hashable, Sendable {
    let key: SymmetricKey

    /// - Parameter bytes: At least 16; random ones, since a word that people remember can be guessed.
    /// - Throws: ``EngineError/Code/invalidArgument`` where they are fewer.
    public init(_ bytes: some Sequence<UInt8>) throws(EngineError) {
        let bytes = Array(bytes)
        guard bytes.count >= Self.minimumCount else {
            throw EngineError(
                .invalidArgument,
                message: "a channel's secret of \(bytes.count) bytes is too short",
                advice: "at least \(Self.minimumCount) random bytes")
        }
        key = SymmetricKey(data: bytes)
    }

    private init(key: SymmetricKey) { self.key = key }

    /// A new one of 32 bytes.
    public static func random() -> ChannelSecret {
        ChannelSecret(key: SymmetricKey(size: .bits256))
    }

    /// Fewer are refused.
    public static let minimumCount = 16

    /// To keep it where others cannot read it.
    public var bytes: [UInt8] { key.withUnsafeBytes { Array($0) } }

    public static func == (a: ChannelSecret, b: ChannelSecret) -> Bool { a.key == b.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension ChannelSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says nothing of the bytes, and neither does `dump`.
    public var description: String { "a secret of \(key.bitCount / 8) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
