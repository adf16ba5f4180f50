import MediaBridgeJanus
import TestSupport

/// Users join a channel, six at a time, send and receive, and leave at different stages of their connections.
struct JoinsAndLeaves {
    let server: String
    /// Prints the resources of the process after half of the rounds, and after all.
    func run(rounds: Int) async throws {
        let host = try await engine(watching: nil)
        try await host.joinChannel("hall", userID: "host")
        for round in 1...rounds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for moment in Moment.allCases {
                    group.addTask { try await visit(moment, round, host) }
                }
                try await group.waitForAll()
            }
            if round == max(1, rounds / 2) { await ProcessReport.say("early") }
        }
        await ProcessReport.say("late")
        try await host.end()
        await ProcessReport.waitForHandshakes()
    }

    /// When a user leaves.
    private enum Moment: CaseIterable {
        /// At the start of joining, which is cancelled.
        case joining
        /// When the host is notified of the user: joining is cancelled at its end.
        case announced
        /// Right after joining, before its offer exists.
        case joined
        /// With the first encoded frame, whose codec the offer needs: before the answer.
        case offering
        /// When its own connection is established.
        case sending
        /// When it has also received the host's video and audio.
        case receiving
    }

    private func engine(watching count: Observed<Int>?) async throws -> MediaEngine {
        let engine = MediaEngine(transport: try JanusTransport(server: server))
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=15/1 ! "
                + "appsink name=video audiotestsrc is-live=true ! audioconvert ! appsink name=audio"
        )
        let audio = source.audio
        try await engine.setVideoSource(source)
        if let audio { try await engine.setAudioSource(audio) }
        guard let count else { return engine }
        try await engine.addVideoSink(PictureCounter(count), to: .remote("host"))
        return engine
    }

    private func visit(_ moment: Moment, _ round: Int, _ host: MediaEngine) async throws {
        let count = Observed(0)
        let engine = try await engine(watching: count)
        let (events, hostEvents) = (engine.events, host.events)
        let user = UserID("\(moment)\(round)")
        let joining = Task { try await engine.joinChannel("hall", userID: user) }
        switch moment {
        case .announced:
            _ = await hostEvents.first { if case .userJoined(user) = $0 { true } else { nil } }
            fallthrough
        case .joining:
            joining.cancel()
            _ = await joining.result
        default: try await joining.value
        }
        switch moment {
        case .joining, .announced, .joined: break
        case .offering:
            _ = await events.first { if case .firstFrame(.local, _) = $0 { true } else { nil } }
        case .sending:
            _ = await events.first { event in
                if case .publicationChanged(_, .sending) = event { true } else { nil }
            }
        case .receiving:
            _ = await events.first { event in
                if case .firstAudio(.remote("host"), _) = event { true } else { nil }
            }
            await count.wait { $0 >= 3 }
        }
        // Every second user leaves before it is shut down.
        if round % 2 == 0, moment != .joining, moment != .announced {
            _ = try await engine.leaveChannel()
        }
        try await engine.end()
    }
}
