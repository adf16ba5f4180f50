import BridgeEngine
import ChannelTokens
import Testing

@Suite struct ChannelSecretTests {
    @Test(arguments: [0, 1, 15]) func aShortSecretIsRefused(count: Int) {
        #expect {
            try ChannelSecret(repeatElement(7, count: count))
        } throws: {
            ($0 as? EngineError)?.code == .invalidArgument
        }
    }

    @Test func aSecretIsItsBytes() throws {
        let bytes = [UInt8](0..<16)
        #expect(try ChannelSecret(bytes).bytes == bytes)
        #expect(try ChannelSecret(bytes) == ChannelSecret(bytes))
        #expect(try ChannelSecret(bytes) != ChannelSecret(bytes.reversed()))
    }

    @Test func randomOnesDiffer() {
        let secrets = Set((0..<100).map { _ in ChannelSecret.random() })
        #expect(secrets.count == 100)
        #expect(secrets.allSatisfy { $0.bytes.count == 32 })
    }

    @Test func aSecretIsNotPrinted() throws {
        let secret = try ChannelSecret(repeatElement(171, count: 20))
        var dumped = ""
        dump([secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(text.contains("20 bytes"))
            #expect(!text.contains("171") && !text.lowercased().contains("ab, ab"))
        }
    }
}
