import TestSupport
import Testing

@testable import MediaBridgeHTTP

/// Which frames of a WebSocket client reach Janus.
struct WebSocketFramesTests {
    private func frame(_ first: UInt8, _ length: Int, isMasked: Bool = true) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes = [first]
        switch length {
        case ..<126: bytes.append(mask | UInt8(length))
        case ..<65536: bytes += [mask | 126, UInt8(length >> 8), UInt8(length & 0xff)]
        default:
            bytes.append(mask | 127)
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        }
        if isMasked { bytes += [1, 2, 3, 4] }
        return bytes + [UInt8](repeating: 7, count: min(length, 100_000))
    }

    /// Whether the bytes pass, however they are cut.
    private func passes(_ bytes: [UInt8]) -> Bool {
        var random = SeededGenerator(seed: 3)
        var frames = WebSocketFrames(maximumSize: 1000)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...20, using: &random)
            guard frames.take(rest.prefix(count)) else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @Test func messagesUpToTheMaximumPass() {
        let message = frame(0x01, 300) + frame(0x89, 5) + frame(0x80, 300)
        #expect(passes(Array(repeatElement(message, count: 20).joined())))
        #expect(passes(frame(0x81, 0) + frame(0x81, 900) + frame(0x88, 2)))
    }

    @Test func endlessMessagesAreStopped() {
        for size in [0, 1, 100, 500] {
            let parts = repeatElement(frame(0x00, size), count: 300).joined()
            #expect(!passes(frame(0x01, 10) + parts), "\(size)")
        }
        for size in [1001, 65_535, 65_536, Int.max] { #expect(!passes(frame(0x81, size))) }
    }

    @Test func invalidFramesAreStopped() {
        #expect(!passes(frame(0x81, 20, isMasked: false)))
        #expect(!passes(frame(0x89, 126)))
        #expect(!passes(frame(0x09, 10)))
    }
}
