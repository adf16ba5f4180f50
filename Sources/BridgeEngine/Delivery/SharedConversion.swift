internal import Dispatch
internal import MediaCore
internal import Synchronization

/// A conversion of one frame that several renderers share. The first renderer that needs it
/// converts the frame on its own thread.
final class SharedConversion: Sendable {
    private enum State {
        case pending(VideoFrame)
        /// One thread converts the frame; the others wait.
        case underway([DispatchSemaphore])
        case done(Result<VideoFrame, any Error>)
    }
    private enum Turn {
        case converts(VideoFrame)
        case waits(DispatchSemaphore)
        case done(Result<VideoFrame, any Error>)
    }
    private let state: Mutex<State>
    private let conversion: VideoConversion
    private let converter: any VideoConverter
    private let becomesUpright: Bool

    init(
        of frame: VideoFrame, to conversion: VideoConversion, upright: Bool,
        by converter: any VideoConverter
    ) {
        state = Mutex(.pending(frame))
        self.conversion = conversion
        self.converter = converter
        becomesUpright = upright
    }

    /// Returns the converted frame. Blocks while another thread converts it.
    func frame() throws -> VideoFrame {
        while true {
            switch takeTurn() {
            case .done(let result): return try result.get()
            case .waits(let end): end.wait()
            case .converts(let frame):
                // The converter is the backend's code, so it is called without a lock.
                let result = Result {
                    var converted = try converter.convert(frame, to: conversion)
                    if becomesUpright { converted.rotation = .none }
                    return converted
                }
                finish(result)
                return try result.get()
            }
        }
    }

    private func takeTurn() -> Turn {
        state.withLock { state in
            switch state {
            case .done(let result): return .done(result)
            case .pending(let frame):
                state = .underway([])
                return .converts(frame)
            case .underway(let waiting):
                let end = DispatchSemaphore(value: 0)
                state = .underway(waiting + [end])
                return .waits(end)
            }
        }
    }

    private func finish(_ result: Result<VideoFrame, any Error>) {
        let waiting = state.withLock { state -> [DispatchSemaphore] in
            defer { state = .done(result) }
            guard case .underway(let waiting) = state else { return [] }
            return waiting
        }
        waiting.forEach { $0.signal() }
    }
}
