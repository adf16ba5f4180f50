internal import CFuzzer
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
}
