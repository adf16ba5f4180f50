/// How raw audio is converted for an encoder, with each channel in its place.
///
/// Encoders take few layouts, and audioconvert mixes any other layout into one of them. So each channel is
/// passed on unchanged, at the place where the encoder expects it, or the layout is refused.
struct EncodedSound {
    /// The elements in front of the encoder, each before an exclamation mark.
    let elements: String
    /// See ``RecorderReport/Track/converted``.
    let converted: String?

    /// - Throws: ``PipelineError`` for a layout that the encoder cannot store.
    init(_ info: AudioInfo, for encoder: AudioEncoderElement) throws(PipelineError) {
        let (channels, mask, rate) = (info.channels, info.channelMask, encoder.rate(for: info.rate))
        let given = channels == 1 ? "" : ",channel-mask=(bitmask)0x\(String(mask, radix: 16))"
        var text =
            "audioconvert ! audioresample ! audio/x-raw,rate=\(rate),channels=\(channels)\(given) ! "
        var losses = rate < info.rate ? ["\(info.rate) Hz as \(rate) Hz"] : []
        if encoder == .flacenc, let format = encoder.rounded(info) {
            losses.append("\(info.format) as \(format)")
        }
        if channels > 1 {
            guard let layout = encoder.layout(for: mask, channels) else {
                throw Self.refused(info, encoder)
            }
            if let stored = layout.stored {
                losses.append("\(Self.name(mask, channels)) as \(Self.name(stored, channels))")
            }
            if let order = layout.order {
                text +=
                    "audioconvert mix-matrix=\"<\(Self.matrix(order))>\" "
                    + "! audio/x-raw,channels=\(channels),"
                    + "channel-mask=(bitmask)0x\(String(layout.mask, radix: 16)) ! "
            }
            text += layout.label
        }
        elements = text
        converted = losses.isEmpty ? nil : losses.joined(separator: ", ")
    }

    /// Returns a matrix that only moves channels.
    ///
    /// - Parameter order: The channel that each channel of the result is taken from.
    private static func matrix(_ order: [Int]) -> String {
        order.map { source in
            let row = order.indices.map { "(float)\($0 == source ? 1 : 0)" }
            return "<\(row.joined(separator: ","))>"
        }.joined(separator: ",")
    }

    private static func refused(
        _ info: AudioInfo, _ encoder: AudioEncoderElement
    ) -> PipelineError {
        PipelineError(
            .streamFailed,
            message: "\(encoder.rawValue) cannot store the channels "
                + name(info.channelMask, info.channels),
            advice: "record FLAC into .mkv, or convert the channels in the capture: "
                + "audioconvert ! audio/x-raw,channels=2")
    }

    /// GStreamer's channel positions, by their bit in a mask.
    private static let positions = [
        "FL", "FR", "FC", "LFE", "BL", "BR", "FLC", "FRC", "BC", "LFE2", "SL", "SR", "TFL", "TFR",
        "TFC",
        "TC", "TBL", "TBR", "TSL", "TSR", "TBC", "BFC", "BFL", "BFR", "WL", "WR", "SSL", "SSR",
    ]

    private static func name(_ mask: UInt64, _ channels: Int) -> String {
        guard mask != 0 else { return "\(channels) without positions" }
        return (0..<64).filter { mask >> UInt64($0) & 1 == 1 }
            .map { $0 < positions.count ? positions[$0] : "\($0)" }.joined(separator: "+")
    }
}

// MARK: - What encoders take

extension AudioEncoderElement {
    /// A layout that an encoder gets.
    fileprivate struct Layout {
        /// GStreamer's channel mask that the encoder gets.
        var mask: UInt64
        /// The channel of the source that each of the encoder's channels is taken from; `nil` if they are the same.
        var order: [Int]?
        /// The layout that the file states, if it is not that of the source.
        var stored: UInt64?
        /// Elements that state the layout in the file, each before an exclamation mark.
        var label = ""
    }

    /// The layouts of more than one channel that the encoder stores, by mask; for channels without positions the
    /// first of their number is used. A low-frequency channel is stored without its higher frequencies by AAC, so
    /// its layouts without such a channel come first.
    fileprivate var layouts: [UInt64] {
        switch self {
        case .voaacenc: [0x3]
        case .mulawenc, .alawenc: []
        case .audioconvert: [0x3, 0x7, 0x33, 0x37, 0x3f, 0x13f, 0x63f, 0xc3f]
        case .opusenc: [0x3, 0x7, 0x33, 0x37, 0x3f, 0xd0f, 0xc3f]
        case .flacenc: [0x3, 0x7, 0x33, 0x37, 0x3f, Self.ordersChannels ? 0xd0f : 0x13f, 0xc3f]
        case .avenc_aac:
            // libavcodec 61 stores 0xcc3 in an order that its decoder does not know.
            [0x3, 0x7, 0x107, 0x37, 0xd07, 0x3f, 0xb, 0x103, 0x33, 0xf, 0x10f, 0x137]
        }
    }

