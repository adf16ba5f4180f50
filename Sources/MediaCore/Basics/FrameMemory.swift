internal import Glibc

/// Says why pixels or samples could not be mapped, or a frame could not be created.
public struct FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Hashable, Sendable {
        /// The memory cannot be mapped for the CPU, such as a GPU surface that cannot be
        /// downloaded.
        case notMappable
        /// The layout does not fit the memory: a stride is too small, or a plane ends beyond the
        /// memory.
        case badLayout
        /// There is no format of that name, or a size or rate is out of range.
        case badFormat
        /// The system has no memory left for a copy.
        case outOfMemory
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure, in one sentence.
    public let message: String

    /// Creates an error with its kind and its description.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

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

/// Whether the variable at `variable`, an existential of a class protocol, holds the only reference
/// to its object.
///
/// Passing an existential to a generic function opens it into a second reference, so the result
/// would always be `false`. Therefore the reference, which is the first word of a class
/// existential, is checked in place, through a function of a concrete type.
func isSoleReference(_ variable: UnsafeMutableRawPointer) -> Bool {
    let ask: (inout AnyObject) -> Bool = isKnownUniquelyReferenced
    let reference = unsafe variable.assumingMemoryBound(to: AnyObject.self)
    return unsafe ask(&reference.pointee)
}
