import MediaCore
import TestSupport

@testable import MediaBridge

extension Recorder {
    /// A recorder whose clock stands still: its streams wait for each other however slow the
    /// machine is.
    convenience init(
        timeless path: String, _ configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        try self.init(path, configuration: configuration, clock: VirtualTimeline())
    }

    /// Suspends until the writer has made a condition true, or until the test reaches its deadline.
    ///
    /// - Parameter isMet: Called on the writer's queue.
    func wait(until isMet: @escaping @Sendable (Recorder) -> Bool) async {
        let met = Happening()
        inbox.onItems { [self] in
            course.handle(inbox.takeAll())
            if isMet(self) { met.happen() }
        }
        writer.queue.async { [self] in if isMet(self) { met.happen() } }
        await met.wait()
        inbox.onItems { [inbox, course] in course.handle(inbox.takeAll()) }
    }

    /// Suspends until the file's muxer has received `count` units.
    func wait(forUnits count: Int) async {
        await wait { $0.progressState.update { $0.moved } >= count }
    }

    /// Suspends until the recorder keeps this many seconds for replays.
    func wait(forReplay seconds: Double) async {
        await wait { MediaTime($0.report.replayDuration ?? .zero).seconds >= seconds }
    }
}
