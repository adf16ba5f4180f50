import Glibc

/// Whether the tests run under AddressSanitizer or ThreadSanitizer.
public enum Sanitizer {
    public static let isActive =
        dlsym(nil, "__asan_init") != nil || isOfThreads

    /// ThreadSanitizer keeps its state in files, which a limit of a file's size (`ulimit -f`) makes unusable.
    public static let isOfThreads = dlsym(nil, "__tsan_init") != nil
}
