import BridgeEngine
import ChannelTokens
import FoundationEssentials
import TestSupport
import Testing

/// Seeded, so that a failure comes again.
@Suite struct TokenFuzzTests {
    private let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.*=+/ %\u{0}".utf8)

    private func mutate(_ token: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var token = token
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0...token.count, using: &generator)
            let letter = letters.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: token.insert(letter, at: place)
            case 1 where place < token.count: token.remove(at: place)
            case 2 where place < token.count: token[place] = letter
            case 3 where place < token.count:  // no UTF-8 any more, mostly
                token[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 4: token = Array(token.prefix(place))
            case 5: token = Array(token.suffix(place))
            default:  // a part of it again, elsewhere
                token.insert(contentsOf: token.suffix(place).prefix(9), at: place)
            }
        }
        return token
    }

    @Test func noChangedTokenLetsAnybodyIn() throws {
        let key = try secret(3)
        let tokens = SignedTokens(key, now: { noon })
        let good = ChannelToken.sign(
            channel: "room", userID: "anna", expires: noon + 60, with: key)
        var generator = SeededGenerator(seed: 2026)
        var isAccepted = 0
        for _ in 0..<5000 {
            let token = String(decoding: mutate(Array(good.utf8), &generator), as: UTF8.self)
            let error = tokens.error(token)
            if token == good {
                #expect(error == nil)
                isAccepted += 1
            } else {
                #expect(error == (token.isEmpty ? .tokenMissing : .tokenForged), "\(token)")
            }
        }
        #expect(isAccepted < 1000)
    }

    @Test func noGarbageEndsTheProgram() throws {
        let tokens = SignedTokens(try secret(3), now: { noon })
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            let count = Int.random(in: 1...200, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(tokens.error(String(decoding: bytes, as: UTF8.self)) == .tokenForged)
        }
        for token in [
            "....", ".", "mb1.", "mb1....", "mb1.0.*.*.", "*", "\u{0}", "☃︎.☃︎", "=", "AAA=",
        ] {
            #expect(tokens.error(token) == .tokenForged)
        }
    }

    @Test func everyLetterCounts() throws {
        let key = try secret(3)
        let tokens = SignedTokens(key, now: { noon })
        let good = ChannelToken.sign(
            channel: "room", userID: "anna", expires: noon + 60, with: key)
        // Every letter, replaced by every other: the last one's unused bits, too.
        for place in good.indices {
            for letter in "ABCDghij0189-_." where letter != good[place] {
                let token = good[..<place] + String(letter) + good[good.index(after: place)...]
                #expect(tokens.error(String(token)) == .tokenForged)
            }
        }
    }
}
