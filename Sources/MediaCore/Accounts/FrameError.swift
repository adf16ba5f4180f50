/// Why pixels could not be reached, or a frame could not be made.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Hashable, Sendable {
        /// The memory cannot be mapped for the CPU (a GPU surface without a download, say).
        case notMappable
        /// The layout does not fit the memory: a stride too small, a plane beyond the end.
        case badLayout
        /// No pixel format of that name, or a size out of range.
        case badFormat
        /// The system has no memory left for a copy.
        case outOfMemory
    }

    public let code: Code
    /// One sentence for people.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
