import MediaBridgeJanus
import TestSupport
import Testing

/// Messages between users, on a real Janus server.
@Suite(.hangGuard, .needsJanus) struct MessageTests {
    @Test func messagesArriveCompleteOnceAndInOrder() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let (anna, ben, carl) = (RoomReceiver(), RoomReceiver(), RoomReceiver())
            let members = [
                try await transport.join("hall", as: "anna", anna),
                try await transport.join("hall", as: "ben", ben),
                try await transport.join("hall", as: "carl", carl),
            ]
            await anna.wait(for: .joined("carl"))
            for number in 1...50 { try await members[0].send("all \(number)", to: nil) }
            try await members[0].send("ben alone", to: "ben")
            try await members[0].send("the end", to: nil)
            for receiver in [ben, carl] { await receiver.wait(for: .message("the end", "anna")) }
            let all = (1...50).map { RoomReceiver.Event.message("all \($0)", "anna") }
            #expect(
                ben.messages == all + [.message("ben alone", "anna"), .message("the end", "anna")])
            #expect(carl.messages == all + [.message("the end", "anna")])
            #expect(anna.messages.isEmpty)
            for member in members { await member.leave() }
            for receiver in [anna, ben, carl] {
                #expect(!receiver.wasCalledTwice)
            }
        }
    }

    @Test func theLargestMessageArrivesAndALargerOneIsRefused() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let ben = RoomReceiver()
            let first = try await transport.join("hall", as: "anna")
            let second = try await transport.join("hall", as: "ben", ben)
            let text = String(repeating: "0123456789abcdef", count: 1024)
            try await first.send(text, to: nil)
            await ben.wait(for: .message(text, "anna"))
            let long = try await engineError { try await first.send(text + "x", to: nil) }
            #expect(long?.code == .invalidArgument)
            let nobody = try await engineError { try await first.send("?", to: "nobody") }
            #expect(nobody?.code == .invalidArgument)
            await first.leave()
            let left = try await engineError { try await first.send("?", to: nil) }
            #expect(left?.code == .notInChannel)
            await second.leave()
        }
    }

    @Test func lateJoinerReceivesNoEarlierMessages() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let (ben, carl) = (RoomReceiver(), RoomReceiver())
            let first = try await transport.join("hall", as: "anna")
            let second = try await transport.join("hall", as: "ben", ben)
            try await first.send("hello", to: nil)
            await ben.wait(for: .message("hello", "anna"))
            // A late joiner does not receive earlier messages.
            let third = try await transport.join("hall", as: "carl", carl)
            try await first.send("again", to: nil)
            await carl.wait(for: .message("again", "anna"))
            #expect(carl.messages == [.message("again", "anna")])
            for member in [first, second, third] { await member.leave() }
        }
    }
}

extension RoomReceiver {
    var messages: [Event] {
        events.value.filter { if case .message = $0 { true } else { false } }
    }
}
