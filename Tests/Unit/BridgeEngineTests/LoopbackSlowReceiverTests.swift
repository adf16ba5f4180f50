import BridgeEngine
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

@Suite(.hangGuard, .balanced) struct LoopbackSlowReceiverTests {
    @Test func blockedReceiversDoNotAffectOthers() async throws {
        let network = LoopbackNetwork()
        let gate = Gate()
        var blocked: [Member] = []
        for index in 0..<40 {
            blocked.append(
                try await join(UserID("slow \(index)"), Ears { _ in gate.pass() }, network))
        }
        let ears = Ears()
        let quick = try await join("quick", ears, network)
        let anna = try await join("anna", Ears(), network)
        anna.publish(.main)
        // One at a time, so that the fast receiver has no reason to lose any.
        for time in 0..<200 {
            anna.send(try frame(time), track: .main)
            await ears.hears(.frame(time, .main, "anna"))
        }
        #expect(ears.times(from: "anna") == Array(0..<200))
        let statistics = anna.statistics
        #expect(statistics.sent == 200)
        #expect(
            statistics.to["quick"]?.delivered == 200
                && statistics.to["quick"]?.dropped[.evicted] == 0)
        for index in 0..<40 {
            let slow = try #require(statistics.to[UserID("slow \(index)")])
            #expect(
                slow.offered == 200 && slow.delivered == 0 && slow.dropped[.evicted] == 200 - 16)
        }
        // Other members can still join and leave.
        let visitor = try await join("visitor", Ears(), network)
        await visitor.leave()
        await ears.hears(.left("visitor", .quit))
        await anna.leave()
        await quick.leave()
        gate.open()
        for member in blocked { await member.leave() }
        #expect(network.channelNames.isEmpty)
    }

    @Test func fullQueueDropsOnlyTheOldestFramesAndKeepsEvents() async throws {
        let network = LoopbackNetwork(depth: 4)
        let gate = Gate()
        let ears = Ears { _ in gate.pass() }
        let slow = try await join("slow", ears, network)
        let anna = try await join("anna", Ears(), network)
        await gate.isReached()
        var expected: [Ears.Word] = [.joined("anna")]
        for time in 0..<10 {
            let track = TrackID(time)
            anna.publish(track)
            anna.send(try frame(time), track: track)
            anna.unpublish(track)
            expected.append(.published(track, "anna"))
            if time >= 6 { expected.append(.frame(time, track, "anna")) }
            expected.append(.unpublished(track, "anna"))
        }
        await anna.leave()
        expected.append(.left("anna", .quit))
        #expect(anna.statistics.outgoing.dropped[.evicted] == 6)
        gate.open()
        await ears.hears(.left("anna", .quit))
        #expect(ears.words == expected)
        await slow.leave()
    }

    @Test func dropsAreCountedForTheirSender() async throws {
        let network = LoopbackNetwork(depth: 2)
        let gate = Gate()
        let slow = try await join("slow", Ears { _ in gate.pass() }, network)
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", Ears(), network)
        await gate.isReached()
        for member in [anna, ben] { member.publish(.main) }
        for time in 0..<3 { anna.send(try frame(time), track: .main) }
        ben.send(try frame(9), track: .main)
        // Anna's frame 2 evicted frame 0, and Ben's frame evicted frame 1.
        let statistics = slow.statistics
        #expect(
            statistics.from["anna"]?.offered == 3 && statistics.from["anna"]?.dropped[.evicted] == 2
        )
        #expect(statistics.from["anna"]?.waiting == 1)
        #expect(
            statistics.from["ben"]?.offered == 1 && statistics.from["ben"]?.dropped[.evicted] == 0)
        #expect(statistics.incoming.offered == 4 && statistics.incoming.dropped[.evicted] == 2)
        #expect(anna.statistics.to["slow"] == statistics.from["anna"])
        #expect(anna.statistics.outgoing.offered == 6)  // includes the frames sent to Ben
        gate.open()
        for member in [anna, ben, slow] { await member.leave() }
        #expect(anna.statistics.to.isEmpty && anna.statistics.outgoing.offered == 6)
        #expect(slow.statistics.incoming.waiting == 0)
    }

    @Test func receiverWithTooManyPendingEventsIsDropped() async throws {
        let network = LoopbackNetwork()
        let gate = Gate()
        let (ears, others) = (Ears { _ in gate.pass() }, Ears())
        let deaf = try await join("deaf", ears, network)
        let anna = try await join("anna", others, network)
        deaf.publish(.main)
        await gate.isReached()
        for _ in 0..<2100 {
            anna.publish(1)
            anna.unpublish(1)
        }
        await others.hears(.left("deaf", .dropped))
        #expect(deaf.send(try frame(), track: .main) == .dropped(.closed))
        #expect(anna.statistics.to.isEmpty)
        gate.open()
        await ears.hears(.disconnected(.disconnected))
        #expect(ears.words.count > 4096 && ears.words.isWellFormed)
        for member in [anna, deaf] { await member.leave() }
        #expect(network.channelNames.isEmpty)
    }
}
