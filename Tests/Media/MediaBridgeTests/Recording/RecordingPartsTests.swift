import GStreamerKit
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// The parts of a recorder in isolation.
@Suite struct RecordingPartsTests {
    private func unit(
        _ stream: RecordedStream, _ seconds: Double, isKey: Bool = true, isCopy: Bool = false,
        bytes: Int = 10, arrival: Duration = .zero
    ) throws -> EncodedUnit {
        guard let buffer = Buffer.copying([UInt8](repeating: 0, count: bytes)) else {
            throw FrameError(.outOfMemory, "no memory")
        }
        return EncodedUnit(
            stream, buffer, caps: try Caps("video/x-test"), time: MediaTime(seconds: seconds),
            isFirst: false, isKey: isKey, isCopy: isCopy, arrival: arrival)
    }

    private func drain(_ interleaver: inout Interleaver) -> [Double] {
        var times: [Double] = []
        while let next = interleaver.next(now: .zero) { times.append(next.unit.time.seconds) }
        return times
    }

    @Test func unitsAreInterleavedInTimestampOrder() throws {
        try GStreamer.initialize()
        var interleaver = Interleaver([.video, .audio])
        interleaver.begin(.video, generation: 1)
        interleaver.begin(.audio, generation: 2)
        for time in [0.0, 0.04, 0.08] { interleaver.add(try unit(.video, time), generation: 1) }
        #expect(drain(&interleaver) == [])
        for time in [0.01, 0.03] { interleaver.add(try unit(.audio, time), generation: 2) }
        #expect(drain(&interleaver) == [0, 0.01, 0.03])
        interleaver.end(.audio, generation: 2)
        #expect(drain(&interleaver) == [])
        interleaver.endTrack(.audio)
        #expect(drain(&interleaver) == [0.04, 0.08])
        #expect(!interleaver.isOver)
        interleaver.end(.video, generation: 1)
        interleaver.endTrack(.video)
        #expect(interleaver.isOver)
    }

    @Test func audioFarAheadOfTheVideoKeepsItsOrder() throws {
        try GStreamer.initialize()
        var interleaver = Interleaver([.video, .audio])
        interleaver.begin(.video, generation: 1)
        interleaver.begin(.audio, generation: 2)
        let audio = (0..<40_000).map { Double($0) / 50 }
        for time in audio { interleaver.add(try unit(.audio, time), generation: 2) }
        var times: [Double] = []
        for time in stride(from: 0.01, to: 801, by: 1) {
            interleaver.add(try unit(.video, time), generation: 1)
            times += drain(&interleaver)
        }
        #expect(times.count > audio.count && times == times.sorted())
    }

    @Test func waitingUnitsAreBounded() throws {
        try GStreamer.initialize()
        var interleaver = Interleaver([.video, .audio])
        interleaver.begin(.video, generation: 1)
        interleaver.begin(.audio, generation: 2)
        for index in 0..<63 {
            interleaver.add(try unit(.video, Double(index), bytes: 999_000), generation: 1)
        }
        #expect(drain(&interleaver) == [])
        for index in 63..<66 {
            interleaver.add(try unit(.video, Double(index), bytes: 999_000), generation: 1)
        }
        #expect(drain(&interleaver) == [0, 1])
    }

    @Test func unitsOfANewEncoderFollowThoseOfThePreviousOne() throws {
        try GStreamer.initialize()
        var interleaver = Interleaver([.video])
        interleaver.begin(.video, generation: 1)
        interleaver.begin(.video, generation: 2)
        interleaver.add(try unit(.video, 0.2), generation: 2)
        #expect(drain(&interleaver) == [])
        interleaver.add(try unit(.video, 0.1), generation: 1)
        interleaver.end(.video, generation: 1)
        #expect(drain(&interleaver) == [0.1, 0.2])
    }

    @Test func interleaverWaitsForALiveStreamUpToItsMaximum() throws {
        try GStreamer.initialize()
        var interleaver = Interleaver([.video, .audio])
        interleaver.maximumWait = MediaTime(seconds: 2)
        interleaver.begin(.video, generation: 1)
        for time in [0.0, 1, 2, 2.5] {
            interleaver.add(try unit(.video, time), generation: 1)
        }
        #expect(interleaver.next(now: .seconds(1)) == nil, "a recording faster than real time")
        #expect(interleaver.next(now: .seconds(3))?.unit.time == .zero)
        #expect(interleaver.next(now: .seconds(3)) == nil)
        interleaver.flush()
        #expect(drain(&interleaver) == [1, 2, 2.5])
    }

