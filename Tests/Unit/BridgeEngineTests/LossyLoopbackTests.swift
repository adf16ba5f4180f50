import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

/// Networks that lose, delay, reorder and disconnect, differently for each seed.
@Suite(.hangGuard, .balanced) struct LossyLoopbackTests {
    private let time = VirtualTimeline()

    /// Lets all units in transit arrive, and waits until the receivers have them.
    private func settle(_ member: Member) async -> ChannelStatistics {
        time.advance(by: .seconds(2))
        return await CountWatch.read(
            within: nil, on: time, isCancellable: true,
            until: { $0.outgoing.waiting + $0.outgoingAudio.waiting == 0 }
        ) { member.statistics }
    }

    private func impairment(_ seed: Int) -> NetworkImpairment {
        var generator = SeededGenerator(seed: UInt64(seed))
        var impairment = NetworkImpairment()
        impairment.seed = UInt64(seed)
        impairment.loss = [0, 0.05, 0.3, 1].randomElement(using: &generator)!
        impairment.resends = Int.random(in: 0...2, using: &generator)
        impairment.delay = .milliseconds(Int.random(in: 0...30, using: &generator))
        impairment.jitter = .milliseconds(Int.random(in: 0...50, using: &generator))
        if Bool.random(using: &generator) {
            impairment.bitRate = Int.random(in: 10_000...1_000_000, using: &generator)
        }
        return impairment
    }

    /// Under any network fault: units stay in order, none arrives without its reference, and every
    /// unit is counted once.
    @Test(arguments: 0..<30)
    func unitsArriveInOrderWithTheirReferences(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed) + 1000)
        let loopback = LoopbackNetwork(timeline: time)
        let network = LossyTransport(loopback, on: time)
        let ears = Ears()
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", ears, network)
        if Bool.random(using: &generator) { network.impair(impairment(seed)) }
        anna.publish(.main)
        for number in 0..<240 {
            let unit = VideoCodec.h264.unit(
                isKey: number % 12 == 0, mark: UInt8(number))
            anna.send(unit, track: .main)
            switch Int.random(in: 0..<60, using: &generator) {
            case 0: loopback.cut("anna", inChannel: "room")
            case 1: loopback.cut("ben", inChannel: "room")
            case 2...4:
                loopback.heal("anna", inChannel: "room")
                loopback.heal("ben", inChannel: "room")
            case 5: network.impair(impairment(seed + number))
            case 6: network.impair(nil)
            case 7: ben.membership.setDemand(nil, .main, of: "anna")
            case 8, 9: ben.membership.setDemand(VideoLimit(), .main, of: "anna")
            case 10: anna.mute(true, .main)
            case 11, 12: anna.mute(false, .main)
            case 13:
                anna.unpublish(.main)
                anna.publish(.main)
            case 14...20: time.advance(by: .milliseconds(2))
            default: continue
            }
        }
        if Bool.random(using: &generator) { anna.unpublish(.main) }
        let frames = await settle(anna).outgoing
        await anna.leave()
        await ben.leave()
        let units = ears.words.units("anna")
        #expect(ears.words.isWellFormed, "seed \(seed)")
        #expect(units == units.sorted() && Set(units).count == units.count, "seed \(seed)")
        for (index, unit) in units.enumerated() where unit % 12 != 0 {
            #expect(index > 0 && units[index - 1] == unit - 1, "seed \(seed): \(units)")
        }
        #expect(units.count == frames.delivered, "seed \(seed)")
        #expect(
            frames.offered == frames.delivered + frames.dropped.total,
            "seed \(seed): \(frames)")
    }

    /// The statistics report the configured loss and jitter.
    @Test func statisticsReportLossAndJitter() async throws {
        let network = LossyTransport(LoopbackNetwork(depth: 10000, timeline: time), on: time)
        var impairment = NetworkImpairment()
        impairment.loss = 0.1
        impairment.jitter = .milliseconds(40)
        network.impair(impairment)
        let ears = Ears()
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", ears, network)
        anna.publish(.main)
        for time in 0..<2000 { anna.send(try frame(time), track: .main) }
        let statistics = await settle(anna)
        let frames = statistics.outgoing
        // Binomial: 200, with a deviation of 13.
        #expect((120...280).contains(frames.dropped[.lost]))
        #expect(frames.offered == 2000 && frames.dropped[.evicted] == 0)
        await ears.hears { $0.times("anna").count == frames.delivered }
        let times = ears.times(from: "anna")
        #expect(times == times.sorted() && times.count == 2000 - frames.dropped[.lost])
        #expect(try #require(ben.statistics.jitter["anna"]) > .zero)
        await anna.leave()
        await ben.leave()
    }

    /// Units beyond the bit rate are lost, and the publisher gets the available bit rate.
    @Test func narrowNetworkReportsItsBitRateToThePublisher() async throws {
        final class Feedback: PublicationFeedback {
            let limit = Observed<VideoLimit?>(nil)
            func limitChanged(_ limit: VideoLimit) { self.limit.change { $0 = limit } }
        }
        let network = LossyTransport(LoopbackNetwork(timeline: time), on: time)
        let feedback = Feedback()
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", Ears(), network)
        anna.publish(.main, feedback: feedback)
        var impairment = NetworkImpairment()
        impairment.bitRate = 100_000
        network.impair(impairment)
        await feedback.limit.wait { $0?.bitRate == 90_000 }
        // 300 ms of 100 kbit/s are 3750 bytes.
        for number in 0..<20 {
            var unit = VideoCodec.h264.unit(isKey: true, mark: UInt8(number))
            unit.bytes += [UInt8](repeating: 7, count: 1000)
            anna.send(unit, track: .main)
        }
        // Each unit takes 81 ms, so the fifth would wait too long.
        #expect(anna.statistics.outgoing.dropped[.lost] == 16)
        network.impair(nil)
        await feedback.limit.wait { $0 == VideoLimit() }
        await anna.leave()
        await ben.leave()
    }

    /// Audio passes the same network.
    @Test(arguments: 0..<5)
    func audioArrivesInOrder(_ seed: Int) async throws {
        final class Listener: ChannelReceiver {
            let times = Mutex<[MediaTime]>([])
            func receive(
                _ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID
            ) {
                guard case .samples(let frame) = media else { return }
                let time = frame.runningTime ?? .zero
                times.withLock { $0.append(time) }
            }
        }
        let network = LossyTransport(LoopbackNetwork(timeline: time), on: time)
        network.impair(impairment(seed))
        let listener = Listener()
        let anna = try await join("anna", Ears(), network)
        let ben = try await join("ben", listener, network)
        let audio = anna.membership.publishAudio()
        let format = AudioFormat(.s16le, sampleRate: 48000, channels: 1)
        for number in 0..<90 {
            let frame = try AudioFrame(
                silence: format, sampleCount: 480,
                runningTime: MediaTime(nanoseconds: Int64(number) * 10_000_000))
            #expect(audio.send(frame) == .accepted)
        }
        let frames = await settle(anna).outgoingAudio
        await anna.leave()
        await ben.leave()
        let times = listener.times.withLock { $0 }
        #expect(times == times.sorted() && times.count == frames.delivered, "seed \(seed)")
        #expect(
            frames.offered == 90
                && frames.offered == frames.delivered + frames.dropped[.lost]
                    + frames.dropped[.evicted]
        )
    }
}
