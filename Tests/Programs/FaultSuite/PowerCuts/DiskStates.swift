import Foundation
import Glibc
import TestSupport

/// The states in which a power failure may leave a recorded file.
///
/// All that was written before the beginning of the last complete flush is on the disk. Of later
/// writes, each block may be there or not, in any order, and the file's size may be ahead of the blocks,
/// which then read as zeros, or behind them.
struct DiskStates {
    private let log: WriteLog
    /// The contents and the size after each step.
    private let sizes: [Int]
    /// The number of steps whose writes are on the disk for certain, after each step.
    private let certain: [Int]
    let settled: Int

    /// - Parameter settled: The number of steps that count as flushed in any case.
    init(_ log: WriteLog, settled: Int = 0) {
        self.log = log
        var (size, flushed) = (0, settled)
        var began: [Int: Int] = [:]
        var sizes: [Int] = []
        var certain: [Int] = []
        for (index, step) in log.steps.enumerated() {
            switch step {
            case .write(let offset, let bytes): size = max(size, offset + bytes.count)
            case .resize(let new): size = new
            case .flushBegan(let number): began[number] = index
            case .flushed(let number): flushed = max(flushed, began[number] ?? 0)
            case .flushedDirectory, .reported: break
            }
            sizes.append(size)
            certain.append(flushed)
        }
        (self.sizes, self.certain, self.settled) = (sizes, certain, settled)
    }

    /// The number of steps that are on the disk for certain when the power fails after `steps` steps.
    func flushed(after steps: Int) -> Int { steps == 0 ? 0 : min(steps, certain[steps - 1]) }

    /// Writes the file as it was after a number of steps.
    func write(upTo steps: Int, to path: String) throws {
        try change(path) { file in
            for step in log.steps[..<steps] { store(step, in: file) { _ in true } }
        }
    }

    /// Writes a state in which a power failure after `steps` steps may leave the file.
    func writeRandom(after steps: Int, to path: String, using random: inout SeededGenerator) throws
    {
        let base = flushed(after: steps)
        // Disks write sectors of 512 bytes, file systems mostly blocks of 4096.
        let block = [512, 4096, 4096, 4096].randomElement(using: &random) ?? 4096
        let pending = log.steps[base..<steps]
        var touches: [Int: Int] = [:]
        for case .write(let offset, let bytes) in pending {
            for number in offset / block...(offset + bytes.count - 1) / block {
                touches[number, default: 0] += 1
            }
        }
        // How many of the writes to each block reach the disk.
        let share = Double.random(in: 0...1, using: &random)
        let isOrdered = Int.random(in: 0..<4, using: &random) == 0
        let limit = Int.random(in: base...steps, using: &random)
        var left: [Int: Int] = [:]
        for (number, count) in touches.sorted(by: { $0.key < $1.key }) {
            left[number] =
                Double.random(in: 0..<1, using: &random) < share
                ? count : Int.random(in: 0...count, using: &random)
        }
        let size = size(base, steps, block, &random)
        try change(path) { file in
            for step in log.steps[..<base] { store(step, in: file) { _ in true } }
            for (index, step) in pending.enumerated() {
                guard !isOrdered else {
                    if base + index < limit { store(step, in: file) { _ in true } }
                    continue
                }
                store(step, in: file, block) { number in
                    guard let count = left[number], count > 0 else { return false }
                    left[number] = count - 1
                    return true
                }
            }
            if !isOrdered { ftruncate(file, size) }
        }
    }

    private func size(_ base: Int, _ steps: Int, _ block: Int, _ random: inout SeededGenerator)
        -> Int
    {
        let (least, most) = (base == 0 ? 0 : sizes[base - 1], steps == 0 ? 0 : sizes[steps - 1])
        guard least < most else { return most }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return least
        case 1: return most
        case 2: return sizes[Int.random(in: max(0, base - 1)..<steps, using: &random)]
        default:
            return min(most, (Int.random(in: least...most, using: &random) / block + 1) * block)
        }
    }

    private func change(_ path: String, _ body: (Int32) -> Void) throws {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Trouble(description: "cannot write \(path): \(errno)") }
        defer { close(file) }
        body(file)
    }

    /// Stores the blocks of one step that `isStored` selects.
    private func store(
        _ step: WriteLog.Step, in file: Int32, _ block: Int = .max, isStored: (Int) -> Bool
    ) {
        switch step {
        case .resize(let size): ftruncate(file, size)
        case .write(let offset, let range):
            log.bytes.withUnsafeBytes { bytes in
                var at = 0
                while at < range.count {
                    let number = (offset + at) / block
                    let end = block == .max ? range.count : (number + 1) * block - offset
                    let part = bytes[
                        range.lowerBound + at..<range.lowerBound + min(end, range.count)]
                    if isStored(number) {
                        pwrite(
                            file, UnsafeRawBufferPointer(rebasing: part).baseAddress, part.count,
                            offset + at)
                    }
                    at += part.count
                }
            }
        default: break
        }
    }
}
