import MediaBridge
import TestSupport
import Testing

/// Expects that every frame of a run is delivered or dropped for a cause: nothing waits when it is over.
func expectBalanced(
    _ balance: FrameBalance, isOver: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(imbalance(of: "", balance, isOver: isOver) == nil, sourceLocation: sourceLocation)
}

func expectBalanced(
    _ report: BridgeReport, sourceLocation: SourceLocation = #_sourceLocation
) {
    for counts in Array(report.captures.values) + Array(report.outputs.values) {
        expectBalanced(counts.balance, sourceLocation: sourceLocation)
    }
}

func expectBalanced(
    _ report: RecorderReport, sourceLocation: SourceLocation = #_sourceLocation
) {
    for track in [report.video, report.audio].compactMap({ $0 }) {
        expectBalanced(track.balance, sourceLocation: sourceLocation)
    }
}

func expectBalanced(
    _ engine: MediaEngine, isOver: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let problems = await engine.statistics.imbalances(isOver: isOver)
    #expect(problems.isEmpty, sourceLocation: sourceLocation)
}
