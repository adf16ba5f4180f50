import BridgeEngine
import Testing

@testable import MediaBridgeJanus

extension MembershipEvent: Equatable {
    static func == (a: Self, b: Self) -> Bool { "\(a)" == "\(b)" }

    static func published(_ track: TrackID, _ user: UserID) -> Self {
        .published(.video(track), by: user)
    }
    static func unpublished(_ track: TrackID, _ user: UserID) -> Self {
        .unpublished(.video(track), by: user)
    }
    static func muted(_ isMuted: Bool, _ track: TrackID, _ user: UserID) -> Self {
        .muted(isMuted, .video(track), by: user)
    }
    static func audioPublished(_ user: UserID) -> Self { .published(.audio, by: user) }
    static func audioUnpublished(_ user: UserID) -> Self { .unpublished(.audio, by: user) }
    static func audioMuted(_ isMuted: Bool, _ user: UserID) -> Self {
        .muted(isMuted, .audio, by: user)
    }
}

/// How the server's notifications become callbacks of the receiver.
struct DirectoryTests {
    private func publisher(
        _ id: String, video: String? = nil, audio: String? = nil
    ) throws -> VideoRoomData.Participant {
        var streams: [String] = []
        if let video {
            streams.append(#"{"type":"video","mid":"v","description":"\#(video)"}"#)
        }
        if let audio {
            streams.append(#"{"type":"audio","mid":"a","description":"\#(audio)"}"#)
        }
        let text =
            #"{"janus":"event","plugindata":{"data":{"videoroom":"event","publishers":[{"id":"\#(id)","streams":[\#(streams.joined(separator: ","))]}]}}}"#
        let message = try #require(JanusMessage([UInt8](text.utf8)))
        return try #require(message.plugindata?.data?.publishers?.first)
    }

    private func directory(
        _ participants: VideoRoomData.Participant...
    ) -> Directory {
        var directory = Directory(own: "anna")
        directory.add(participants)
        _ = directory.settle()
        return directory
    }

    @Test func publishedTracksAreReportedWithTheirMuteState() throws {
        var directory = Directory(own: "anna")
        directory.add([
            try publisher("ben", video: "", audio: "muted"), try publisher("anna", video: ""),
            try publisher("ben~track~2", video: "muted"), try publisher("anna~track~1", video: ""),
        ])
        #expect(
            directory.settle() == [
                .joined("ben"), .published(0, "ben"), .published(2, "ben"), .muted(true, 2, "ben"),
                .audioPublished("ben"), .audioMuted(true, "ben"),
            ])
        directory.add([try publisher("ben", video: "muted", audio: "off")])
        #expect(directory.settle() == [.muted(true, 0, "ben"), .audioUnpublished("ben")])
        directory.add([try publisher("ben", video: "off", audio: "")])
        #expect(directory.settle() == [.unpublished(0, "ben"), .audioPublished("ben")])
        directory.unpublish("ben~track~2")
        #expect(directory.settle() == [.unpublished(2, "ben")])
        #expect(directory.settle().isEmpty)
    }

    @Test func reasonForLeavingIsReported() throws {
        var quit = directory(try publisher("ben"))
        quit.note(departing: "ben")
        #expect(quit.remove("ben") == nil)
        #expect(quit.settle() == [.left("ben", .quit)])

        var kicked = directory(try publisher("ben"))
        #expect(kicked.remove("ben", isKicked: true) == nil)
        #expect(kicked.settle() == [.left("ben", .kicked)])

        var dropped = directory(try publisher("ben", video: ""))
        dropped.unpublish("ben")
        #expect(dropped.settle() == [.unpublished(0, "ben")])
        #expect(dropped.remove("ben") == "ben")
        #expect(dropped.settle().isEmpty)
        dropped.giveUp("ben")
        #expect(dropped.settle() == [.left("ben", .dropped)])

        // Janus reports the kick after the connection that it closed.
        var late = directory(try publisher("ben", video: ""))
        late.unpublish("ben")
        #expect(late.settle() == [.unpublished(0, "ben")])
        #expect(late.remove("ben") == "ben")
        #expect(late.settle().isEmpty)
        #expect(late.remove("ben", isKicked: true) == nil)
        #expect(late.settle() == [.left("ben", .kicked)])
    }

    @Test func reconnectedUserHasNotLeft() throws {
        var directory = directory(try publisher("ben", video: "", audio: ""))
        directory.unpublish("ben")
        #expect(directory.settle() == [.unpublished(0, "ben"), .audioUnpublished("ben")])
        #expect(directory.remove("ben") == "ben")
        #expect(directory.settle().isEmpty && directory.contains("ben"))
        directory.add([try publisher("ben", video: "", audio: "")])
        directory.giveUp("ben")
        #expect(directory.settle() == [.published(0, "ben"), .audioPublished("ben")])
    }

    @Test func missingUsersAreAwaitedAfterAnInterruption() throws {
        var directory = directory(
            try publisher("ben", video: ""), try publisher("carl", video: "", audio: ""),
            try publisher("dora"))
        directory.reset()
        // Ben is back without his track; Carl is not back yet.
        directory.add([try publisher("ben"), try publisher("dora")])
        #expect(directory.settle().isEmpty)
        #expect(directory.contains("carl"))
        directory.add([try publisher("ben", video: "muted")])
        #expect(directory.settle() == [.muted(true, 0, "ben")])
        // Later changes are reported at once.
        directory.unpublish("ben")
        #expect(directory.remove("dora") == "dora")
        #expect(directory.settle() == [.unpublished(0, "ben")])
        directory.giveUpMissing()
        #expect(directory.settle() == [.left("carl", .dropped), .left("dora", .dropped)])
    }

    @Test func unknownUsersAreIgnored() {
        var directory = directory()
        directory.unpublish("nobody")
        #expect(directory.remove("nobody") == nil)
        #expect(directory.remove("") == nil)
        directory.note(departing: "nobody")
        #expect(directory.settle().isEmpty)
    }

    @Test(arguments: [
        ("ben", "ben", 0), ("ben~track~3", "ben", 3), ("ben~track~0", "ben~track~0", 0),
        ("ben~track~-1", "ben~track~-1", 0), ("ben~track~03", "ben~track~03", 0),
        ("~track~3", "~track~3", 0), ("a~track~1~track~2", "a~track~1", 2),
        ("ben~track~99999999999999999999", "ben~track~99999999999999999999", 0),
    ])
    func idsSurviveARoundTripThroughText(text: String, user: String, track: Int) {
        let id = FeedID(text)
        #expect(id.user.name == user)
        #expect(id.track.number == track)
        #expect(id.description == text)
    }

    @Test func noticesSurviveARoundTripThroughText() {
        let stamp = Notice.Stamp(sender: 7, number: 3)
        for notice in [
            Notice.goodbye, .message(ChannelMessage("hé\nllo"), to: nil, stamp),
            .message(ChannelMessage([0, 255]), to: "a b", stamp),
            .message(ChannelMessage([]), to: "*", stamp),
        ] {
            #expect(Notice(notice.text) == notice)
        }
        let long = Notice.message(
            ChannelMessage(repeatElement(0, count: 16385)), to: nil, stamp)
        for text in [
            "", "anna", "mediabridge/1", "mediabridge/1 message", "mediabridge/1 message 1 2 * !",
            "mediabridge/1 message x 2 * aa==", "mediabridge/2 goodbye", long.text,
        ] {
            #expect(Notice(text) == nil)
        }
    }
}
