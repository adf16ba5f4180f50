/// Films that are decoded, encoded and recorded.
enum Films: Workload {
    static let name = "films"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        let film = media.directory.appending(path: "film.mkv").path
        let copy = media.directory.appending(path: "copy.mkv").path
        var again = Comparison(
            "film", "640×360 H.264 and AAC, decoded and encoded again", pieces: 600
        ) { _ in
            let from =
                "filesrc location=\(film) ! matroskademux name=d d.video_0 ! queue ! decodebin"
            let sound = "d.audio_0 ! queue ! decodebin"
            let encoder = "x264enc speed-preset=veryfast"
            let to = "matroskamux name=m ! filesink location=\(copy)"
            return [
                .bridge(
                    "\(from) ! appsink name=video \(sound) ! appsink name=audio",
                    "appsrc name=video ! \(encoder) ! m. "
                        + "appsrc name=audio ! audioconvert ! avenc_aac ! m. \(to)",
                    limits: [Limit(.cpu, .ratio(1.05)), Limit(.wall, .ratio(1.05))]),
                .launch(
                    "gst-launch-1.0",
                    "\(from) ! \(encoder) ! m. \(sound) ! audioconvert ! avenc_aac ! m. \(to)"),
            ]
        }
        again.prepare = { try Media.makeFilm(at: film, seconds: 20) }
        guard isFull else { return [again] }
        let recording = Comparison(
            "recording", "A live recording, 1080p at 30 a second, 10 s", pieces: 300,
            figures: [.cpu, .load, .peak]
        ) { frames in
            let capture =
                "videotestsrc is-live=true num-buffers=\(frames) ! "
                + "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
            return [
                .command(
                    "gst-bridge record",
                    ["record", "--overwrite", "--capture", capture, copy]),
                .launch(
                    "gst-launch-1.0",
                    "\(capture) ! queue ! x264enc tune=zerolatency speed-preset=veryfast ! "
                        + "h264parse ! matroskamux ! filesink location=\(copy)"),
            ]
        }
        return [again, recording]
    }
}
