import MediaBasics
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// The calls to a recorder, and the frames around them, take effect in their original order.
@Suite(.hangGuard) struct RecordingOrderTests {
    @Test(arguments: ["mkv", "webm", "mp4", "ts"])
    func preRollIsRecordedWhenStopFollowsStartImmediately(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            for run in 0..<8 {
                var configuration = Recorder.Configuration()
                configuration.preRoll = .seconds(1)
                configuration.whenFull = .wait
                let recorder = try Recorder(
                    directory.file("\(run).\(ending)"), configuration: configuration)
                for index in 0..<4 { try await recorder.write(RecordedFrames().picture(index)) }
                try recorder.start()
                let report = try await recorder.stop()
                #expect(report.video?.written == 4, "run \(run)")
                expectBalanced(report)
            }
        }
    }

    @Test func rearmDirectlyAfterTheStartKeepsTheRecording() async throws {
        try await withTemporaryDirectory { directory in
            for run in 0..<8 {
                var configuration = Recorder.Configuration()
                configuration.preRoll = .seconds(1)
                configuration.whenFull = .wait
                let recorder = try Recorder(
                    directory.file("\(run)-%d.mkv"), configuration: configuration)
                for index in 0..<4 { try await recorder.write(RecordedFrames().picture(index)) }
                try recorder.start()
                let report = try await recorder.rearm()
                #expect((report.video?.written ?? 0) > 0, "run \(run)")
                _ = try? await recorder.stop()
            }
        }
    }

    /// Items that arrive while an earlier handler call is pending are delivered in that call.
    @Test func startIsDeliveredBeforeTheEndThatFollows() {
        let queue = SerialQueue(label: "writer")
        let inbox = RecordingInbox(queue: queue)
        let seen = Mutex<[String]>([])
        inbox.onItems { [inbox] in
            let names = inbox.takeAll().map { "\($0)".prefix { $0 != "(" } }
            seen.withLock { $0 += names.map(String.init) }
        }
        queue.sync {
            inbox.put(.live)
            inbox.put(.start(at: nil))
            inbox.put(.trackEnded(.video))
        }
        queue.sync {}
        inbox.close()
        #expect(seen.withLock { $0 } == ["live", "start", "trackEnded"])
    }
}