    /// Whether opusenc and flacenc store six to eight channels in their standards' order, as from GStreamer
    /// 1.26.10 on. Before, opusenc passes the inverse of the permutation that libopus expects, and flacenc puts
    /// the rear channels in front of the centre.
    private static let ordersChannels = GStreamer.isAtLeast(1, 26, 10)

    /// For each channel that such an encoder gets, the channel to be stored in its place.
    private func correction(_ mask: UInt64) -> [Int]? {
        guard !Self.ordersChannels else { return nil }
        return switch (self, mask) {
        case (.opusenc, 0x37): [0, 1, 4, 2, 3]
        case (.opusenc, 0xd0f): [0, 1, 4, 3, 5, 2, 6]
        case (.opusenc, 0xc3f): [0, 1, 6, 7, 2, 3, 4, 5]
        case (.flacenc, 0x13f): [0, 1, 4, 5, 2, 3, 6]
        case (.flacenc, 0xc3f): [0, 1, 4, 5, 2, 3, 6, 7]
        default: nil
        }
    }

    /// Returns how a layout is stored; `nil` if it cannot be.
    fileprivate func layout(for mask: UInt64, _ channels: Int) -> Layout? {
        let usual = layouts.first { $0.nonzeroBitCount == channels }
        if self == .flacenc {
            guard let usual, mask < 0x1000, mask & 0x200 == 0 else { return nil }
            return labelled(mask, channels, as: usual)
        }
        let exchanged = Self.exchangingSurround(mask)
        if layouts.contains(mask) { return Layout(mask: mask, order: correction(mask)) }
        guard let stored = layouts.contains(exchanged) ? exchanged : mask == 0 ? usual : nil else {
            return nil
        }
        // The order of the source's channels among the stored positions.
        let places = Self.positions(mask).map { mask == stored ? $0 : Self.exchanged($0) }
        let own =
            mask == 0
            ? Array(0..<channels)
            : Self.positions(stored).compactMap { places.firstIndex(of: $0) }
        let correction = correction(stored) ?? Array(0..<channels)
        return Layout(mask: stored, order: correction.map { own[$0] }, stored: stored)
    }

    /// FLAC files state any layout by a tag, with the channels in the order of the mask's bits.
    private func labelled(_ mask: UInt64, _ channels: Int, as usual: UInt64) -> Layout {
        let order = correction(usual) ?? (mask == usual ? nil : Array(0..<channels))
        guard mask != 0 else { return Layout(mask: usual, order: order, stored: usual) }
        // Microsoft's masks have no second low-frequency channel in front of the side channels.
        let tag = String(mask & 0x1ff | mask >> 1 & 0x600, radix: 16)
        return Layout(
            mask: usual, order: order,
            label: channels == 2 && mask == usual
                ? ""
                : "taginject tags=\"extended-comment=\\\"WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x\(tag)\\\"\" ! "
        )
    }

    private static func positions(_ mask: UInt64) -> [Int] {
        (0..<64).filter { mask >> UInt64($0) & 1 == 1 }
    }

    /// One pair of surround channels is called that of the rear or of the sides.
    private static func exchanged(_ position: Int) -> Int {
        switch position {
        case 4, 5: position + 6
        case 10, 11: position - 6
        default: position
        }
    }

    private static func exchangingSurround(_ mask: UInt64) -> UInt64 {
        positions(mask).reduce(0) { $0 | 1 << UInt64(exchanged($1)) }
    }

    /// Returns the sample rate that a stream is stored with, in Hz: its own, or the next higher one that the
    /// encoder takes, or the highest.
    fileprivate func rate(for rate: Int) -> Int {
        switch self {
        // Opus supports five sample rates, and its files state 48 kHz anyway.
        case .opusenc: return 48_000
        case .mulawenc, .alawenc: return 8_000
        case .flacenc: return min(rate, 655_350)
        case .audioconvert: return rate
        case .avenc_aac, .voaacenc:
            let rates = [
                8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000,
                88_200, 96_000,
            ]
            return rates.first { $0 >= rate } ?? 96_000
        }
    }

    /// Returns the sample format that flacenc rounds a format to; `nil` if it keeps it.
    fileprivate func rounded(_ info: AudioInfo) -> String? {
        ["F32LE", "F64LE", "F32BE", "F64BE", "S32LE", "S32BE", "U32LE", "U32BE"].contains(
            info.format)
            ? "S24LE" : nil
    }
}