    @Test(arguments: [true, false])
    func missingCopiedAudioIsWaitedForOnlyOnce(isCopy: Bool) throws {
        try GStreamer.initialize()
        var interleaver = Interleaver([.video, .audio])
        interleaver.maximumWait = MediaTime(seconds: 2)
        interleaver.begin(.video, generation: 1)
        interleaver.begin(.audio, generation: 2)
        /// Adds a unit whose time is that of its arrival, or earlier.
        func add(_ stream: RecordedStream, _ second: Double, late: Double = 0) throws {
            interleaver.add(
                try unit(stream, second - late, isCopy: isCopy, arrival: .seconds(second)),
                generation: stream == .video ? 1 : 2)
        }
        func next(at second: Double) -> Double? {
            interleaver.next(now: .seconds(second))?.unit.time.seconds
        }
        func addPictures(_ tenths: ClosedRange<Int>) throws {
            for tenth in tenths { try add(.video, Double(tenth) / 10) }
        }
        try addPictures(0...30)
        // Audio that is late by more than the maximum still counts as audio.
        try add(.audio, 3, late: 3)
        try addPictures(31...49)
        #expect(next(at: 4.9) == 0 && next(at: 4.9) == 0)
        #expect(!interleaver.isSilent(.audio))
        try addPictures(50...51)
        #expect(interleaver.isSilent(.audio) == isCopy)
        func drained(at second: Double) -> Double {
            var last = 0.0
            while let time = next(at: second) { last = time }
            return last
        }
        #expect(drained(at: 5.1) > (isCopy ? 5 : 2.9) && drained(at: 5.1) == 0)
        // Once audio arrives again, the interleaver waits for it again.
        try add(.audio, 5.2)
        #expect(!interleaver.isSilent(.audio))
        try addPictures(53...53)
        #expect(drained(at: 5.3) == 5.2)
        // Audio that is missing together with the video is not silent.
        try addPictures(90...91)
        #expect(!interleaver.isSilent(.audio))
    }

    @Test func preRollKeepsItsLengthFromAKeyframe() throws {
        try GStreamer.initialize()
        var preRoll = RecentUnits(length: MediaTime(seconds: 2), leader: .video)
        var dropped: [Double] = []
        for tenth in 0...50 {
            let unit = try unit(.video, Double(tenth) / 10, isKey: tenth % 10 == 0)
            dropped += preRoll.keep(
                Interleaver.Released(unit: unit, generation: 1)
            ).map(\.time.seconds)
        }
        #expect(dropped.count == 30)
        let kept = preRoll.takeAll().map(\.unit)
        #expect(kept.first?.time == MediaTime(seconds: 3) && kept.first?.isKey == true)
        #expect(kept.count == 21 && preRoll.takeAll().isEmpty)
    }

    @Test func segmentsHaveNumbersAndASingleFileHasNone() {
        let single = RecordingNames("/a.b/film.mkv", isNumbered: false)
        #expect(single.path(at: 0) == "/a.b/film.mkv")
        #expect(single.path(at: 1) == "/a.b/film-00001.mkv")
        let many = RecordingNames("film.part.mp4", isNumbered: true)
        #expect(many.path(at: 0) == "film.part-00000.mp4")
        #expect(many.path(at: 123_456) == "film.part-123456.mp4")
    }

    @Test(arguments: [false, true])
    func fullDiskAdvisesARingOnlyWithoutOne(hasRing: Bool) {
        let error = PipelineError.nearlyFull(4_000_000, hasRing: hasRing)
        #expect(error.message.contains("(4.0 MB left)"))
        #expect(error.advice?.contains("record with a ring") == !hasRing)
    }

    @Test func capturesAreAlignedOnTheirClock() {
        let timeline = RecordingTimeline(leader: .video, wallClock: WallClock())
        func live(_ origin: Double) -> LiveTiming {
            LiveTiming(clockOrigin: MediaTime(seconds: origin), latency: .zero)
        }
        let first = timeline.place(MediaTime(seconds: 5), live(100), of: .video)
        let second = timeline.place(MediaTime(seconds: 1), live(104), of: .audio)
        #expect(first == second)
    }

