import BridgeEngine
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

@Suite(.hangGuard, .balanced) struct LoopbackTests {
    let network = LoopbackNetwork()

    func join(
        _ user: UserID, _ channel: String = "room", _ ears: Ears
    ) async throws -> Member {
        let member = try await network.enter(
            ChannelRequest(channel: channel, userID: user), receiver: ears)
        BalanceBook.current?.add(member.membership)
        return member
    }

    @Test func joiningUserAndPresentUsersSeeEachOther() async throws {
        let (first, second, third) = (Ears(), Ears(), Ears())
        let anna = try await join("anna", "room", first)
        anna.publish(.main)
        anna.publish(7)
        let ben = try await join("ben", "room", second)
        let cleo = try await join("cleo", "room", third)
        await third.hears(.joined("ben"))
        await second.hears(.joined("cleo"))
        await first.hears(.joined("cleo"))
        let annas: [Ears.Word] = [
            .joined("anna"), .published(.main, "anna"), .published(7, "anna"),
        ]
        #expect(third.words == annas + [.joined("ben")])
        #expect(second.words == annas + [.joined("cleo")])
        #expect(first.words == [.joined("ben"), .joined("cleo")])
        for member in [anna, ben, cleo] { await member.leave() }
    }

    @Test func frameReachesAllOtherUsersAsTheSameObject() async throws {
        let (sender, one, other) = (Ears(), Ears(), Ears())
        let anna = try await join("anna", "room", sender)
        let ben = try await join("ben", "room", one)
        let cleo = try await join("cleo", "room", other)
        anna.publish(.main)
        var picture = try frame(40)
        picture.metadata = ["note": "kept"]
        picture.liveTiming = LiveTiming(clockOrigin: MediaTime(nanoseconds: 5), latency: .zero)
        let address = try picture.address()
        #expect(anna.send(picture, track: .main) == .accepted)
        for ears in [one, other] {
            await ears.hears(.frame(40, .main, "anna"))
            let got = try #require(ears.frames.first)
            #expect(got.storage === picture.storage)
            #expect(try got.address() == address)
            #expect(got.metadata == picture.metadata && got.liveTiming == picture.liveTiming)
        }
        for member in [anna, ben, cleo] { await member.leave() }
        #expect(sender.frames.isEmpty)
    }

    @Test func userIDIsUniqueInAChannel() async throws {
        let anna = try await join("anna", "room", Ears())
        let request = ChannelRequest(channel: "room", userID: "anna")
        #expect(await joinError(network, request) == .userIDTaken)
        let elsewhere = ChannelRequest(channel: "attic", userID: "anna")
        #expect(await joinError(network, elsewhere) == nil)
        await anna.leave()
        #expect(await joinError(network, request) == nil)
        #expect(network.channelNames.isEmpty)
    }

    @Test func channelAndUserNeedNames() async throws {
        #expect(
            await joinError(network, ChannelRequest(channel: "", userID: "anna"))
                == .invalidArgument)
        #expect(
            await joinError(network, ChannelRequest(channel: "room", userID: ""))
                == .invalidArgument)
        #expect(network.channelNames.isEmpty)
    }

    @Test func cancelledTaskDoesNotJoin() async throws {
        let join = Task { [network] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await joinError(network, ChannelRequest(channel: "room", userID: "anna"))
        }
        #expect(await join.value == .disconnected)
        #expect(network.channelNames.isEmpty)
    }

    @Test func twoChannelsAndTwoNetworksAreSeparate() async throws {
        let (room, attic, elsewhere) = (Ears(), Ears(), Ears())
        let other = LoopbackNetwork()
        let anna = try await join("anna", "room", room)
        let ben = try await join("ben", "attic", attic)
        let cleo = try await other.enter(
            ChannelRequest(channel: "room", userID: "cleo"), receiver: elsewhere)
        #expect(Set(network.channelNames) == ["room", "attic"])
        for member in [anna, ben, cleo] {
            member.publish(.main)
            #expect(member.send(try frame(), track: .main) == .accepted)
        }
        for member in [anna, ben, cleo] { await member.leave() }
        #expect(room.words.isEmpty && attic.words.isEmpty && elsewhere.words.isEmpty)
        #expect(network.channelNames.isEmpty && other.channelNames.isEmpty)
    }

    @Test func tracksAreReportedOnceAndCarryFramesWhilePublished() async throws {
        let ears = Ears()
        let anna = try await join("anna", "room", Ears())
        let ben = try await join("ben", "room", ears)
        #expect(anna.send(try frame(1), track: 3) == .dropped(.notStarted))
        anna.publish(3)
        anna.publish(3)
        #expect(anna.send(try frame(2), track: 3) == .accepted)
        anna.unpublish(3)
        anna.unpublish(3)
        #expect(anna.send(try frame(3), track: 3) == .dropped(.notStarted))
        anna.publish(3)
        await anna.leave()
        await ears.hears(.left("anna", .quit))
        #expect(
            ears.words == [
                .joined("anna"), .published(3, "anna"), .frame(2, 3, "anna"),
                .unpublished(3, "anna"), .published(3, "anna"), .left("anna", .quit),
            ])
        await ben.leave()
    }

    @Test func onlyUserSendsToNoReceiver() async throws {
        let anna = try await join("anna", "room", Ears())
        anna.publish(.main)
        #expect(anna.send(try frame(), track: .main) == .accepted)
        #expect(anna.statistics.sent == 1 && anna.statistics.outgoing.offered == 0)
        await anna.leave()
    }

    @Test func everythingArrivesInSendingOrder() async throws {
        let network = LoopbackNetwork(depth: 1000)
        let ears = Ears()
        let anna = try await network.enter(
            ChannelRequest(channel: "room", userID: "anna"), receiver: Ears())
        let ben = try await network.enter(
            ChannelRequest(channel: "room", userID: "ben"), receiver: ears)
        var expected: [Ears.Word] = [.joined("anna")]
        for index in 0..<300 {
            let track = TrackID(index % 3)
            anna.publish(track)
            anna.send(try frame(index), track: track)
            anna.unpublish(track)
            expected += [
                .published(track, "anna"), .frame(index, track, "anna"),
                .unpublished(track, "anna"),
            ]
        }
        await anna.leave()
        expected.append(.left("anna", .quit))
        await ears.hears(.left("anna", .quit))
        #expect(ears.words == expected)
        await ben.leave()
    }
}
