import BridgeEngine
import Dispatch
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard) struct LoopbackLeaveTests {
    let network = LoopbackNetwork()

    func join(
        _ user: UserID, _ ears: any ChannelReceiver
    ) async throws -> Member {
        try await network.enter(ChannelRequest(channel: "room", userID: user), receiver: ears)
    }

    @Test func secondLeaveHasNoEffect() async throws {
        let ears = Ears()
        let ben = try await join("ben", ears)
        let anna = try await join("anna", Ears())
        anna.publish(.main)
        await anna.leave()
        await anna.leave()
        #expect(anna.send(try frame(), track: .main) == .dropped(.closed))
        anna.publish(2)
        anna.unpublish(.main)
        await ears.hears(.left("anna", .quit))
        await ben.leave()
        #expect(ears.words == [.joined("anna"), .published(.main, "anna"), .left("anna", .quit)])
        #expect(network.channelNames.isEmpty)
    }

    @Test func reusedUserIDIsANewMembership() async throws {
        let ears = Ears()
        let ben = try await join("ben", ears)
        let old = try await join("anna", Ears())
        await old.leave()
        let new = try await join("anna", Ears())
        new.publish(.main)
        await old.leave()
        old.publish(5)
        #expect(new.send(try frame(1), track: .main) == .accepted)
        await ears.hears(.frame(1, .main, "anna"))
        #expect(
            ears.words == [
                .joined("anna"), .left("anna", .quit), .joined("anna"), .published(.main, "anna"),
                .frame(1, .main, "anna"),
            ])
        for member in [new, ben] { await member.leave() }
    }

    @Test func departedUserReceivesNoEvents() async throws {
        let gate = Gate()
        let ears = Ears { if case .frame = $0 { gate.pass() } }
        let others = Ears()
        let ben = try await join("ben", ears)
        let anna = try await join("anna", others)
        anna.publish(.main)
        for time in 0..<4 { anna.send(try frame(time), track: .main) }
        await gate.isReached()
        // Leaving waits for the call that is blocked at the gate.
        let hasLeft = Flag()
        await withTaskGroup { group in
            group.addTask {
                await ben.leave()
                hasLeft.raise()
            }
            await others.hears(.left("ben", .quit))
            #expect(!hasLeft.isUp)
            gate.open()
        }
        #expect(hasLeft.isUp)
        let heard = ears.words
        anna.send(try frame(9), track: .main)
        anna.unpublish(.main)
        await anna.leave()
        #expect(ears.words == heard)
        #expect(heard.times("anna") == [0])
        let incoming = ben.statistics.incoming
        #expect(incoming.delivered == 1 && incoming.dropped[.closed] == 3 && incoming.waiting == 0)
        #expect(anna.statistics.outgoing == incoming)
    }

    private final class Flag: Sendable {
        private let state = Atomic<Bool>(false)
        var isUp: Bool { state.load(ordering: .acquiring) }
        func raise() { state.store(true, ordering: .releasing) }
    }

    /// Leaves from within a callback, and waits there until it has left.
    private final class Fleeing: ChannelReceiver {
        let membership = Mutex<(Member)?>(nil)
        let fled = AsyncStream<Void>.makeStream()
        private let late = Atomic<Int>(0)
        var framesAfterwards: Int { late.load(ordering: .relaxed) }

        func receive(
            _ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID
        ) {
            guard let membership = membership.withLock({ $0.take() }) else {
                late.add(1, ordering: .relaxed)
                return
            }
            let left = DispatchSemaphore(value: 0)
            Task {
                await membership.leave()
                left.signal()
            }
            left.wait()
            fled.continuation.yield()
        }
    }

    @Test func receiverMayLeaveDuringACallback() async throws {
        let ears = Ears()
        let anna = try await join("anna", ears)
        let receiver = Fleeing()
        let ben = try await join("ben", receiver)
        receiver.membership.withLock { $0 = ben }
        anna.publish(.main)
        for time in 0..<5 { anna.send(try frame(time), track: .main) }
        for await _ in receiver.fled.stream { break }
        await ears.hears(.left("ben", .quit))
        await ben.leave()  // called from outside, so it waits for the callback
        #expect(receiver.framesAfterwards == 0)
        #expect(ben.statistics.incoming.delivered == 1)
        await anna.leave()
    }

    @Test func unreferencedMembershipIsDropped() async throws {
        let ears = Ears()
        let ben = try await join("ben", ears)
        let lost = Ears()
        var anna: (Member)? = try await join("anna", lost)
        anna?.publish(.main)
        anna = nil
        await ears.hears(.left("anna", .dropped))
        ben.publish(.main)
        ben.send(try frame(), track: .main)
        #expect(ben.statistics.outgoing.offered == 0)
        await ben.leave()
        #expect(network.channelNames.isEmpty)
        #expect(lost.words.allSatisfy { $0 == .joined("ben") })
    }

    @Test func leavingReleasesEverything() async throws {
        weak var receiver: Ears?
        weak var membership: (Member)?
        weak var picture: (any VideoFrameStorage)?
        let gate = Gate()
        let slow = Ears { _ in gate.pass() }
        let ben = try await join("ben", slow)
        do {
            let ears = Ears()
            let anna = try await join("anna", ears)
            anna.publish(.main)
            let one = try frame()
            (receiver, membership, picture) = (ears, anna, one.storage)
            anna.send(one, track: .main)
            await anna.leave()
        }
        #expect(receiver == nil && membership == nil)
        #expect(picture != nil)  // queued for Ben
        gate.open()
        await ben.leave()
        // If Ben's receiver was fast enough, it has kept the frame.
        let kept = slow.frames.contains { $0.storage === picture }
        #expect(kept || picture == nil)
    }

    @Test func closedChannelDisconnectsAllUsers() async throws {
        let (one, other) = (Ears(), Ears())
        let anna = try await join("anna", one)
        let ben = try await join("ben", other)
        anna.publish(.main)
        for time in 0..<3 { anna.send(try frame(time), track: .main) }
        #expect(network.close(channel: "room"))
        #expect(!network.close(channel: "room"))
        #expect(network.channelNames.isEmpty)
        await one.hears(.disconnected(.disconnected))
        await other.hears(.disconnected(.disconnected))
        #expect(one.words == [.joined("ben"), .disconnected(.disconnected)])
        // Frames that were sent before the closing arrive before it.
        #expect(other.words.times("anna") == [0, 1, 2])
        #expect(other.words.last == .disconnected(.disconnected))
        #expect(anna.send(try frame(), track: .main) == .dropped(.closed))

        // The name is free again, and the members of the old channel are not in the new one.
        let third = Ears()
        let again = try await join("anna", third)
        for member in [anna, ben] { await member.leave() }
        #expect(network.channelNames == ["room"])
        await again.leave()
        #expect(third.words.isEmpty && network.channelNames.isEmpty)
    }

    @Test func closedChannelReleasesItsReceivers() async throws {
        weak var receiver: Ears?
        let anna: Member
        do {
            let ears = Ears()
            anna = try await join("anna", ears)
            network.close(channel: "room")
            await ears.hears(.disconnected(.disconnected))
            receiver = ears
        }
        await anna.leave()
        #expect(receiver == nil)
    }
}
