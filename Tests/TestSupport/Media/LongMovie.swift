public import Foundation

/// A fragmented mp4 with many fragments of tiny samples, as a recording of hours has them. Nothing is encoded:
/// the samples cannot be decoded, and only their sizes, times and flags are meaningful.
public struct LongMovie {
    private let header: Data
    private var bytes = Data()
    private var sequence: UInt32 = 0
    /// The number of samples of each track.
    public private(set) var samples: [Int] = []
    private var times: [UInt64] = []

    /// - Parameter template: A fragmented recording, whose tracks are numbered from 1.
    public init(template: Data) throws {
        guard let place = template.range(of: Data("moof".utf8))?.lowerBound else {
            throw CocoaError(.fileReadCorruptFile)
        }
        header = template.prefix(place - 4)
    }

    /// Adds a fragment of one track.
    ///
    /// - Parameters:
    ///   - track: Its number.
    ///   - durations: The duration of each sample in the track's units.
    ///   - size: The size of each sample in bytes, at least 4.
    public mutating func add(track: Int, durations: [UInt32], size: Int = 8, isKey: Bool = true) {
        while samples.count < track {
            samples.append(0)
            times.append(0)
        }
        sequence += 1
        let entries = durations.enumerated().flatMap { index, duration in
            number(duration) + number(UInt32(size))
                + number(index == 0 && isKey ? 0x40 : 0x1_00c0 as UInt32)
        }
        func fragment(_ offset: Int) -> [UInt8] {
            let run = number(0x0100_0701 as UInt32) + number(UInt32(durations.count))
            return box(
                "moof",
                box("mfhd", number(0 as UInt32) + number(sequence))
                    + box(
                        "traf",
                        box("tfhd", number(0x2_0000 as UInt32) + number(UInt32(track)))
                            + box("tfdt", number(0x0100_0000 as UInt32) + number(times[track - 1]))
                            + box("trun", run + number(UInt32(offset)) + entries)))
        }
        let unit = number(UInt32(size - 4)) + [UInt8](repeating: 0x65, count: size - 4)
        bytes += fragment(fragment(0).count + 8)
        bytes += box("mdat", durations.flatMap { _ in unit })
        samples[track - 1] += durations.count
        times[track - 1] += durations.reduce(0) { $0 + UInt64($1) }
    }

    /// Writes the file.
    ///
    /// - Parameter isComplete: Whether the muxer ended it.
    public func write(to path: String, isComplete: Bool = false) throws {
        let end = isComplete ? box("mfra", box("mfro", number(24 as UInt64))) : []
        try (header + bytes + end).write(to: URL(filePath: path))
    }

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        number(UInt32(content.count + 8)) + type.utf8 + content
    }

    private func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
