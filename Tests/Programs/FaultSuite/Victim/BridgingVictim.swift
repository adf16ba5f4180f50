import Foundation
import Glibc
import MediaBridge
import Synchronization

/// Records a live capture. For raw media, a processor sees every frame just before the recorder does; for
/// encoded media, a destination sees every encoded frame just after.
struct BridgingVictim {
    let order: VictimOrder
    let diary: Diary
    let configuration: Recorder.Configuration

    func run(_ report: inout VictimReport) async throws {
        var plan = BridgePlan(
            capture: order.capture, outputs: order.hasPreview ? ["fakesink sync=false"] : [])
        plan.recordings = [BridgePlan.Recording(path: order.path, configuration: configuration)]
        let wish = Wish()
        let witness = Witness(order: order, diary: diary, wish: wish)
        if order.isCopy {
            plan.destinations = [.init(name: "witness", UnitWitness(witness))]
        } else {
            plan.processors = [witness]
        }
        if order.restarts {
            var policy = RestartPolicy()
            policy.delay = .milliseconds(50)
            policy.longestDelay = .milliseconds(400)
            plan.restart = policy
        }
        let bridge = try Bridge(plan)
        bridge.onEvent { if case .restarting = $0 { diary.write("event restarting") } }
        wish.onStop { bridge.stop() }
        signal(SIGTERM, SIG_IGN)
        let terminated = DispatchSource.makeSignalSource(signal: SIGTERM)
        terminated.setEventHandler { wish.stop() }
        terminated.resume()
        defer { terminated.cancel() }
        let recorder = bridge.recorders[0]
        witness.recorder.withLock { $0 = recorder }
        let listening = diary.listen(to: recorder)
        let result = await bridge.run()
        for failure in result.failures {
            FileHandle.standardError.write(Data("\(failure)\n".utf8))
        }
        report.stopSeconds = wish.seconds
        await listening.value
        report.take(recorder.report)
        report.bridgeEnded = result.ended?.rawValue
        report.hasThrown = !result.failures.isEmpty
        report.preview = result.outputs["output"]?.frames ?? 0
        // On a busy machine the capture may evict frames, too.
        report.previewEvicted =
            (result.outputs["output"]?.dropped[.evicted] ?? 0)
            + result.captures.values.reduce(0) { $0 + $1.dropped[.evicted] }
    }

    /// Reports each frame, and triggers the ordered faults.
    private final class Witness: VideoProcessor, Sendable {
        let order: VictimOrder
        let diary: Diary
        let wish: Wish
        let recorder = Mutex<Recorder?>(nil)
        private let offered = Atomic<Int>(0)

        init(order: VictimOrder, diary: Diary, wish: Wish) {
            (self.order, self.diary, self.wish) = (order, diary, wish)
        }

        struct Thrown: Error, CustomStringConvertible {
            let description = "the processor throws as ordered"
        }

        func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
            if see() == order.throwAt {
                wish.note()
                throw Thrown()
            }
            return frame
        }

        /// - Returns: The number of the frame, starting at 1.
        @discardableResult
        func see() -> Int {
            let number = diary.frame(after: order.lag > 0 ? keepUp() : 0)
            if number == order.fillAfter { DiskFiller.fill(beside: order.path) }
            if number == order.stopAfter { wish.stop() }
            return number
        }

        /// Waits until the recorder has written or dropped what was offered. On a busy machine a key frame may be
        /// lost before the recorder, which then drops the frames up to the next one.
        ///
        /// - Returns: How many it has dropped.
        private func keepUp() -> Int {
            let offered = offered.add(1, ordering: .relaxed).oldValue
            let deadline = ContinuousClock.now + .seconds(10)
            while true {
                let track = recorder.withLock { $0?.report.video }
                let dropped = track?.dropped.total ?? 0
                if offered - (track?.written ?? 0) - dropped < order.lag
                    || ContinuousClock.now >= deadline
                {
                    return dropped
                }
                usleep(1000)
            }
        }
    }

    /// Reports each encoded frame.
    private final class UnitWitness: BridgeDestination {
        private let witness: Witness
        private let seen = Atomic<Int>(0)

        init(_ witness: Witness) { self.witness = witness }

        func begin(
            _ streams: Set<MediaKind>, onKeyFrameNeeded: @escaping @Sendable () -> Void,
            onFailure: @escaping @Sendable (PipelineError) -> Void
        ) {}

        func take(_ frame: consuming VideoFrame) -> FrameDisposition { .dropped(.wrongBufferType) }

        func take(_ unit: EncodedVideoFrame) -> FrameDisposition {
            witness.see()
            seen.add(1, ordering: .relaxed)
            return .accepted
        }

        func take(_ frame: AudioFrame) -> FrameDisposition { .accepted }

        func take(_ unit: EncodedAudioFrame) -> FrameDisposition { .accepted }

        func finish() async {}

        var packets: PacketCounts? { nil }
        var balance: FrameBalance {
            let count = seen.load(ordering: .relaxed)
            return FrameBalance(offered: count, delivered: count)
        }
    }
}

/// Another writer, which uses up all free space.
enum DiskFiller {
    static func fill(beside path: String) {
        let other = (path as NSString).deletingLastPathComponent + "/other"
        let file = open(other, O_WRONLY | O_CREAT, 0o600)
        guard file >= 0 else { return }
        let bytes = [UInt8](repeating: 1, count: 65_536)
        while write(file, bytes, bytes.count) > 0 {}
        close(file)
    }
}
