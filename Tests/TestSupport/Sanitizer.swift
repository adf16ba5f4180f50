import Glibc

/// Whether the tests run under AddressSanitizer or ThreadSanitizer.
public enum Sanitizer {
    public static let isActive =
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
