import MediaCore
import TestSupport
import Testing

@testable import BridgeEngine

/// An engine's event stream: bounded, ordered, for any number of listeners, and finite.
@Suite(.hangGuard, .balanced)
struct EventTests {
    @Test func unreadListenerKeepsTheNewestAndCountsTheRest() async throws {
        let hub = EventHub<EngineEvent>()
        let events = hub.subscribe()
        for number in 0..<300 { hub.post(.warning("\(number)")) }
        #expect(events.missed == 44)
        hub.finish()
        let kept = await events.rest().map(\.text)
        #expect(kept == (44..<300).map { "\($0)" })
    }

    @Test func listenerReceivesEveryEventSinceItsSubscription() async throws {
        let hub = EventHub<EngineEvent>()
        var listeners: [EventSequence<EngineEvent>] = []
        for number in 0..<20 {
            listeners.append(hub.subscribe())
            hub.post(.warning("\(number)"))
        }
        hub.finish()
        for (number, listener) in listeners.enumerated() {
            let heard = await listener.rest().map(\.text)
            #expect(heard == (number..<20).map { "\($0)" })
        }
    }

    @Test func endedListenerIsReleased() async {
        let hub = EventHub<EngineEvent>()
        for _ in 0..<10 { _ = hub.subscribe() }
        let reading = Task { [events = hub.subscribe()] in await events.rest() }
        reading.cancel()
        _ = await reading.value
        #expect(hub.listenerCount == 0)
        hub.post(.warning("nobody hears it"))
    }

    @Test func listenerAfterTheEndReceivesNothing() async {
        let engine = makeEngine()
        await engine.shutDown()
        let late = await engine.events.rest()
        #expect(late.isEmpty)
    }

    @Test func manyThreadsPostAndManyListen() async {
        let hub = EventHub<EngineEvent>()
        let listeners = (0..<4).map { _ in hub.subscribe() }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<1000 { hub.post(.sourceEnded(.video(.main))) } }
            }
        }
        hub.finish()
        for listener in listeners {
            let heard = await listener.rest().count
            #expect(heard + listener.missed == 4000)
        }
    }
}

/// Waiting for the end of a source.
@Suite(.hangGuard)
struct SourceEndTests {
    @Test func returnsWhenTheSourceOfTheTrackEnds() async throws {
        let hub = EventHub<EngineEvent>()
        let events = hub.subscribe()
        hub.post(.sourceEnded(.audio))
        hub.post(.sourceEnded(.video(.main)))
        try await events.waitForSourceEnd()
        let audio = hub.subscribe()
        hub.post(.sourceEnded(.audio))
        try await audio.waitForSourceEnd(of: .audio)
    }

    @Test func throwsTheFailureOfTheSource() async {
        let hub = EventHub<EngineEvent>()
        let events = hub.subscribe()
        hub.post(.sourceFailed(.audio, EngineError(.stuck, message: "another source")))
        hub.post(.sourceFailed(.video(.main), EngineError(.sourceFailed, message: "unplugged")))
        let error = await #expect(throws: EngineError.self) {
            try await events.waitForSourceEnd()
        }
        #expect(error?.code == .sourceFailed)
    }

    @Test func throwsAfterAShutdownAndWhenCancelled() async {
        let hub = EventHub<EngineEvent>()
        let events = hub.subscribe()
        let waiting = Task {
            await #expect(throws: EngineError.self) { try await events.waitForSourceEnd() }?.code
        }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        let late = hub.subscribe()
        hub.finish()
        let error = await #expect(throws: EngineError.self) {
            try await late.waitForSourceEnd()
        }
        #expect(error?.code == .shutDown)
    }
}

extension EngineEvent {
    fileprivate var text: String {
        if case .warning(let text) = self { return text } else { return name }
    }
}
