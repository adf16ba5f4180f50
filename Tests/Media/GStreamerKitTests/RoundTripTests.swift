import GStreamerKit
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard) struct RoundTripTests {
    private static func address(_ buffer: borrowing Buffer) -> UInt? {
        guard let mapped = MappedBuffer(buffer) else { return nil }
        return mapped.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// A buffer at the far end: the address of its bytes, and the time at which it is due.
    private struct Arrival: Equatable {
        let address: UInt?
        let time: UInt64?
    }

    @Test func buffersGoFromPipelineToPipelineWithoutACopy() async throws {
        let capture = try Pipeline(
            parsing: "videotestsrc num-buffers=20 ! "
                + "video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! appsink name=out")
        let output = try Pipeline(parsing: "appsrc name=in ! queue ! identity ! appsink name=end")
        let sink = try #require(capture.appSinks["out"])
        let source = try #require(output.appSources["in"])
        let end = try #require(output.appSinks["end"])
        sink.configure(depth: 4, isPaced: false)
        end.configure(depth: 4, isPaced: false)
        defer {
            sink.forgetHandlers()
            end.forgetHandlers()
        }
        source.configure(QueueLimit(buffers: 100), dropsOldest: false)
        let departures = Atomic<Int>(0)
        source.onDeparture { departures.add(1, ordering: .relaxed) }

        let sent = Mutex<[Arrival]>([])
        let got = Mutex<[Arrival]>([])
        let caps = Mutex<Caps?>(nil)
        sink.setHandlers(
            onSample: {
                guard let sample = sink.tryPull(), let buffer = sample.buffer else { return false }
                let known = caps.withLock { known in
                    if let known, sample.capsIdentity == known.identity { return true }
                    known = sample.caps
                    return false
                }
                if !known, let new = sample.caps { source.setCaps(new) }
                let arrival = Arrival(
                    address: Self.address(buffer), time: buffer.presentationTime?.nanoseconds)
                sent.withLock { $0.append(arrival) }
                return source.push(buffer.retained())
            }, onEnd: { source.endOfStream() })
        end.setHandlers(
            onSample: {
                guard let sample = end.tryPull(), let buffer = sample.buffer else { return false }
                let arrival = Arrival(
                    address: Self.address(buffer), time: buffer.presentationTime?.nanoseconds)
                got.withLock { $0.append(arrival) }
                return true
            }, onEnd: {})

        let messages = output.messages
        try await output.setState(.playing)
        try await capture.setState(.playing)
        #expect(await messages.collect { $0.isEnd || $0.error != nil }.last?.isEnd == true)
        let (there, here) = (got.withLock { $0 }, sent.withLock { $0 })
        #expect(here.count == 20)
        #expect(there == here)
        #expect(there.allSatisfy { $0.address != nil })
        #expect(departures.load(ordering: .relaxed) == 20)
        #expect(source.queuedBuffers == 0)
        try await capture.setState(.null)
        try await output.setState(.null)
    }

    @Test func stoppedPipelineRefusesOrQueuesBuffersWithoutBlocking() throws {
        let pipeline = try Pipeline(parsing: "appsrc name=in ! fakesink")
        let source = try #require(pipeline.appSources["in"])
        source.configure(QueueLimit(buffers: 2), dropsOldest: true)
        for _ in 0..<10 {
            guard let buffer = Buffer.allocate(byteCount: 16) else {
                Issue.record("no memory")
                return
            }
            _ = source.push(buffer)
        }
        #expect(source.queuedBuffers <= 2)
    }

    @Test func wrappedMemoryIsReleasedWhenTheLastBufferGoes() {
        let released = Mutex(0)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
        let base = UInt(bitPattern: memory.baseAddress)
        do {
            let buffer = Buffer.wrapping(unsafe: memory, readOnly: true) {
                released.withLock { $0 += 1 }
            }
            check(buffer.byteCount == 32)
            check(!buffer.isWritable)
            check(Self.address(buffer) == base)
            let other = buffer.retained()
            let header = other.withOwnHeader()
            check(Self.address(header) == base)
            #expect(released.withLock { $0 } == 0)
            guard let copy = buffer.deepCopy() else {
                Issue.record("no memory")
                return
            }
            check(Self.address(copy) != base)
        }
        #expect(released.withLock { $0 } == 1)
        memory.deallocate()
    }

    @Test func trackedBufferReportsItsRelease() {
        let released = Mutex(0)
        guard let buffer = Buffer.allocate(byteCount: 8) else {
            Issue.record("no memory")
            return
        }
        do {
            let tracked = buffer.tracked { released.withLock { $0 += 1 } }
            let other = tracked.retained()
            check(Self.address(tracked) == Self.address(buffer))
            check(other.byteCount == 8)
            #expect(released.withLock { $0 } == 0)
        }
        #expect(released.withLock { $0 } == 1)
    }

    @Test func unsetTimestampsAreNil() {
        guard var buffer = Buffer.allocate(byteCount: 8) else {
            Issue.record("no memory")
            return
        }
        check(
            buffer.presentationTime == nil && buffer.decodingTime == nil && buffer.duration == nil)
        buffer.presentationTime = ClockTime(nanoseconds: 5)
        buffer.duration = ClockTime(nanoseconds: 7)
        check(buffer.presentationTime?.nanoseconds == 5 && buffer.duration?.nanoseconds == 7)
        buffer.presentationTime = nil
        check(buffer.presentationTime == nil)
        check(buffer.poolLimit == nil && buffer.poolIdentity == nil)
    }
}
