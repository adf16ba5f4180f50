import MediaBridge
import TestSupport

/// Reads the samples of an appsink in a pipeline's string as they arrive.
struct SampleReader {
    private let sink: AppSink
    private let arrivals = Observed(0)

    init(_ sink: AppSink) {
        self.sink = sink
        sink.setHandlers(
            onSample: { [arrivals] in
                arrivals.change { $0 += 1 }
                return true
            }, onEnd: {})
    }

    /// The next sample. One caller at a time.
    func next() async throws -> Sample {
        while true {
            let seen = arrivals.value
            if let sample = sink.tryPull() { return sample }
            await arrivals.wait { $0 != seen }
            try Task.checkCancellation()
        }
    }
}
