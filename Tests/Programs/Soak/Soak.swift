import ArgumentParser
import Foundation
import MediaBridge

/// A program's life in fast motion. An engine runs all the time, while sources are swapped, guests join and
/// leave its channel, and recordings, bridges and captures start and end. The resources of the process are
/// sampled every few seconds, and must not grow.
@main
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Soak", abstract: "Runs for minutes or hours, and reports what grows.",
        discussion: """
            Resident memory, the heap in use, descriptors, threads and live objects of GStreamer are \
            sampled after a cycle whenever two seconds have passed. A straight line through the samples \
            after the warm-up (the first quarter, ten thousand cycles at most) must not climb more than \
            the limits, by more than twice its own uncertainty. Exit status 1 where one does.

            Limits, in a thousand cycles of a dozen pipelines each, and in parentheses what is allowed on \
            top in the whole run, for pools and caches: \(SoakSeries.limits). Of Dispatch's \
            workers those count that have done nothing for ten seconds: the pool itself grows and \
            shrinks with the load of the machine. `make soak` sets the allocators so that they keep \
            nothing for later, which would count as in use.
            """)

    @Option(help: "How long.")
    var minutes = 2.0

    @Option(help: "Where the picture goes; the samples go beside it, as .csv.")
    var plot = "soak.svg"

    @Option(
        help: "A part of the cycle alone, to see which one grows; may be repeated.")
    var only: [SoakHouse.Part] = []

    @Option(help: "Loses something in every cycle, to see that it is found.")
    var leak: Leak?

    static func main() async {
        do {
            var command = try parseAsRoot()
            if let soak = command as? Soak { try await soak.run() } else { try command.run() }
        } catch { exit(withError: error) }
    }

    func run() async throws {
        LiveObjects.begin()
        let directory = NSTemporaryDirectory() + "/mediabridge-soak-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let house = try await SoakHouse(directory: directory)
        var record = SoakRecord()
        var threads = SoakThreads()
        let clock = ContinuousClock()
        let start = clock.now
        let length = Duration.seconds(minutes * 60)
        var due = start
        var cycles = 0
        while clock.now - start < length {
            try await house.cycle(cycles, of: only.isEmpty ? SoakHouse.Part.allCases : only)
            leak?.lose()
            cycles += 1
            guard clock.now >= due else { continue }
            due = clock.now + .seconds(2)
            GStreamer.waitForTeardown()
            threads.look()
            record.add(.now(threads), after: cycles)
            // Written every minute, so that an aborted run leaves its plot.
            if record.times.count % 30 == 0 { try write(record) }
        }
        let verdicts = record.verdicts
        print("\(cycles) cycles in \(minutes) minutes, \(record.times.count) samples")
        for verdict in verdicts { print(verdict) }
        try write(record)
        print("plot: \(plot)")
        // After the verdict, so that a failure here does not lose it.
        fflush(nil)
        try await house.close()
        print("closed")
        if verdicts.contains(where: { !$0.passes }) { throw ExitCode(1) }
    }

    private func write(_ record: SoakRecord) throws {
        try SoakPlot(record: record, verdicts: record.verdicts).svg.write(
            toFile: plot, atomically: true, encoding: .utf8)
        let table = URL(fileURLWithPath: plot).deletingPathExtension()
            .appendingPathExtension("csv")
        try record.table.write(to: table, atomically: true, encoding: .utf8)
    }
}

extension SoakHouse.Part: ExpressibleByArgument {}

/// The resource to leak in every cycle, to test that the soak detects it.
enum Leak: String, ExpressibleByArgument, CaseIterable {
    /// 64 kB, written to.
    case memory
    case descriptor, thread, object

    func lose() {
        switch self {
        case .memory: LiveObjects.loseMemory()
        case .descriptor: _ = open("/dev/null", O_RDONLY)
        case .thread: Thread.detachNewThread { Thread.sleep(until: .distantFuture) }
        case .object: LiveObjects.lose()
        }
    }
}
