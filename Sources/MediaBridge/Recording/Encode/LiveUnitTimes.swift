/// The times of the units of a live stream that is recorded without encoding.
///
/// A receiver corrects the times that it gives: rtpjitterbuffer (GStreamer 1.22,
/// `rtp_jitter_buffer_calculate_pts`) gives several units the time of the first while it catches up,
/// whereupon GstBaseParse gives the later ones none, because it takes an equal time for that of the
/// same buffer; and it goes back when its times are a second ahead of the arrival of the packets. A
/// file whose times stand still or go back does not play, so such units follow the latest one by a
/// millisecond each, the unit of time of Matroska.
struct LiveUnitTimes {
    private static let step = MediaTime(nanoseconds: 1_000_000)
    /// Pictures that are stored in another order than they are shown go back by no more than this.
    private static let reordering = MediaTime(nanoseconds: 500_000_000)
    /// A jump back by more than this means that the times have restarted.
    private static let restart = MediaTime(nanoseconds: 2_000_000_000)

    /// The latest unit in the order of times: its time as it came, and as it was returned.
    private var latest: (given: MediaTime, returned: MediaTime)?
    /// The latest time returned before the last correction: no unit may go back beyond it.
    private var floor: MediaTime?

    /// Returns the time of the next unit.
    ///
    /// - Parameter given: Its time as it came; `nil` if it has none.
    /// - Returns: `nil` if no unit has had a time yet.
    mutating func next(_ given: MediaTime?) -> MediaTime? {
        guard let latest else {
            latest = given.map { ($0, $0) }
            return given
        }
        var reached = given ?? latest.given
        if reached < latest.given {
            let back = latest.given - reached
            if back > Self.restart {
                (self.latest, floor) = ((reached, reached), nil)
                return reached
            }
            if back > Self.reordering {
                floor = latest.returned
            } else if floor.map({ reached > $0 }) ?? true {
                return reached
            } else {
                reached = latest.given
            }
        }
        let returned = max(reached, latest.returned + Self.step)
        self.latest = (reached, returned)
        return returned
    }
}
