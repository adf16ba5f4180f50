import BridgeEngine
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// Cut connections, removed users and expired tokens.
@Suite(.hangGuard, .balanced) struct LoopbackFaultTests {
    private let time = VirtualTimeline()

    @Test func interruptedUserStaysAndReceivesMissedEvents() async throws {
        let network = LoopbackNetwork(timeline: time)
        let (one, other) = (Ears(), Ears())
        let anna = try await join("anna", one, network)
        let ben = try await join("ben", other, network)
        anna.publish(.main)
        ben.publish(.main)
        #expect(network.cut("anna", inChannel: "room"))
        await one.hears(.reconnecting(1))
        #expect(!network.cut("nobody", inChannel: "room"))
        // Frames are lost, and everything else is delayed.
        #expect(anna.send(try frame(1), track: .main) == .accepted)
        #expect(ben.send(try frame(2), track: .main) == .accepted)
        anna.publish(5)
        anna.mute(true, .main)
        ben.unpublish(.main)
        try await anna.membership.send(ChannelMessage("later"), to: "ben")
        try await ben.membership.send(ChannelMessage("too"), to: nil)
        let cleo = try await join("cleo", Ears(), network)
        #expect(!other.words.contains(.published(5, "anna")))
        #expect(network.heal("anna", inChannel: "room"))
        await one.hears(.joined("cleo"))
        await other.hears(.message("later", "anna"))
        let after = one.words.drop { $0 != .reconnected }
        #expect(
            Array(after) == [
                .reconnected, .unpublished(.main, "ben"), .message("too", "ben"), .joined("cleo"),
            ])
        #expect(
            other.words.filter { $0 != .joined("cleo") }.suffix(3) == [
                .published(5, "anna"), .muted(true, .main, "anna"), .message("later", "anna"),
            ])
        let frames = anna.statistics
        #expect(frames.to["ben"]?.dropped[.lost] == 1 && frames.from["ben"]?.dropped[.lost] == 1)
        anna.mute(false, .main)
        #expect(anna.send(try frame(3), track: .main) == .accepted)
        await other.hears(.frame(3, .main, "anna"))
        #expect(one.words.isWellFormed && other.words.isWellFormed)
        for member in [anna, ben, cleo] { await member.leave() }
    }

    @Test func longInterruptionDropsTheUser() async throws {
        let network = LoopbackNetwork(reconnectionTimeout: .milliseconds(1500), timeline: time)
        let (one, other) = (Ears(), Ears())
        let anna = try await join("anna", one, network)
        let ben = try await join("ben", other, network)
        network.cut("anna", inChannel: "room")
        time.advance(by: .seconds(2))
        await other.hears(.left("anna", .dropped))
        await one.hears(.disconnected(.disconnected))
        #expect(
            one.words.filter { $0 != .joined("ben") } == [
                .reconnecting(1), .reconnecting(2), .disconnected(.disconnected),
            ])
        #expect(!network.heal("anna", inChannel: "room"))
        // The last user to leave closes the channel.
        network.cut("ben", inChannel: "room")
        time.advance(by: .seconds(2))
        await other.hears(.disconnected(.disconnected))
        #expect(network.channelNames.isEmpty)
        for member in [anna, ben] { await member.leave() }
    }

    @Test func kickedUserIsNotified() async throws {
        let network = LoopbackNetwork(timeline: time)
        let (one, other) = (Ears(), Ears())
        let anna = try await join("anna", one, network)
        let ben = try await join("ben", other, network)
        #expect(network.kick("anna", fromChannel: "room"))
        await one.hears(.disconnected(.kicked))
        await other.hears(.left("anna", .kicked))
        #expect(!network.kick("anna", fromChannel: "room"))
        #expect(anna.send(try frame(), track: .main) == .dropped(.notStarted))
        for member in [anna, ben] { await member.leave() }
        #expect(network.channelNames.isEmpty)
    }

    @Test func fullChannelAndUnreachableNetworkAreErrors() async throws {
        let network = LoopbackNetwork(capacity: 2, timeline: time)
        let request = ChannelRequest(channel: "room", userID: "cleo")
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", Ears(), network)
        #expect(await joinError(network, request) == .channelFull)
        await ben.leave()
        #expect(await joinError(network, request) == nil)
        network.isReachable = false
        #expect(await joinError(network, request) == .unreachable)
        anna.publish(.main)
        #expect(anna.send(try frame(), track: .main) == .accepted)
        network.isReachable = true
        #expect(await joinError(network, request) == nil)
        await anna.leave()
    }

    /// Admits one token after the other, each for a limited time.
    private func verifier(_ valid: Observed<String>, lasting time: Duration? = nil) -> TokenVerifier
    {
        { token, _, _ throws(EngineError) in
            guard token == valid.value else {
                throw EngineError(.tokenExpired, message: "not \(token ?? "nothing")")
            }
            return time
        }
    }

    @Test(arguments: [true, false])
    func reconnectionRequestsANewToken(hasFresh: Bool) async throws {
        let valid = Observed("first")
        let network = LoopbackNetwork(verifier: verifier(valid), timeline: time)
        let (one, other) = (Ears(), Ears())
        let anna = try await join("anna", one, network, token: "first")
        let ben = try await join("ben", other, network, token: "first")
        network.cut("anna", inChannel: "room")
        valid.change { $0 = "second" }
        if hasFresh { one.tokens.withLock { $0 = ["second"] } }
        network.heal("anna", inChannel: "room")
        if hasFresh {
            await one.hears(.reconnected)
        } else {
            await one.hears(.disconnected(.tokenExpired))
            await other.hears(.left("anna", .dropped))
        }
        #expect(one.tokens.withLock { $0.isEmpty })
        for member in [anna, ben] { await member.leave() }
    }

    @Test func tokenIsRenewedBeforeItExpires() async throws {
        let valid = Observed("first")
        let network = LoopbackNetwork(
            verifier: verifier(valid, lasting: .milliseconds(100)), timeline: time)
        let (one, other) = (Ears(), Ears())
        one.tokens.withLock { $0 = ["first", "first"] }
        let anna = try await join("anna", one, network, token: "first")
        // The token is requested when a fifth of its lifetime remains.
        for _ in 0..<2 { await time.expire(.milliseconds(80)) }
        await time.alarms(in: .milliseconds(80))
        #expect(one.tokens.withLock { $0.isEmpty } && one.words.isEmpty)
        // No new token is supplied, and the old one is refused.
        valid.change { $0 = "second" }
        let ben = try await join("ben", other, network, token: "second")
        await time.expire(.milliseconds(80), alarms: 2)
        await one.hears(.disconnected(.tokenExpired))
        await other.hears(.left("anna", .dropped))
        for member in [anna, ben] { await member.leave() }
    }
}
