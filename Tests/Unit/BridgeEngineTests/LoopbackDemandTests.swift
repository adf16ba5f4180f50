import BridgeEngine
import MediaBridgeTesting
import MediaCore
import TestSupport
import Testing

/// The demand of receivers, and how it reaches publishers.
@Suite(.hangGuard, .balanced) struct LoopbackDemandTests {
    /// Records the channel's feedback to a publisher.
    private final class Feedback: PublicationFeedback {
        let words = Observed<[String]>([])
        func keyFrameNeeded() { words.change { $0.append("key frame") } }
        func limitChanged(_ limit: VideoLimit) { words.change { $0.append("\(limit)") } }
        func stateChanged(_ state: PublicationState) { words.change { $0.append("\(state)") } }
    }

    @Test func unwantedTrackIsNotSent() async throws {
        let network = LoopbackNetwork()
        let (ears, feedback) = (Ears(), Feedback())
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", ears, network, wantsAll: false)
        anna.publish(.main, feedback: feedback)
        #expect(anna.send(try frame(1), track: .main) == .accepted)
        ben.membership.setDemand(VideoLimit(), .main, of: "anna")
        #expect(anna.send(try frame(2), track: .main) == .accepted)
        ben.membership.setDemand(nil, .main, of: "anna")
        #expect(anna.send(try frame(3), track: .main) == .accepted)
        await feedback.words.wait { $0.count >= 3 }
        #expect(feedback.words.value == ["paused", "sending", "paused"])
        await anna.leave()
        await ears.hears(.left("anna", .quit))
        #expect(ears.times(from: "anna") == [2])
        #expect(anna.statistics.sent == 3 && anna.statistics.outgoing.offered == 1)
        await ben.leave()
    }

    @Test func demandHoldsBeforeItsTrackAndAfterARejoin() async throws {
        let network = LoopbackNetwork()
        let ears = Ears()
        let ben = try await join("ben", ears, network, wantsAll: false)
        ben.membership.setDemand(VideoLimit(), 3, of: "anna")
        for time in 0..<2 {
            let anna = try await join("anna", Ears(), network)
            for track in [TrackID(3), 4] {
                anna.publish(track)
                #expect(anna.send(try frame(time), track: track) == .accepted)
            }
            await ears.hears(.frame(time, 3, "anna"))
            await anna.leave()
        }
        await ben.leave()
        #expect(ears.times(from: "anna", track: 4).isEmpty)
    }

