import MediaBridgeJanus
import TestSupport
import Testing

@testable import struct MediaBridgeJanus.JanusHandle

/// Joining and leaving a room, on a real Janus server.
@Suite(.hangGuard, .needsJanus) struct RoomTests {
    @Test func usersReceiveJoinAndLeaveEvents() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let (anna, ben) = (RoomReceiver(), RoomReceiver())
            let first = try await transport.join("hall", as: "anna", anna)
            let second = try await transport.join("hall", as: "ben", ben)
            await anna.wait(for: .joined("ben"))
            await ben.wait(for: .joined("anna"))
            await second.leave()
            await anna.wait(for: .left("ben", .quit))
            #expect(anna.events.value == [.joined("ben"), .left("ben", .quit)])
            #expect(ben.events.value == [.joined("anna")])
            await first.leave()
        }
    }

    @Test func userIDIsUniqueInARoom() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let first = try await transport.join("hall", as: "anna")
            let error = try await engineError {
                _ = try await transport.join("hall", as: "anna")
            }
            #expect(error?.code == .userIDTaken)
            await first.leave()
            let again = try await transport.join("hall", as: "anna")
            await again.leave()
        }
    }

    @Test func missingRoomIsAnErrorOrIsCreated() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let missing = try await engineError {
                _ = try await transport.join("attic", as: "anna")
            }
            #expect(missing?.code == .invalidArgument)
            #expect(missing?.message.contains("attic") == true)

            var configuration = JanusTransport.Configuration.patient
            configuration.roomCreation = .init(adminKey: "wrong")
            let wrong = try JanusTransport(server: server.url, configuration: configuration)
            let refused = try await engineError { _ = try await wrong.join("attic", as: "anna") }
            #expect(refused?.code == .invalidArgument)
            #expect(refused?.advice?.contains("adminKey") == true)

            configuration.roomCreation = .init(adminKey: LocalJanus.adminKey)
            let creating = try JanusTransport(server: server.url, configuration: configuration)
            async let a = creating.join("attic", as: "anna")
            async let b = creating.join("attic", as: "ben")
            let members = try await [a, b]
            for member in members { await member.leave() }
        }
    }

    @Test func kickIsReportedToAllUsers() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let (anna, ben) = (RoomReceiver(), RoomReceiver())
            let first = try await transport.join("hall", as: "anna", anna)
            let second = try await transport.join("hall", as: "ben", ben)
            await anna.wait(for: .joined("ben"))
            try await withHandle(at: server.url) { handle in
                _ = try await handle.request([
                    "request": "kick", "room": "hall", "id": "ben",
                    "secret": .string(LocalJanus.roomSecret),
                ])
            }
            await ben.wait(for: .disconnected(.kicked))
            await anna.wait(for: .left("ben", .kicked))
            let error = try await engineError { try await second.send("late", to: nil) }
            #expect(error?.code == .notInChannel)
            #expect(ben.events.value.last == .disconnected(.kicked))
            await second.leave()
            await first.leave()
        }
    }

    @Test func destroyedRoomEndsTheMembership() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let anna = RoomReceiver()
            let member = try await transport.join("hall", as: "anna", anna)
            try await withHandle(at: server.url) { handle in
                _ = try await handle.request([
                    "request": "destroy", "room": "hall",
                    "secret": .string(LocalJanus.roomSecret),
                ])
            }
            await anna.wait(for: .disconnected(.disconnected))
            await member.leave()
            #expect(anna.events.value == [.disconnected(.disconnected)])
        }
    }

    @Test func userWithoutALeaveRequestIsReportedAsDropped() async throws {
        var configuration = try LocalJanus.configuration()
        configuration.sessionTimeout = 8
        try await LocalJanus.run(configuration) { server in
            var configuration = JanusTransport.Configuration.patient
            configuration.sessionTimeout = .seconds(8)
            configuration.reconnection.returnTimeout = .milliseconds(100)
            let transport = try JanusTransport(server: server.url, configuration: configuration)
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            // A user of a different program, whose connection closes without a leave request.
            try await withHandle(at: server.url) { handle in
                _ = try await handle.request([
                    "request": "join", "ptype": "publisher", "room": "hall", "id": "carl",
                ])
                await anna.wait(for: .joined("carl"))
            }
            await anna.wait(for: .left("carl", .dropped))
            await first.leave()
            #expect(anna.events.value == [.joined("carl"), .left("carl", .dropped)])
        }
    }

    @Test func releasingAMembershipLeavesTheRoom() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            _ = try await transport.join("hall", as: "ben")
            await anna.wait(for: .joined("ben"))
            await anna.events.wait { events in
                events.contains { if case .left("ben", _) = $0 { true } else { false } }
            }
            await first.leave()
            #expect(anna.events.value.count == 2)
        }
    }

    @Test func extraTracksAreNotReportedAsUsers() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            try await withHandle(at: server.url) { track in
                _ = try await track.request([
                    "request": "join", "ptype": "publisher", "room": "hall", "id": "ben~track~2",
                ])
                let ben = try await transport.join("hall", as: "ben")
                await anna.wait(for: .joined("ben"))
                await ben.leave()
                await anna.wait(for: .left("ben", .quit))
            }
            #expect(anna.events.value == [.joined("ben"), .left("ben", .quit)])
            let error = try await engineError {
                _ = try await transport.join("hall", as: "carl~track~2")
            }
            #expect(error?.code == .invalidArgument)
            await first.leave()
        }
    }

    @Test func leavingWaitsForARunningCallback() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let (begun, goOn) = (Happening(), Happening())
            let isOver = Observed(false)
            let anna = RoomReceiver(onEvent: { _ in
                begun.happen()
                blockingWait { await goOn.wait() }
                isOver.change { $0 = true }
            })
            let first = try await transport.join("hall", as: "anna", anna)
            let second = try await transport.join("hall", as: "ben")
            await begun.wait()
            async let leaving: Void = first.leave()
            goOn.happen()
            await leaving
            #expect(isOver.value)
            await second.leave()
        }
    }

    @Test func callbackMayAwaitItsOwnLeave() async throws {
        try await LocalJanus.run { server in
            let transport = try JanusTransport(to: server)
            let member = Observed<(any ChannelMembership)?>(nil)
            let left = Happening()
            let anna = RoomReceiver(onEvent: { _ in
                blockingWait {
                    await member.wait { $0 != nil }
                    await member.value?.leave()
                    left.happen()
                }
            })
            let first = try await transport.join("hall", as: "anna", anna)
            member.change { $0 = first }
            let second = try await transport.join("hall", as: "ben")
            await left.wait()
            await second.leave()
            #expect(anna.events.value == [.joined("ben")])
            member.change { $0 = nil }
        }
    }
}

extension ChannelMembership {
    func send(_ text: String, to user: UserID?) async throws {
        try await send(ChannelMessage(text), to: user)
    }
}
