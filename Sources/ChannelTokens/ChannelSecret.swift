public import BridgeEngine
internal import Crypto

/// The key that signs and checks the tokens of channels. Anybody who has it can admit any user, so
/// it is never printed.
public struct ChannelSecret: Hashable, Sendable {
    let key: SymmetricKey

    /// Creates a secret from existing bytes.
    ///
    /// - Parameter bytes: At least 16 bytes. Use random ones, because a memorable word can be
    ///   guessed.
    /// - Throws: `EngineError` with the code `invalidArgument` if they are fewer.
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

    /// Returns a new random secret of 32 bytes.
    public static func random() -> ChannelSecret {
        ChannelSecret(key: SymmetricKey(size: .bits256))
    }

    /// The minimum length of a secret, in bytes.
    public static let minimumCount = 16

    /// The secret's bytes. Store them where others cannot read them.
    public var bytes: [UInt8] { key.withUnsafeBytes { Array($0) } }

    /// Compares the bytes of two secrets.
    public static func == (a: ChannelSecret, b: ChannelSecret) -> Bool { a.key == b.key }

    /// Hashes the secret's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension ChannelSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length of the secret. The bytes appear neither here nor in the output of `dump`.
    public var description: String { "a secret of \(key.bitCount / 8) bytes" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` does not show the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
