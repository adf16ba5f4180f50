internal import Glibc

/// Returns the system's text for an error number; by default, that of the last call on this thread.
package func systemErrorText(_ number: Int32 = errno) -> String {
    String(cString: strerror(number))
}
