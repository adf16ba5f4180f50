import BridgeEngine
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

@Suite(.hangGuard) struct LoopbackRaceTests {
    let network = LoopbackNetwork(depth: 4)

    func join(_ user: UserID, _ ears: Ears) async throws -> Member {
        try await network.enter(ChannelRequest(channel: "room", userID: user), receiver: ears)
    }

    @Test func joinsAndLeavesLeakNothing() async throws {
        let ears = Ears()
        let host = try await join("host", ears)
        host.publish(.main)
        for index in 0..<100 {
            weak var gone: Ears?
            do {
                let visitor = Ears()
                gone = visitor
                let member = try await join(UserID("visitor"), visitor)
                host.send(try frame(index), track: .main)
                await visitor.hears(.frame(index, .main, "host"))
                await member.leave()
                #expect(visitor.words.count == 3)
            }
            #expect(gone == nil)
        }
        await ears.hears { $0.count == 200 }
        #expect(ears.words.isWellFormed)
        #expect(host.statistics.outgoing.delivered == 100 && host.statistics.to.isEmpty)
        await host.leave()
        #expect(network.channelNames.isEmpty)
    }

    @Test func aHundredUsersJoinAndLeaveConcurrently() async throws {
        let ears = (0..<100).map { _ in Ears() }
        try await withThrowingTaskGroup { group in
            for (index, ears) in ears.enumerated() {
                group.addTask {
                    let member = try await join(UserID(UInt(index)), ears)
                    member.publish(.main)
                    member.send(try frame(index), track: .main)
                    await member.leave()
                }
            }
            try await group.waitForAll()
        }
        #expect(ears.allSatisfy { $0.words.isWellFormed })
        #expect(network.channelNames.isEmpty)
    }

    /// Members join, send and leave in one of three channels, with names that compete with other
    /// members.
    @Test func joinsLeavesSendsAndClosingsMayRace() async throws {
        try await withThrowingTaskGroup { group in
            for worker in 0..<6 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(worker))
                    for round in 0..<60 { try await visit(round, &generator) }
                }
            }
            group.addTask {
                for round in 0..<60 { network.close(channel: "room \(round % 3)") }
            }
            try await group.waitForAll()
        }
        #expect(network.channelNames.isEmpty)
    }

    private func visit(_ round: Int, _ generator: inout SeededGenerator) async throws {
        let ears = Ears()
        let request = ChannelRequest(
            channel: "room \(generator.next() % 3)", userID: UserID(UInt(generator.next() % 4)))
        let member: Member
        do throws(EngineError) {
            member = try await network.enter(request, receiver: ears)
        } catch {
            #expect(error.code == .userIDTaken)
            return
        }
        member.publish(.main)
        for time in 0..<Int(generator.next() % 8) { member.send(try frame(time), track: .main) }
        // Some members are released without leaving.
        if generator.next() % 4 == 0 { return }
        await member.leave()
        let words = ears.words
        #expect(words.isWellFormed)
        let incoming = member.statistics.incoming
        #expect(incoming.waiting == 0)
        #expect(incoming.delivered == ears.frames.count)
        for user in 0..<4 {
            // The frames of one membership are in order. The next membership of that name restarts
            // from the beginning.
            let times = words.times(UserID(UInt(user)))
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 || $1 < 8 })
        }
    }

    @Test func receiverHandlesManySenders() async throws {
        let network = LoopbackNetwork(depth: 10_000)
        let ears = Ears()
        let host = try await network.enter(
            ChannelRequest(channel: "room", userID: "host"), receiver: ears)
        try await withThrowingTaskGroup { group in
            for user in 0..<4 {
                group.addTask {
                    let member = try await network.enter(
                        ChannelRequest(channel: "room", userID: UserID(UInt(user))),
                        receiver: Ears())
                    member.publish(.main)
                    for time in 0..<200 { member.send(try frame(time), track: .main) }
                    await member.leave()
                }
            }
            try await group.waitForAll()
        }
        await ears.hears { words in
            words.filter { if case .left = $0 { true } else { false } }.count == 4
        }
        #expect(ears.words.isWellFormed)
        for user in 0..<4 { #expect(ears.times(from: UserID(UInt(user))) == Array(0..<200)) }
        await host.leave()
    }
}
