import Foundation
import Glibc
import TestSupport

/// Captures with little to give.
enum Sources {
    static let promises = [
        Promise(
            name: "pool", fault: "A camera with four buffers, a disk that does not answer",
            text: "the camera never finds its pool empty"
        ) { _ in try await pool() }
    ]

    private static func pool() async throws -> Finding {
        guard CameraPool.isBuilt else { return .skipped("a debug build has it") }
        return try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            guard mkfifo(path, 0o600) == 0 else { throw Trouble(description: "no FIFO: \(errno)") }
            var order = VictimOrder(path: path)
            order.pictures = VictimOrder.steady(120)
            order.poolSize = 4
            order.hasSound = false
            order.patience = 1.5
            let report = try await Recording.run(order)
            var complaints = Complaints()
            complaints.expect(report.starved == 0, "\(report.starved) frames of 120 found it empty")
            complaints.expect(report.offered == 120, "\(report.offered) frames of 120 came")
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            return Finding(
                "\(report.offered) of 120 frames came, of which the recorder's queue let go of "
                    + "\(report.dropped["evicted"] ?? 0)", complaints: complaints.all)
        }
    }
}
