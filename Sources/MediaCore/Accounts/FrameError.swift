/// Says why pixels or samples could not be mapped, or a frame could not be created.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
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
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
