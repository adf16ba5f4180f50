import Foundation
import MediaCore
import Synchronization
import TestSupport

/// Controls and observes a renderer that a test has handed to the engine.
final class SinkScript: Sendable {
    struct State {
        var calls: [String] = []
        var frames: [VideoFrame] = []
        var failures: [String: Refusal] = [:]
        var refusals: Set<String> = []
        var blocks: [String: Hang] = [:]
        var onRender: (@Sendable (VideoFrame) -> Void)?
        /// Called for every call.
        var onCall: (@Sendable (String) -> Void)?
        var isInside = false
        var overlaps = 0
    }
    let state = Mutex(State())
    private let count = Observed(0)
    private let called = Observed<Set<String>>([])
    /// The renderer has been released.
    let gone = Happening()
    let format: VideoPixelFormat
    init(format: VideoPixelFormat = .any) { self.format = format }

    var calls: [String] { state.withLock { $0.calls } }
    var frames: [VideoFrame] { state.withLock { $0.frames } }
    var times: [Int64] { frames.map(\.milliseconds) }
    /// The names of the frames' sources.
    var names: [String] { frames.map { $0.metadata["from"] ?? "" } }
    var violations: Int { state.withLock { $0.overlaps } }

    func fail(_ call: String) {
        state.withLock { $0.failures[call] = Refusal(reason: "no display") }
    }
    func refuse(_ call: String) { state.withLock { _ = $0.refusals.insert(call) } }
    func mend() {
        state.withLock {
            $0.failures = [:]
            $0.refusals = []
        }
    }
    func block(_ call: String) -> Hang {
        let hang = Hang()
        state.withLock { $0.blocks[call] = hang }
        return hang
    }
    func whenRendering(_ body: @escaping @Sendable (VideoFrame) -> Void) {
        state.withLock { $0.onRender = body }
    }

    /// Suspends until a call was made.
    func called(_ call: String) async { await called.wait { $0.contains(call) } }

    /// Suspends until `count` frames were rendered.
    func rendered(_ count: Int) async {
        await self.count.wait { $0 >= count }
    }

    fileprivate func enter(_ call: String) -> Hang? {
        let (block, onCall) = state.withLock { state in
            if call != "render" { state.calls.append(call) }
            if state.isInside || Thread.isMainThread { state.overlaps += 1 }
            state.isInside = true
            return (state.blocks.removeValue(forKey: call), state.onCall)
        }
        called.change { _ = $0.insert(call) }
        onCall?(call)
        return block
    }
    fileprivate func leave(_ call: String) throws -> Bool {
        let (failure, refuses) = state.withLock { state in
            state.isInside = false
            return (state.failures[call], state.refusals.contains(call))
        }
        if let failure { throw failure }
        return !refuses
    }
    func keep(_ frame: VideoFrame) {
        state.withLock { $0.frames.append(frame) }
        count.change { $0 += 1 }
    }
}

/// A program's own renderer. Not Sendable, like most renderers.
class ScriptedSink: VideoSink {
    private let script: SinkScript
    init(_ script: SinkScript) { self.script = script }
    deinit { script.gone.happen() }

    @discardableResult
    private func call(_ name: String) throws -> Bool {
        script.enter(name)?.wait()
        return try script.leave(name)
    }
    func pixelFormat() -> VideoPixelFormat { script.format }
    func shouldInitialize() throws -> Bool { try call("shouldInitialize") }
    func shouldStart() throws { try call("shouldStart") }
    func render(_ frame: VideoFrame) throws {
        try call("render")
        script.state.withLock { $0.onRender }?(frame)
        script.keep(frame)
    }
    func shouldStop() throws { try call("shouldStop") }
    func shouldDispose() throws { try call("shouldDispose") }
}

/// The same, with a class that a program can keep a reference to. Sendable: only the engine calls
/// it.
final class SharedSink: ScriptedSink, @unchecked Sendable {}
