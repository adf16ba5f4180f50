import Dispatch
import MediaBasics
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Access units in, raw frames out.
@Suite(.hangGuard) struct DecoderTests {
    private static let codecs = EncodedUnits.codecs
    /// The queue on which units wait for the decoder.
    private let queue = SerialQueue(label: "test.decoder")

    private func decoder(
        _ codec: VideoCodec, to receiver: Receiver
    ) async throws -> PipelineDecoder {
        let decoder = try await onControl {
            try GStreamerBackend().makeDecoder(codec, to: receiver)
        }
        return try #require(decoder as? PipelineDecoder)
    }

    /// Feeds units one by one, each when the decoder has room.
    private func feed(
        _ decoder: PipelineDecoder, _ units: some Sequence<EncodedVideoFrame>
    ) async -> [FrameDisposition] {
        var results: [FrameDisposition] = []
        for unit in units {
            results.append(await queue.value { decoder.decodeWaiting(unit) })
        }
        return results
    }

    /// Waits until the decoder may accept a unit that it refused, for a second at most.
    private func change(of decoder: PipelineDecoder) async {
        _ = await queue.value { decoder.room.wait(for: .seconds(1)) }
    }

    /// Feeds a stream once its first unit is accepted, because a failed pipeline has to restart
    /// first.
    ///
    /// - Returns: The number of units that were accepted.
    private func begin(
        _ decoder: PipelineDecoder, _ units: ArraySlice<EncodedVideoFrame>
    ) async -> Int {
        while await feed(decoder, units.prefix(1)) != [.accepted], !Task.isCancelled {
            await change(of: decoder)
        }
        return await feed(decoder, units.dropFirst()).count { $0 == .accepted } + 1
    }

    @Test(arguments: codecs)
    func everyUnitIsDecodedWithItsTimesAndRotation(
        codec: VideoCodec
    ) async throws {
        var units = try await EncodedUnits.make(codec, 30)
        #expect(units.count == 30)
        // The program's own clock, with odd steps and times before zero.
        for (index, place) in units.indices.enumerated() {
            units[place].runningTime = MediaTime(
                nanoseconds: Int64(index) * 33_333_337 - 100_000_001)
            units[place].rotation = VideoRotation.allCases[index % 4]
            if index > 20 {
                units[place].liveTiming = LiveTiming(
                    clockOrigin: MediaTime(seconds: 7), latency: MediaTime(seconds: 0.04))
            }
        }
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        let results = await feed(decoder, units)
        #expect(results.allSatisfy { $0 == .accepted })
        await receiver.wait { $0.frames.count >= 30 }
        try await onControl { decoder.stop() }
        #expect(receiver.times == units.map(\.runningTime))
        #expect(receiver.frames.map(\.rotation) == units.map(\.rotation))
        #expect(receiver.frames.allSatisfy { $0.width == 64 && $0.height == 48 })
        #expect(receiver.frames.map(\.liveTiming) == units.map(\.liveTiming))
        #expect(receiver.frames.allSatisfy { $0.duration == nil })
        #expect(decoder.lostUnits == 0 && receiver.endings == 0)
        // The frames are different pictures.
        #expect(Set(try receiver.frames.map { try $0.rows[0] }).count > 20)
    }

    @Test(arguments: codecs)
    func frameIsDecodedBeforeTheNextUnitArrives(codec: VideoCodec) async throws {
        let units = try await EncodedUnits.make(codec, 5)
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        for (index, unit) in units.enumerated() {
            #expect(decoder.decode(unit) == .accepted)
            await receiver.wait { $0.frames.count > index }
        }
        try await onControl { decoder.stop() }
    }

    @Test func reorderedFramesKeepTheTimesOfTheirUnits() async throws {
        let units = try await EncodedUnits.h264(
            40, settings: "bframes=3 b-adapt=false key-int-max=40")
        let times = units.compactMap(\.runningTime)
        #expect(times != times.sorted(), "there are B-frames")
        let receiver = Receiver()
        let decoder = try await decoder(.h264, to: receiver)
        #expect(await feed(decoder, units).allSatisfy { $0 == .accepted })
        try await onControl { decoder.drain() }
        #expect(receiver.times == times.sorted())
        // A drained decoder accepts the next stream.
        #expect(await feed(decoder, units).allSatisfy { $0 == .accepted })
        try await onControl { decoder.drain() }
        #expect(receiver.times == times.sorted() + times.sorted())
        try await onControl { decoder.stop() }
        #expect(decoder.lostUnits == 0)
    }

