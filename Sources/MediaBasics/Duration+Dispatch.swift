package import Dispatch

extension Duration {
    /// The duration for Dispatch's clocks; `.never` if it does not fit.
    package var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let (whole, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooLong || beyond ? .never : .nanoseconds(Int(sum))
    }
}
