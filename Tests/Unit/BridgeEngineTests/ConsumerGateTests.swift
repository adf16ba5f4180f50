import BridgeEngine
import MediaCore
import TestSupport
import Testing

@Suite struct ConsumerGateTests {
    @Test func aGateIsShutUntilItIsOpened() throws {
        let collector = Collector()
        let gate = ConsumerGate(to: collector)
        #expect(!gate.isOpen)
        #expect(gate.consume(try frame(1)) == .dropped(.notStarted))
        #expect(gate.discardedFrames == 1)
        #expect(collector.frames.isEmpty)
    }

    @Test func framesBetweenOpenAndCloseComeThrough() throws {
        let collector = Collector()
        let gate = ConsumerGate(to: collector)
        gate.consume(try frame(1))
        gate.open()
        #expect(gate.isOpen)
        #expect(gate.consume(try frame(2)) == .accepted)
        #expect(gate.consume(try frame(3)) == .accepted)
        gate.close()
        #expect(gate.consume(try frame(4)) == .dropped(.notStarted))
        gate.open()
        gate.consume(try frame(5))
        #expect(collector.frames.map(\.milliseconds) == [2, 3, 5])
        #expect(gate.discardedFrames == 2)
    }

    @Test func whatTheReceiverSaysComesBackAndIsNotCountedHere() throws {
        let gate = ConsumerGate(to: Collector(answering: .dropped(.badFormat)))
        gate.open()
        #expect(gate.consume(try frame()) == .dropped(.badFormat))
        #expect(gate.discardedFrames == 0)
    }

    @Test(.hangGuard) func everyFrameIsCountedOnOneSideOfTheGate() async throws {
        let collector = Collector()
        let gate = ConsumerGate(to: collector)
        let picture = try frame()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<500 { gate.consume(picture) } }
            }
            group.addTask {
                for _ in 0..<500 {
                    gate.open()
                    gate.close()
                }
            }
        }
        #expect(collector.frames.count + gate.discardedFrames == 2000)
    }
}
