internal import Glibc

/// Memory that several frames and pipelines may use; released after the last of them.
final class SharedMemory: Sendable {
    /// The address, as an integer so that the class is Sendable without an unchecked conformance.
    private let address: UInt
    let count: Int
    /// Whether frames may write in place instead of copying.
    let isWritable: Bool
    /// Whether the program provided the memory, so that releasing it runs the program's code.
    let isOfProgram: Bool
    private let release: @Sendable () -> Void

    /// - Parameter release: Called once, on any thread, when nothing uses the memory any more.
    init(
        ofProgram memory: UnsafeMutableRawBufferPointer, isWritable: Bool,
        release: @escaping @Sendable () -> Void
    ) {
        address = UInt(bitPattern: memory.baseAddress)
        count = memory.count
        self.isWritable = isWritable
        isOfProgram = true
        self.release = release
    }

    /// Allocates uninitialised memory at a multiple of 64 bytes. Swift's own allocation would end
    /// the process if there is no memory.
    ///
    /// - Parameter what: What the memory is for, for the error: `a picture`.
    init(allocating count: Int, for what: String) throws(FrameError) {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(1, count)) == 0, let memory else {
            throw FrameError(.outOfMemory, "cannot allocate \(count) bytes for \(what)")
        }
        let address = UInt(bitPattern: memory)
        self.address = address
        self.count = count
        isWritable = true
        isOfProgram = false
        release = { free(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    deinit { release() }

    /// The memory. Valid while this object is referenced.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: address), count: count)
    }
}
