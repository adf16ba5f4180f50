import BridgeEngine
import MediaBridgeTesting
import TestSupport
import Testing

@Suite(.hangGuard) struct LoopbackTokenTests {
    /// Accepts one token.
    private func password(_ password: String) -> TokenVerifier {
        { token, _, _ throws(EngineError) in
            guard let token else {
                throw EngineError(.tokenMissing, message: "no password")
            }
            guard token == password else {
                throw EngineError(.tokenForged, message: "not the password")
            }
            return nil
        }
    }

    private func request(_ channel: String, _ token: String? = nil) -> ChannelRequest {
        ChannelRequest(channel: channel, token: token, userID: "anna")
    }

    @Test func channelThatRequiresATokenChecksIt() async throws {
        let network = LoopbackNetwork()
        network.setVerifier(password("sesame"), forChannel: "cave")
        #expect(await joinError(network, request("cave")) == .tokenMissing)
        #expect(await joinError(network, request("cave", "barley")) == .tokenForged)
        #expect(await joinError(network, request("cave", "sesame")) == nil)
        #expect(await joinError(network, request("field")) == nil)
        network.setVerifier(nil, forChannel: "cave")
        #expect(await joinError(network, request("cave")) == nil)
        #expect(network.channelNames.isEmpty)
    }

    @Test func tokensAreRequiredPerNetworkOrPerChannel() async throws {
        let network = LoopbackNetwork(verifier: password("sesame"))
        network.setVerifier(password("barley"), forChannel: "mill")
        #expect(await joinError(network, request("cave")) == .tokenMissing)
        #expect(await joinError(network, request("cave", "sesame")) == nil)
        #expect(await joinError(network, request("mill", "sesame")) == .tokenForged)
        #expect(await joinError(network, request("mill", "barley")) == nil)
    }

    @Test func refusedUserIsNotReportedToOthers() async throws {
        let network = LoopbackNetwork(verifier: password("sesame"))
        let ears = Ears()
        let ben = try await network.enter(
            ChannelRequest(channel: "cave", token: "sesame", userID: "ben"), receiver: ears)
        _ = await joinError(network, request("cave", "barley"))
        await ben.leave()
        #expect(ears.words.isEmpty)
    }
}
