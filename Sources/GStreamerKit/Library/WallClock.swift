internal import CMediaBridge

/// The wall clock, and the time zone in which its time is written.
package struct WallClock: Sendable {
    /// Returns the time now, in nanoseconds since 1970 in UTC. May jump: users and NTP set it.
    package let now: @Sendable () -> Int64
    /// The time zone by its IANA name, for example `UTC` or `Europe/Berlin`; `nil`: the system's.
    package let zone: String?

    /// Creates the clock of the system by default.
    package init(
        zone: String? = nil,
        now: @escaping @Sendable () -> Int64 = { Int64(g_get_real_time()) * 1000 }
    ) {
        self.zone = zone
        self.now = now
    }

    /// Writes a time as `g_date_time_format` does; `nil` if that does not know a conversion of
    /// `format`, or the year is not between 1 and 9999.
    package func text(of time: Int64, format: String) -> String? {
        withDateTime(time) { String(adopting: g_date_time_format($0, format)) }
    }

    /// Returns how many seconds local time is ahead of UTC at a time.
    package func secondsAheadOfUTC(at time: Int64) -> Int64 {
        withDateTime(time) { Int64(g_date_time_get_utc_offset($0)) / 1_000_000 } ?? 0
    }

    /// Returns the local time of day of a time, in nanoseconds.
    package func timeOfDay(at time: Int64) -> Int64 {
        let day: Int64 = 86_400_000_000_000
        let local = time + secondsAheadOfUTC(at: time) * 1_000_000_000
        return (local % day + day) % day
    }

    /// Reads an ISO 8601 date with a time, in nanoseconds since 1970: `2026-11-27T14:03:20.5`, with
    /// or without an offset such as `+01:00`; `nil` for any other text.
    ///
    /// - Returns: The times in order. Without an offset, a local time is there twice when summer time ends, and
    ///   not at all when it begins.
    package func times(of text: String) -> [Int64]? {
        guard let inUTC = Self.time(of: text, in: g_time_zone_new_utc()),
            let here = Self.time(of: text, in: timeZone)
        else { return nil }
        guard inUTC != here else { return [here] }
        let day: Int64 = 86_400_000_000_000
        let offsets = Set([inUTC - day, inUTC + day].map { secondsAheadOfUTC(at: $0) })
        return offsets.compactMap { offset in
            let time = inUTC - offset * 1_000_000_000
            return secondsAheadOfUTC(at: time) == offset ? time : nil
        }.sorted()
    }

    /// - Parameter place: The time zone of a text without an offset; its reference is taken over.
    private static func time(of text: String, in place: OpaquePointer?) -> Int64? {
        defer { if let place { g_time_zone_unref(place) } }
        guard let date = g_date_time_new_from_iso8601(text, place) else { return nil }
        defer { g_date_time_unref(date) }
        let (time, overflow) = Int64(g_date_time_to_unix(date)).multipliedReportingOverflow(
            by: 1_000_000_000)
        return overflow ? nil : time + Int64(g_date_time_get_microsecond(date)) * 1000
    }

    private var timeZone: OpaquePointer? {
        zone.map { g_time_zone_new_identifier($0) } ?? g_time_zone_new_local()
    }

    private func withDateTime<R>(_ time: Int64, _ body: (OpaquePointer) -> R?) -> R? {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard let utc = g_date_time_new_from_unix_utc(gint64(seconds)) else { return nil }
        defer { g_date_time_unref(utc) }
        let place = timeZone
        defer { if let place { g_time_zone_unref(place) } }
        guard let whole = place.flatMap({ g_date_time_to_timezone(utc, $0) }) else { return nil }
        defer { g_date_time_unref(whole) }
        guard let exact = g_date_time_add(whole, gint64(rest / 1000)) else { return nil }
        defer { g_date_time_unref(exact) }
        return body(exact)
    }
}
