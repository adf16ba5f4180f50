internal import MediaCore
internal import Synchronization

/// One frame as several renderers want it: converted once, by the first of them that comes to it, on
/// that renderer's own thread.
final class SharedConversion: Sendable {
    private enum State {
        case pending(VideoFrame)
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

    /// The converted frame. Blocks while another thread converts it.
    func frame() throws -> VideoFrame {
        try state.withLock { state in
            if case .done(let result) = state { return try result.get() }
            guard case .pending(let frame) = state else { throw CancellationError() }
            let result = Result {
                var converted = try converter.convert(frame, to: conversion)
                if becomesUpright { converted.rotation = .none }
                return converted
            }
            state = .done(result)
            return try result.get()
        }
    }
}
