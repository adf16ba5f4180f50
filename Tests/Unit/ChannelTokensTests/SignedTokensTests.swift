import BridgeEngine
import ChannelTokens
import FoundationEssentials
import Testing

@Suite struct SignedTokensTests {
    let tokens: SignedTokens
    let key: ChannelSecret

    init() throws {
        key = try secret(1)
        tokens = SignedTokens(key, now: { noon })
    }

    private func sign(
        _ channel: String = "room", _ userID: UserID? = "anna", after seconds: Double = 60
    ) -> String {
        ChannelToken.sign(
            channel: channel, userID: userID, expires: noon + seconds, with: key)
    }

    @Test func aTokenLetsItsUserIntoItsChannel() {
        #expect(tokens.error(sign()) == nil)
        #expect(tokens.error(sign("room", 42), userID: 42) == nil)
    }

    @Test func withoutATokenNobodyGetsIn() {
        #expect(tokens.error(nil) == .tokenMissing)
        #expect(tokens.error("") == .tokenMissing)
    }

    @Test func aTokenForAnotherChannelOrUserIsNotForThis() {
        #expect(tokens.error(sign("attic")) == .tokenNotForThis)
        #expect(tokens.error(sign("room", "ben")) == .tokenNotForThis)
        #expect(tokens.error(sign("", "")) == .tokenNotForThis)
    }

    @Test func aTokenForAnybodyIsForOneChannel() {
        let token = sign("room", nil)
        #expect(tokens.error(token) == nil)
        #expect(tokens.error(token, userID: "ben") == nil)
        #expect(tokens.error(token, channel: "attic") == .tokenNotForThis)
        // A user whose name is the star is not anybody.
        #expect(tokens.error(sign("room", "*")) == .tokenNotForThis)
    }

    @Test func aTokenEndsWhenItSaysAndNotLater() {
        #expect(tokens.error(sign(after: 0.002)) == nil)
        #expect(tokens.error(sign(after: 0)) == .tokenExpired)
        #expect(tokens.error(sign(after: -1e9)) == .tokenExpired)
    }

    @Test(arguments: [.infinity, -.infinity, .nan, 1e300, -1e300, 9.3e15] as [Double])
    func noDateEndsTheProgram(seconds: Double) {
        let token = ChannelToken.sign(
            channel: "room", userID: "anna", expires: Date(timeIntervalSince1970: seconds),
            with: key)
        #expect(tokens.error(token) == (seconds > 0 ? nil : .tokenExpired))
        #expect(
            SignedTokens(key, now: { Date(timeIntervalSince1970: seconds) })
                .error(sign()) == (seconds > 0 ? .tokenExpired : nil))
    }

    @Test(
        arguments: [
            (.seconds(3600), nil), (.zero, .tokenExpired), (.seconds(-5), .tokenExpired),
            (.seconds(Int64.max), nil), (.seconds(Int64.min), .tokenExpired),
        ] as [(Duration, EngineError.Code?)])
    func aTokenIsGoodForAsLongAsItWasSignedFor(duration: Duration, error: EngineError.Code?) {
        let token = ChannelToken.sign(
            channel: "room", userID: "anna", validFor: duration, with: key)
        #expect(SignedTokens(key).error(token) == error)
    }

    @Test func anotherSecretsTokenIsForged() throws {
        #expect(SignedTokens(try secret(2)).error(sign()) == .tokenForged)
        // Even where it would not be for this, or has expired: it says nothing that can be believed.
        #expect(SignedTokens(try secret(2), now: { noon }).error(sign("attic")) == .tokenForged)
    }

    @Test func aReplacedSecretIsGoodWhileItIsNamed() throws {
        let new = try secret(2)
        let both = SignedTokens(new, older: [key], now: { noon })
        #expect(both.error(sign()) == nil)
        let token = ChannelToken.sign(
            channel: "room", userID: "anna", expires: noon + 1, with: new)
        #expect(both.error(token) == nil)
        #expect(tokens.error(token) == .tokenForged)
    }

    @Test(
        arguments: [
            "", " ", "room.with.dots", "mb1.9.x.*", "ünïcödé ☃︎", "\u{0}", "name\nwith lines",
            String(repeating: "long", count: 5000), "e\u{301}",
        ])
    func anyNameCanBeSigned(name: String) {
        let token = sign(name, UserID(name))
        #expect(tokens.error(token, channel: name, userID: UserID(name)) == nil)
        // Nothing that a URL, a shell or a header would take for something else.
        #expect(
            token.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            })
    }

    @Test func namesDoNotRunIntoEachOther() {
        #expect(tokens.error(sign("ab", "c"), channel: "a", userID: "bc") == .tokenNotForThis)
        #expect(sign("ab", "c") != sign("a", "bc"))
    }

    /// What Python's `hmac` makes of it, too: a token of today opens the channel of tomorrow's version.
    @Test func theFormStaysAsItIs() throws {
        let key = try ChannelSecret(Array(0..<32))
        let token = ChannelToken.sign(
            channel: "room", userID: "anna", expires: noon, with: key)
        #expect(
            token
                == "mb1.1900000000000.cm9vbQ.YW5uYQ.9NZUI8GnR4eCv1Ne2CHPUb5Uty_-VMrksGIKpirwOHE")
    }

    @Test func aLoopbackChannelChecksThem() async throws {
        let network = LoopbackNetwork()
        network.demand(tokens, forChannel: "room")
        let receiver = Deaf()
        func join(_ token: String?) async -> EngineError.Code? {
            do throws(EngineError) {
                let request = ChannelRequest(channel: "room", token: token, userID: "anna")
                await (try network.join(request, receiver: receiver)).leave()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await join(nil) == .tokenMissing)
        #expect(await join("sesame") == .tokenForged)
        #expect(await join(sign(after: -1)) == .tokenExpired)
        #expect(await join(sign("attic")) == .tokenNotForThis)
        #expect(await join(sign()) == nil)
        #expect(network.channelNames.isEmpty)
    }
}