    /// The limit is the largest requested size. There is none if a receiver accepts any size.
    @Test func publisherReceivesTheHighestDemand() async throws {
        let network = LoopbackNetwork()
        let feedback = Feedback()
        let anna = try await join("anna", Ears(), network)
        anna.publish(.main, feedback: feedback)
        let ben = try await join("ben", Ears(), network, wantsAll: false)
        let cleo = try await join("cleo", Ears(), network, wantsAll: false)
        var demand = VideoLimit()
        demand.size = VideoSize(width: 320, height: 180)
        demand.frameRate = 10
        ben.membership.setDemand(demand, .main, of: "anna")
        demand.size = VideoSize(width: 640, height: 360)
        cleo.membership.setDemand(demand, .main, of: "anna")
        cleo.membership.setDemand(VideoLimit(), .main, of: "anna")
        await cleo.leave()
        await ben.leave()
        await feedback.words.wait { $0.count >= 8 }
        #expect(
            feedback.words.value == [
                "paused", "sending", "320×180, 10.0 fps", "640×360, 10.0 fps", "no limit",
                "320×180, 10.0 fps", "paused", "no limit",
            ])
        await anna.leave()
    }

    @Test func mutedTrackIsRefusedAndReportedToLaterUsers() async throws {
        let network = LoopbackNetwork()
        let (one, other, feedback) = (Ears(), Ears(), Feedback())
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", one, network)
        anna.publish(.main, feedback: feedback)
        anna.mute(true, .main)
        anna.mute(true, .main)
        #expect(anna.send(try frame(1), track: .main) == .dropped(.muted))
        let cleo = try await join("cleo", other, network)
        anna.mute(false, .main)
        #expect(anna.send(try frame(2), track: .main) == .accepted)
        for ears in [one, other] { await ears.hears(.frame(2, .main, "anna")) }
        #expect(
            one.words.filter { $0 != .joined("cleo") } == [
                .joined("anna"), .published(.main, "anna"), .muted(true, .main, "anna"),
                .muted(false, .main, "anna"), .frame(2, .main, "anna"),
            ])
        #expect(
            other.words == [
                .joined("anna"), .published(.main, "anna"), .muted(true, .main, "anna"),
                .joined("ben"), .muted(false, .main, "anna"), .frame(2, .main, "anna"),
            ])
        await feedback.words.wait { $0.count >= 3 }
        #expect(feedback.words.value == ["sending", "paused", "sending"])
        for member in [anna, ben, cleo] { await member.leave() }
    }

    @Test func unitsBeginWithAKeyFrameAfterAPause() async throws {
        let network = LoopbackNetwork()
        let (ears, feedback) = (Ears(), Feedback())
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", ears, network)
        anna.publish(.main, feedback: feedback)
        func send(_ number: UInt8, isKey: Bool) {
            let unit = VideoCodec.h264.unit(isKey: isKey, mark: number)
            #expect(anna.send(unit, track: .main) == .accepted)
        }
        send(1, isKey: true)
        send(2, isKey: false)
        anna.mute(true, .main)
        anna.mute(false, .main)
        send(3, isKey: false)
        await feedback.words.wait { $0.last == "key frame" }
        send(4, isKey: true)
        ben.membership.setDemand(nil, .main, of: "anna")
        ben.membership.setDemand(VideoLimit(), .main, of: "anna")
        send(5, isKey: false)
        send(6, isKey: true)
        await ears.hears(.unit(6, .main, "anna"))
        #expect(ears.words.units("anna") == [1, 2, 4, 6])
        for member in [anna, ben] { await member.leave() }
    }

    @Test func aReceiverCanAskForAKeyFrame() async throws {
        let network = LoopbackNetwork()
        let feedback = Feedback()
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", Ears(), network)
        anna.publish(.main, feedback: feedback)
        // Forwarded at once, but at most twice per second.
        for _ in 0..<10 { ben.membership.requestKeyFrame(.main, of: "anna") }
        ben.membership.requestKeyFrame(7, of: "anna")
        ben.membership.requestKeyFrame(.main, of: "nobody")
        anna.mute(true, .main)
        await feedback.words.wait { $0.last == "paused" }
        #expect(feedback.words.value.prefix(2) == ["sending", "key frame"])
        for member in [anna, ben] { await member.leave() }
    }

    @Test func messagesReachOneOrAllInOrder() async throws {
        let network = LoopbackNetwork()
        let (one, other) = (Ears(), Ears())
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", one, network)
        let cleo = try await join("cleo", other, network)
        for number in 0..<20 {
            let user: UserID? = number % 2 == 0 ? nil : "ben"
            try await anna.membership.send(ChannelMessage("\(number)"), to: user)
        }
        await anna.leave()
        for ears in [one, other] { await ears.hears(.left("anna", .quit)) }
        func heard(_ ears: Ears) -> [String] {
            ears.words.compactMap { if case .message(let text, _) = $0 { text } else { nil } }
        }
        #expect(heard(one) == (0..<20).map { "\($0)" })
        #expect(heard(other) == stride(from: 0, to: 20, by: 2).map { "\($0)" })
        for member in [ben, cleo] { await member.leave() }
    }

    @Test func aMessageThatCannotArriveIsAnError() async throws {
        let network = LoopbackNetwork()
        let anna = try await join("anna", Ears(), network)
        func error(_ message: ChannelMessage, to user: UserID?) async -> EngineError.Code? {
            do throws(EngineError) {
                try await anna.membership.send(message, to: user)
                return nil
            } catch {
                return error.code
            }
        }
        let longest = ChannelMessage(repeatElement(7, count: ChannelMessage.maximumSize))
        #expect(await error(longest, to: nil) == nil)
        #expect(await error(ChannelMessage(longest.bytes + [7]), to: nil) == .invalidArgument)
        #expect(await error(longest, to: "nobody") == .invalidArgument)
        await anna.leave()
        #expect(await error(longest, to: nil) == .notInChannel)
    }
}
