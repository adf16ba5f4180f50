import BridgeEngine
import TestSupport
import Testing

@Suite(.hangGuard) struct LoopbackTokenTests {
    /// Lets in who brings the password.
    private struct Password: TokenVerifier {
        let password: String
        func verify(_ request: ChannelRequest) throws(EngineError) {
            guard let token = request.token else {
                throw EngineError(.tokenMissing, message: "no password")
            }
            guard token == password else {
                throw EngineError(.tokenForged, message: "not the password")
            }
        }
    }

    private func request(_ channel: String, _ token: String? = nil) -> ChannelRequest {
        ChannelRequest(channel: channel, token: token, userID: "anna")
    }

    @Test func aChannelThatDemandsATokenChecksIt() async throws {
        let network = LoopbackNetwork()
        network.demand(Password(password: "sesame"), forChannel: "cave")
        #expect(await joinError(network, request("cave")) == .tokenMissing)
        #expect(await joinError(network, request("cave", "barley")) == .tokenForged)
        #expect(await joinError(network, request("cave", "sesame")) == nil)
        #expect(await joinError(network, request("field")) == nil)
        network.demand(nil, forChannel: "cave")
        #expect(await joinError(network, request("cave")) == nil)
        #expect(network.channelNames.isEmpty)
    }

    @Test func aNetworkMayDemandItOfAllAndAnotherOfOne() async throws {
        let network = LoopbackNetwork(verifier: Password(password: "sesame"))
        network.demand(Password(password: "barley"), forChannel: "mill")
        #expect(await joinError(network, request("cave")) == .tokenMissing)
        #expect(await joinError(network, request("cave", "sesame")) == nil)
        #expect(await joinError(network, request("mill", "sesame")) == .tokenForged)
        #expect(await joinError(network, request("mill", "barley")) == nil)
    }

    @Test func whoIsRefusedIsHeardOfByNobody() async throws {
        let network = LoopbackNetwork(verifier: Password(password: "sesame"))
        let ears = Ears()
        let ben = try await network.enter(
            ChannelRequest(channel: "cave", token: "sesame", userID: "ben"), receiver: ears)
        _ = await joinError(network, request("cave", "barley"))
        await ben.leave()
        #expect(ears.words.isEmpty)
    }
}
