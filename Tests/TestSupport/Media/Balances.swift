public import MediaBridge
public import Testing

/// Expects that every frame of a run was delivered or dropped for a known cause, and that none
/// waits.
public func expectBalanced(
    _ balance: FrameBalance, isOver: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(imbalance(of: "", balance, isOver: isOver) == nil, sourceLocation: sourceLocation)
}

public func expectBalanced(
    _ report: BridgeReport, sourceLocation: SourceLocation = #_sourceLocation
) {
    for counts in Array(report.captures.values) + Array(report.outputs.values) {
        expectBalanced(counts.balance, sourceLocation: sourceLocation)
    }
}

public func expectBalanced(
    _ report: RecorderReport, sourceLocation: SourceLocation = #_sourceLocation
) {
    for track in [report.video, report.audio].compactMap({ $0 }) {
        expectBalanced(track.balance, sourceLocation: sourceLocation)
    }
}

public func expectBalanced(
    _ engine: MediaEngine, isOver: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let problems = await engine.statistics.imbalances(isOver: isOver)
    #expect(problems.isEmpty, sourceLocation: sourceLocation)
}
