import BridgeEngine
import MediaCore
import Synchronization
import Testing

/// A processor that runs a closure.
private struct Step: VideoProcessor {
    let body: @Sendable (consuming VideoFrame) throws -> VideoFrame?
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? { try body(frame) }
}

/// Writes its letter into the frame's metadata.
private struct Letter: VideoProcessor {
    let letter: String
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        frame.metadata["trail", default: ""] += letter
        return frame
    }
}

/// Writes every pixel, and records the memory addresses before and after.
private final class Painter: VideoProcessor, Sendable {
    let addresses = Mutex<[[UInt]]>([])
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let before = try frame.address()
        try frame.fill(1)
        let after = try frame.address()
        addresses.withLock { $0.append([before, after]) }
        return frame
    }
}

private struct Broken: Error, Equatable { let number: Int }

/// Keeps the failures that a chain reports.
private final class Failures: Sendable {
    private let errors = Mutex<[Broken]>([])
    var all: [Broken] { errors.withLock { $0 } }
    func add(_ error: any Error) {
        if let broken = error as? Broken { errors.withLock { $0.append(broken) } }
    }
}

@Suite struct ProcessorChainTests {
    @Test func processorsRunInTheirOrder() throws {
        let collector = Collector()
        let chain = ProcessorChain(
            ["a", "b", "c"].map { Letter(letter: $0) }, to: collector, onFailure: { _ in })
        #expect(chain.consume(try frame()) == .accepted)
        #expect(collector.frames.first?.metadata["trail"] == "abc")
    }

    @Test func withoutAProcessorFramesPass() throws {
        let collector = Collector(answering: .dropped(.late))
        let chain = ProcessorChain([], to: collector, onFailure: { _ in })
        let picture = try frame(7)
        #expect(chain.consume(picture) == .dropped(.late))
        #expect(collector.frames.first?.storage === picture.storage)
    }

    @Test func aFrameThatAProcessorDropsGoesNoFurther() throws {
        let collector = Collector()
        let failures = Failures()
        let reached = Mutex(0)
        let chain = ProcessorChain(
            [
                Step { $0.milliseconds == 2 ? nil : $0 },
                Step {
                    reached.withLock { $0 += 1 }
                    return $0
                },
            ].map { $0 as any VideoProcessor & Sendable }, to: collector,
            onFailure: { failures.add($0) })
        #expect(chain.consume(try frame(1)) == .accepted)
        #expect(chain.consume(try frame(2)) == .dropped(.processor))
        #expect(chain.consume(try frame(3)) == .accepted)
        #expect(collector.frames.map(\.milliseconds) == [1, 3])
        #expect(reached.withLock { $0 } == 2)
        #expect(failures.all.isEmpty)
    }

    @Test func aProcessorThatFailsIsToldWithItsError() throws {
        let collector = Collector()
        let failures = Failures()
        let chain = ProcessorChain(
            [Letter(letter: "a"), Step { _ in throw Broken(number: 3) }, Letter(letter: "b")],
            to: collector, onFailure: { failures.add($0) })
        #expect(chain.consume(try frame()) == .dropped(.processor))
        #expect(collector.frames.isEmpty)
        #expect(failures.all == [Broken(number: 3)])
    }

    @Test func aProcessorMayReplaceTheFrame() throws {
        let collector = Collector()
        let other = try frame(9)
        let chain = ProcessorChain([Step { _ in other }], to: collector, onFailure: { _ in })
        chain.consume(try frame(1))
        #expect(collector.frames.first?.storage === other.storage)
    }

    @Test func writingInPlaceCopiesNothingOnTheWayThroughTheChain() throws {
        let painters = [Painter(), Painter(), Painter()]
        let chain = ProcessorChain(painters, to: Collector(), onFailure: { _ in })
        let gate = ConsumerGate(to: chain)
        gate.open()
        for _ in 0..<3 { gate.consume(try frame()) }
        for painter in painters {
            let seen = painter.addresses.withLock { $0 }
            #expect(seen.count == 3)
            for pair in seen { #expect(pair[0] == pair[1]) }
        }
    }

    @Test func aFrameThatIsHeldElsewhereIsCopiedOnceAndStaysAsItWas() throws {
        let painters = [Painter(), Painter()]
        let collector = Collector()
        let chain = ProcessorChain(painters, to: collector, onFailure: { _ in })
        let held = try frame()
        chain.consume(held)
        let (first, second) = (
            painters[0].addresses.withLock { $0[0] }, painters[1].addresses.withLock { $0[0] }
        )
        #expect(first[0] != first[1])
        #expect(second[0] == second[1] && second[0] == first[1])
        #expect(try held.address() == first[0])
    }
}
