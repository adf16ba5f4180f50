internal import Glibc

/// The header of a FLAC stream.
///
/// Source: RFC 9639, sections 8.2 (Streaminfo) and 9.1 (frame header).
enum StreamInformation {
    /// Writes the number of samples into the header of a complete stream, so that players know its duration.
    static func addLength(to path: String) throws(PipelineError) {
        let file = try FileBytes(path)
        // "fLaC", the header of the block, and then block and frame sizes.
        guard let head = file.read(26, at: 0), head.count == 26,
            head.starts(with: Array("fLaC".utf8)), head[4] & 0x7f == 0,
            let samples = samples(of: file, block: UInt64(head[10]) << 8 | UInt64(head[11])),
            samples < 1 << 36
        else { return }
        // 20 bits of sample rate, 3 of channels, 5 of sample size, 36 of the number of samples.
        var field = [head[21] & 0xf0 | UInt8(samples >> 32)]
        field += (0..<4).reversed().map { UInt8(truncatingIfNeeded: samples >> ($0 * 8)) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, pwrite(descriptor, field, field.count, 21) == field.count else {
            throw PipelineError(cannot: "write the length of \"\(path)\"")
        }
    }

    /// Returns the number of samples from the first frame to the end of the last one; `nil` if there is none.
    ///
    /// - Parameter block: Samples of each frame but the last, unless the frames differ.
    private static func samples(of file: FileBytes, block: UInt64) -> UInt64? {
        guard
            let start = file.read(1 << 16, at: 0).flatMap({ bytes in
                (0..<max(0, bytes.count - 16)).lazy.compactMap { span(ofFrameAt: $0, bytes, block) }
                    .first
            })
        else { return nil }
        // The largest frame has less than 2 MB; those of a recording have some kilobytes.
        let length = min(file.count, 1 << 21)
        guard let tail = file.read(length, at: file.count - length), tail.count > 16 else {
            return nil
        }
        let end = (0..<tail.count - 16).reversed().lazy
            .compactMap { span(ofFrameAt: $0, tail, block) }.first
        // The frames of a later segment are numbered from the beginning of the recording.
        return end.flatMap {
            $0.upperBound > start.lowerBound ? $0.upperBound - start.lowerBound : nil
        }
    }

    /// Returns the samples of a frame, counted from the beginning of its stream; `nil` if there is no header
    /// of a frame.
    ///
    /// - Parameter start: With 16 bytes behind it.
    private static func span(
        ofFrameAt start: Int, _ bytes: [UInt8], _ block: UInt64
    ) -> Range<UInt64>? {
        guard bytes[start] == 0xff, bytes[start + 1] & 0xfe == 0xf8 else { return nil }
        let (size, rate) = (bytes[start + 2] >> 4, bytes[start + 2] & 0xf)
        var place = start + 4
        let more = max(0, (~bytes[place]).leadingZeroBitCount - 1)
        guard more < 7 else { return nil }
        var number = UInt64(bytes[place]) & (more == 0 ? 0x7f : 0x3f >> UInt64(more))
        for _ in 0..<more {
            place += 1
            number = number << 6 | UInt64(bytes[place] & 0x3f)
        }
        place += 1
        let samples: UInt64
        switch size {
        case 0: return nil
        case 1: samples = 192
        case 2...5: samples = 576 << UInt64(size - 2)
        case 6: samples = UInt64(bytes[place]) + 1
        case 7: samples = (UInt64(bytes[place]) << 8 | UInt64(bytes[place + 1])) + 1
        default: samples = 256 << UInt64(size - 8)
        }
        place += (size == 6 ? 1 : size == 7 ? 2 : 0) + (rate == 12 ? 1 : rate > 12 ? 2 : 0)
        guard checksum(bytes[start..<place]) == bytes[place] else { return nil }
        let isVariable = bytes[start + 1] & 1 == 1
        let (before, overflow) = number.multipliedReportingOverflow(by: isVariable ? 1 : block)
        return overflow || before > 1 << 60 ? nil : before..<before + samples
    }

    /// CRC-8 with the polynomial x^8 + x^2 + x + 1.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt8 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ byte) { rest, _ in
                rest & 0x80 == 0 ? rest << 1 : rest << 1 ^ 0x07
            }
        }
    }
}