    @Test(arguments: codecs)
    func invalidUnitsAreRefusedWithoutSideEffects(codec: VideoCodec) async throws {
        let units = try await EncodedUnits.make(codec, 20)
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        let garbage: [[UInt8]] = [
            [], [0], [0, 0, 0, 1], [0, 0, 1], [0xff, 0xd8], Array("no picture at all".utf8),
            [UInt8](repeating: 0, count: 4096), [UInt8](repeating: 0xff, count: 4096),
            [0, 0, 0, 1, 0x80, 1, 2, 3],
        ]
        for (index, unit) in units.enumerated() {
            let bytes = garbage[index % garbage.count]
            let refused = decoder.decode(EncodedVideoFrame(codec, bytes: bytes, runningTime: .zero))
            #expect(refused == .dropped(.undecodable), "\(bytes.prefix(20))")
            #expect(await feed(decoder, [unit]) == [.accepted])
        }
        await receiver.wait { $0.frames.count >= 20 }
        #expect(receiver.times == units.map(\.runningTime))
        #expect(receiver.endings == 0)
        try await onControl { decoder.stop() }
    }

    @Test(arguments: codecs)
    func damagedUnitsLoseOnlyTheirOwnFrames(codec: VideoCodec) async throws {
        var units = try await EncodedUnits.make(codec, 40)
        // Damages the payload of the second ten units. Frames from the next keyframe on are intact.
        for place in 10..<20 {
            let middle = units[place].bytes.count / 3
            for index in stride(from: middle, to: units[place].bytes.count, by: 3) {
                units[place].bytes[index] = UInt8(truncatingIfNeeded: index &* 7 &+ place)
            }
        }
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        var taken = await feed(decoder, units[..<20]).count { $0 == .accepted }
        try await onControl { decoder.drain() }
        let next = try #require(units[20...].firstIndex { $0.isKeyFrame })
        taken += await begin(decoder, units[next...])
        try await onControl { decoder.drain() }
        let times = receiver.times.compactMap { $0 }
        #expect(times == times.sorted())
        for unit in units[next...] {
            #expect(
                times.contains { $0 == unit.runningTime }, "\(unit.runningTime?.description ?? "")")
        }
        #expect(receiver.endings == 0)
        try await onControl { decoder.stop() }
        #expect(receiver.frames.count + decoder.lostUnits == taken + decoder.pictureSurplus)
    }

    @Test func decoderDoesNotWaitForAUnitWithoutAFrame() async throws {
        let units = try await EncodedUnits.make(.h264, 3)
        let parameters = EncodedVideoFrame(
            .h264, bytes: [0, 0, 0, 1, 0x09, 0x10], runningTime: .zero)
        let receiver = Receiver()
        let decoder = try await decoder(.h264, to: receiver)
        let taken = await feed(decoder, [units[0], parameters, units[1], units[2]])
        #expect(taken.allSatisfy { $0 == .accepted })
        await receiver.wait { $0.frames.count >= 3 }
        #expect(decoder.pictureSurplus == -1 && decoder.lostUnits == 0)
        try await onControl { decoder.stop() }
        #expect(receiver.frames.count == 3 && decoder.lostUnits == 0)
    }

    @Test(arguments: codecs, [1, 2, 3])
    func invalidBytesDoNotCrashOrEndADecoder(codec: VideoCodec, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let units = try await EncodedUnits.make(codec, 20)
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        // A decoder that has never delivered a frame may give up.
        #expect(await feed(decoder, units[..<1]) == [.accepted])
        await receiver.wait { $0.frames.count >= 1 }
        var taken = 1
        for round in 0..<150 {
            var unit = units[round % 20]
            // Overwrites a few bytes anywhere, most of them in the headers.
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let reach = Bool.random(using: &generator) ? 24 : unit.bytes.count
                let place = Int.random(in: 0..<min(reach, unit.bytes.count), using: &generator)
                unit.bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            }
            if round.isMultiple(of: 7) {
                let half = unit.bytes.count / 2
                unit.bytes.removeLast(Int.random(in: 0...half, using: &generator))
            }
            taken += await feed(decoder, [unit]).count { $0 == .accepted }
        }
        try await onControl { decoder.drain() }
        #expect(taken > 1 && receiver.failure == nil)
        // Afterwards, a good stream is decoded.
        taken += await begin(decoder, units[...])
        try await onControl { decoder.drain() }
        #expect(receiver.frames.last?.runningTime == units.last?.runningTime)
        try await onControl { decoder.stop() }
        #expect(receiver.frames.count + decoder.lostUnits == taken + decoder.pictureSurplus)
    }

    @Test(arguments: codecs)
    func restartedDecoderWaitsForAKeyframe(codec: VideoCodec) async throws {
        let units = try await EncodedUnits.make(codec, 30)
        let key = try #require(units[20...].firstIndex { $0.isKeyFrame })
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        #expect(await feed(decoder, units[..<1]) == [.accepted])
        try await onControl { decoder.drain() }
        for unit in units[1..<key] where !unit.isKeyFrame {
            #expect(decoder.decode(unit) == .dropped(.needsKeyFrame))
        }
        #expect(await feed(decoder, units[key...]).allSatisfy { $0 == .accepted })
        try await onControl { decoder.drain() }
        #expect(receiver.times == ([units[0]] + units[key...]).map(\.runningTime))
        #expect(receiver.failure == nil && decoder.lostUnits == 0)
        try await onControl { decoder.stop() }
    }

    @Test(arguments: codecs)
    func aStreamMayChangeItsSize(codec: VideoCodec) async throws {
        let small = try await EncodedUnits.make(codec, 5)
        let large = try await EncodedUnits.make(codec, 5, size: "98x66")
        let receiver = Receiver()
        let decoder = try await decoder(codec, to: receiver)
        for units in [small, large, small] {
            #expect(await feed(decoder, units).allSatisfy { $0 == .accepted })
        }
        await receiver.wait { $0.frames.count >= 15 }
        let widths = receiver.frames.map(\.width)
        let expected = [64, 98, 64].flatMap { [Int](repeating: $0, count: 5) }
        #expect(widths == expected)
        try await onControl { decoder.stop() }
    }

    @Test(arguments: codecs)
    func slowConsumerFillsTheQueueWithoutBlocking(
        codec: VideoCodec
    ) async throws {
        let units = try await EncodedUnits.make(codec, 60)
        let door = Door()
        let receiver = Receiver { _ in door.pass() }
        let decoder = try await decoder(codec, to: receiver)
        let results = units.map { decoder.decode($0) }
        let refused = results.count { $0 == .dropped(.queueFull) }
        let taken = results.count { $0 == .accepted }
        #expect(refused > 0 && taken + refused == 60)
        #expect(taken >= PipelineDecoder.depth)
        door.open()
        await receiver.wait { $0.frames.count >= min(taken, 1) }
        try await onControl { decoder.stop() }
    }

    @Test func pipelineErrorRestartsTheDecoder() async throws {
        let units = try await EncodedUnits.mjpeg(40)
        let receiver = Receiver()
        // Fails on every fifth unit.
        let decoder = try await onControl {
            try PipelineDecoder(.mjpeg, elements: "identity error-after=5 ! jpegdec", to: receiver)
        }
        for (index, unit) in units.enumerated() {
            #expect(await begin(decoder, [unit]) == 1)
            let lost = (index + 1) / 5
            if index % 5 == 4 {
                // The restart counts the unit as lost, and then sends the signal.
                while decoder.lostUnits < lost, !Task.isCancelled { await change(of: decoder) }
            } else {
                await receiver.wait { $0.frames.count == index + 1 - lost }
            }
        }
        #expect(receiver.frames.count == 32 && decoder.lostUnits == 8)
        let expected = units.enumerated().filter { $0.offset % 5 != 4 }.map(\.element.runningTime)
        #expect(receiver.times == expected)
        #expect(receiver.endings == 0)
        try await onControl { decoder.stop() }
    }

    @Test func permanentDecoderFailureIsReportedOnce() async throws {
        let units = try await EncodedUnits.mjpeg(1)
        let receiver = Receiver()
        let decoder = try await onControl {
            try PipelineDecoder(.mjpeg, elements: "identity error-after=1 ! jpegdec", to: receiver)
        }
        while decoder.decode(units[0]) != .dropped(.closed) { await change(of: decoder) }
        await receiver.wait { $0.endings > 0 }
        #expect(receiver.failure?.element?.contains("identity") == true)
        try await onControl { decoder.stop() }
        #expect(receiver.endings == 1 && receiver.frames.isEmpty)
    }

    @Test func missingDecoderIsReportedWithItsPackage() {
        let error = #expect(throws: PipelineError.self) {
            _ = try PipelineDecoder(.vp8, elements: "avdec_nosuch", to: Receiver())
        }
        #expect(error?.code == .missingElement)
        #expect(error?.advice?.contains("gstreamer1.0-libav") == true)
    }

    @Test func aUnitOfAnotherCodecIsRefused() async throws {
        let decoder = try await decoder(.vp8, to: Receiver())
        let unit = EncodedVideoFrame(.mjpeg, bytes: [0xff, 0xd8, 0xff, 0xe0], runningTime: .zero)
        #expect(decoder.decode(unit) == .dropped(.wrongBufferType))
        try await onControl { decoder.stop() }
    }

    @Test func stoppedDecoderAcceptsAndDeliversNothing() async throws {
        let units = try await EncodedUnits.mjpeg(10)
        let receiver = Receiver()
        let decoder = try await decoder(.mjpeg, to: receiver)
        for unit in units { _ = decoder.decode(unit) }
        try await onControl {
            decoder.stop()
            decoder.stop()
            decoder.drain()
        }
        let count = receiver.frames.count
        #expect(decoder.decode(units[0]) == .dropped(.closed))
        #expect(receiver.frames.count == count && receiver.endings == 0)
        #expect(count + decoder.lostUnits == 10, "each became a picture or is counted")
    }

    @Test func unitDecodedDuringTheStopIsLost() async throws {
        let ledger = try PendingAccessUnits(reordering: 0)
        let receiver = Receiver()
        let pictures = DecodedPictures(ledger, to: receiver)
        for unit in try await EncodedUnits.mjpeg(2) {
            guard var buffer = Buffer.copying(unit.bytes) else {
                Issue.record("no memory")
                return
            }
            ledger.enter(unit, givesPicture: true, in: &buffer)
            let number = buffer.presentationTime.map { MediaTime($0) }
            _ = pictures.receive(
                try VideoFrame(
                    VideoFormat(.i420, width: 16, height: 16), runningTime: number))
            pictures.close()
        }
        ledger.countPendingAsLost()
        #expect(receiver.frames.count == 1 && ledger.lost == 1)
    }

    @Test func parameterSetsAloneAreAcceptedAndYieldNoFrame() async throws {
        let units = try await EncodedUnits.h264(3)
        // The bytes before the first slice.
        let bytes = units[0].bytes
        let slice = try #require(
            bytes.indices.first {
                $0 + 3 < bytes.count && bytes[$0...].starts(with: [0, 0, 1])
                    && (1...5).contains(bytes[$0 + 3] & 0x1f)
            })
        var sets = Array(bytes[..<slice])
        while sets.last == 0 { sets.removeLast() }
        let receiver = Receiver()
        let decoder = try await decoder(.h264, to: receiver)
        #expect(
            decoder.decode(EncodedVideoFrame(.h264, bytes: sets, runningTime: nil)) == .accepted)
        var first = units[0]
        first.bytes = [0] + Array(bytes[slice...])
        #expect(await feed(decoder, [first] + units[1...]).allSatisfy { $0 == .accepted })
        await receiver.wait { $0.frames.count >= 3 }
        #expect(receiver.times == units.map(\.runningTime))
        try await onControl { decoder.stop() }
        #expect(decoder.lostUnits == 0)
    }

    @Test func unitWithoutATimestampGetsTheClockTime() async throws {
        var units = try await EncodedUnits.mjpeg(1)
        units[0].runningTime = nil
        let receiver = Receiver()
        let before = GStreamerBackend().clockTime()
        let decoder = try await decoder(.mjpeg, to: receiver)
        #expect(decoder.decode(units[0]) == .accepted)
        await receiver.wait { !$0.frames.isEmpty }
        let time = try #require(receiver.frames[0].runningTime)
        #expect(time >= before && time <= GStreamerBackend().clockTime())
        try await onControl { decoder.stop() }
    }

    @Test func unreferencedDecoderIsDeallocated() async throws {
        let units = try await EncodedUnits.mjpeg(2)
        final class Viewer: VideoFrameConsumer {
            let isGone: Happening
            init(_ isGone: Happening) { self.isGone = isGone }
            deinit { isGone.happen() }
            func consume(_ frame: consuming VideoFrame) -> FrameDisposition { .accepted }
        }
        let isGone = Happening()
        do {
            let decoder = try await onControl { try PipelineDecoder(.mjpeg, to: Viewer(isGone)) }
            #expect(decoder.decode(units[0]) == .accepted)
        }
        await isGone.wait()
    }
}

/// Blocks callers until it is open.
final class Door: Sendable {
    private let isOpen = Mutex(false)
    private let waiting = DispatchSemaphore(value: 0)

    func pass() {
        guard !isOpen.withLock({ $0 }) else { return }
        waiting.wait()
        waiting.signal()
    }
    func open() {
        isOpen.withLock { $0 = true }
        waiting.signal()
    }
}
