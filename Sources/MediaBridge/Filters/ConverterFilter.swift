internal import Synchronization

/// A frame through GStreamer's own converters, on the caller's thread.
final class ConverterFilter: VideoProcessor {
    private struct State {
        var format: VideoFormat?
        var chain: ElementChain?
        var layout: FrameLayout?
    }
    private let state = Mutex(State())
    private let wrapper = BufferWrapper()
    private let text: @Sendable (VideoFormat) -> String

    /// - Parameter elements: The chain for frames of a format.
    init(_ elements: @escaping @Sendable (VideoFormat) -> String) { text = elements }

    /// To another pixel format.
    convenience init(to format: String) {
        self.init { _ in "videoconvert ! capsfilter caps=\"video/x-raw, format=\(format)\"" }
    }

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        let format = frame.format
        let chain = try state.withLock { state throws(PipelineError) -> ElementChain in
            if let chain = state.chain, state.format == format { return chain }
            let chain = try ElementChain(text(format))
            state = State(format: format, chain: chain, layout: state.layout)
            return chain
        }
        let wrapped = try wrapper.wrap(frame)
        let output = try chain.process(wrapped.buffer.retained(), caps: wrapped.caps)
        let layout = try layout(of: output.caps)
        return frame.replacingPixels(BufferFrameStorage(output.buffer.retained(), layout))
    }

    private func layout(of caps: Caps) throws(PipelineError) -> FrameLayout {
        try state.withLock { state throws(PipelineError) -> FrameLayout in
            if let layout = state.layout, layout.info.caps.identity == caps.identity {
                return layout
            }
            guard let info = VideoInfo(caps) else {
                throw PipelineError(.streamFailed, message: "a converter gave \(caps)")
            }
            let layout = FrameLayout(info)
            state.layout = layout
            return layout
        }
    }
}