    @Test(arguments: [nil, LiveTiming(clockOrigin: .zero, latency: .zero)])
    func secondStreamMayBeginADayBeforeTheFirst(live: LiveTiming?) {
        let timeline = RecordingTimeline(leader: .video, wallClock: WallClock())
        let first = MediaTime(seconds: 90_000)
        guard case .at(let pictures) = timeline.place(first, live, of: .video),
            case .at(let sound) = timeline.place(first - RecordingTimeline.lead, live, of: .audio)
        else { return #expect(Bool(false)) }
        #expect(pictures - sound == RecordingTimeline.lead)
        let timelineOfItsOwn = RecordingTimeline(leader: .video, wallClock: WallClock())
        _ = timelineOfItsOwn.place(first, live, of: .video)
        #expect(
            timelineOfItsOwn.place(MediaTime(seconds: 1), live, of: .audio) == .drop(.early))
    }

    @Test func pauseIsCutFromEveryStream() {
        let timeline = RecordingTimeline(leader: .video, wallClock: WallClock())
        func place(_ seconds: Double, _ stream: RecordedStream) -> RecordingTimeline.Placement {
            timeline.place(MediaTime(seconds: seconds), nil, of: stream)
        }
        guard case .at(let zero) = place(0, .video) else { return #expect(Bool(false)) }
        func at(_ seconds: Double) -> RecordingTimeline.Placement {
            .at(zero + MediaTime(seconds: seconds))
        }
        timeline.pause()
        #expect(place(0.9, .audio) == at(0.9), "no picture has said yet where the pause begins")
        #expect(place(1, .video) == .drop(.paused))
        #expect(place(0.95, .audio) == at(0.95) && place(1.1, .audio) == .drop(.paused))
        timeline.resume()
        #expect(place(2, .audio) == .drop(.paused))
        #expect(place(3, .video) == at(1))
        #expect(place(2.9, .audio) == .drop(.paused) && place(3.1, .audio) == at(1.1))
        timeline.pause()
        timeline.resume()
        #expect(place(4, .video) == at(2), "a pause without units is not cut out")
    }

    @Test(arguments: 1...20)
    func nonIncreasingTimestampsAdvanceByAMillisecond(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var times = LiveUnitTimes()
        #expect(times.next(nil) == nil)
        var (given, last) = (MediaTime(seconds: 1), MediaTime.zero)
        for _ in 0..<500 {
            func step(_ range: Range<Int64>) -> MediaTime {
                MediaTime(nanoseconds: .random(in: range, using: &generator))
            }
            let choice = Int.random(in: 0..<40, using: &generator)
            switch choice {
            case 0..<10: given = given + step(0..<50_000_000)
            case 10..<20: given = given + step(0..<1000)
            // The receiver corrects its clock, which was ahead by less than two seconds.
            case 20:
                let corrected = given - step(500_000_001..<2_000_000_000)
                if last - corrected < MediaTime(seconds: 2) { given = corrected }
            default: break
            }
            let isTimed = last == .zero || choice == 20 || Bool.random(using: &generator)
            guard let next = times.next(isTimed ? given : nil) else {
                Issue.record("a unit without a time, seed \(seed)")
                return
            }
            #expect(last == .zero || next - last >= MediaTime(nanoseconds: 1_000_000))
            if isTimed { #expect(next >= given) }
            last = next
        }
    }

    @Test func audioIsNotReordered() {
        var times = LiveUnitTimes(isReordered: false)
        var returned: [MediaTime?] = []
        for second in [1, 1.02, 0.98, 1.0, 1.06] {
            returned.append(times.next(MediaTime(seconds: second)))
        }
        #expect(returned == [1, 1.02, 1.021, 1.022, 1.06].map { MediaTime(seconds: $0) })
    }

    @Test func reorderedAndRestartedTimestampsAreKept() {
        var times = LiveUnitTimes()
        for second in [0, 0.12, 0.04, 0.08, 0.24, 0.16, 0.2, 3600, 0.5, 0.6] {
            #expect(times.next(MediaTime(seconds: second)) == MediaTime(seconds: second))
        }
        #expect(times.next(nil) == MediaTime(seconds: 0.601))
    }

    @Test func repeatedBackwardStepsRestartTheTimestamps() {
        var times = LiveUnitTimes()
        let returned = [10, 8.5, 9, 7.4, 7.5].map { times.next(MediaTime(seconds: $0)) }
        #expect(returned == [10, 10.001, 10.002, 7.4, 7.5].map { MediaTime(seconds: $0) })
    }
}
