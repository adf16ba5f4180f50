internal import CFuzzer
internal import Dispatch
internal import Glibc

/// libFuzzer with this program's command line.
public enum Fuzzer {
    /// Calls `one` with each input, until the limits of the command line are reached or it crashes.
    public static func run(
        _ one: @escaping @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> Never {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, one))
    }

    /// Blocks until `body` returns.
    public static func wait(_ body: @escaping @Sendable () async -> Bool) -> Bool {
        let end = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result = false  // read after the signal
        Task.detached {
            result = await body()
            end.signal()
        }
        end.wait()
        return result
    }
}
