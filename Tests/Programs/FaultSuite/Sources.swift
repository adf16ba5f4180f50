import Foundation
import Glibc
import TestSupport

/// Captures with scarce buffers, or without video.
enum Sources {
    static let promises = [
        Promise(
            name: "pool", fault: "A camera with four buffers, a disk that does not respond",
            text: "the camera's pool is never empty"
        ) { _ in try await pool() },
        Promise(
            name: "pre-roll-alone", fault: "A pre-roll of 2 s without video, for 6 s",
            text: "2 s of audio are kept, and 2 s that wait for video"
        ) { _ in try await soundAlone() },
    ]

    private static func soundAlone() async throws -> Finding {
        try await withTemporaryDirectory { directory in
            var order = VictimOrder(path: directory.file("out.mkv"))
            order.pictures = VictimOrder.steady(240)
            order.hasPictures = false
            order.preRoll = 2
            order.startBefore = 180
            let report = try await Recording.run(order)
            let found = try await Judgement(of: order.path)
            var complaints = Complaints()
            let length = found.soundEnd ?? 0
            // Besides the pre-roll, two seconds of audio wait for video, and two come after the start.
            complaints.expect(
                length > 5.8 && length < 6.8, "\(length.text) s of audio in the file")
            complaints.expect(!report.hasThrown, "\(report.failure?.message ?? "it threw")")
            return Finding(
                "8 s arrived; the file has the last \(length.text) s", complaints: complaints.all)
        }
    }

    private static func pool() async throws -> Finding {
        guard CameraPool.isBuilt else { return .skipped("a debug build has it") }
        return try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            guard mkfifo(path, 0o600) == 0 else { throw Trouble(description: "no FIFO: \(errno)") }
            var order = VictimOrder(path: path)
            order.pictures = VictimOrder.steady(120)
            order.poolSize = 4
            order.hasSound = false
            order.stallTimeout = 1.5
            let report = try await Recording.run(order)
            var complaints = Complaints()
            complaints.expect(
                report.starved == 0, "the pool was empty for \(report.starved) frames of 120")
            complaints.expect(report.offered == 120, "\(report.offered) frames of 120 arrived")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            return Finding(
                "\(report.offered) of 120 frames arrived; the recorder's queue evicted "
                    + "\(report.dropped["evicted"] ?? 0)", complaints: complaints.all)
        }
    }
}
