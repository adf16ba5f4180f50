internal import CMediaBridge
internal import Synchronization

/// Decides which of several delayed links gets a pad.
///
/// GStreamer's parser makes the first link of the string that is possible. In
/// `d. ! fakesink d. ! videoconvert`, a video pad that comes first goes to the fakesink, and
/// `videoconvert` gets none. Here a link is refused while a receiver with narrower formats still
/// waits for such a pad, so that the order of the pads does not matter.
///
/// Pads that appear on several threads (`rtpbin`) are linked one after the other: a pad that is
/// linked to be refused has a peer for a moment, and another pad would find that receiver taken.
///
/// Thread: any.
final class LateLinkChoice: Sendable {
    /// Addresses of the sink pads that wait for a stream. Their elements are elements of the string
    /// and live as long as the pipeline; references would be a cycle, because the pads retain this
    /// object.
    private let receivers: [UInt]
    private struct State {
        /// Receivers that were refused a pad in favour of another, by the address of the source pad.
        var refused: [UInt: [UInt]] = [:]
        /// Source pads that are linked without a choice.
        var settled: Set<UInt> = []
    }
    private let state = Mutex(State())
    /// Held while the handlers of `pad-added` run, from the first to ``finish()``.
    private nonisolated(unsafe) let linking: UnsafeMutablePointer<GRecMutex>

    private init(_ receivers: [UInt]) {
        self.receivers = receivers
        linking = .allocate(capacity: 1)
        g_rec_mutex_init(linking)
    }

    deinit {
        g_rec_mutex_clear(linking)
        linking.deallocate()
    }

    /// Installs the choice on the sink pads of a string to which delayed links lead.
    ///
    /// - Returns: `nil` if there is no choice.
    static func install(on elements: [Element]) -> LateLinkChoice? {
        let elements = elements.filter(\.isOfString)
        let givers = elements.filter(LateLinks.hasLatePads)
        guard !givers.isEmpty else { return nil }
        let pads = elements.flatMap { $0.pads(GST_PAD_SINK) }
            .filter { !$0.isLinked && $0.pointer.pointee.linkfunc == nil }
        guard pads.count > 1 else { return nil }
        let choice = LateLinkChoice(pads.map { UInt(bitPattern: $0.pointer) })
        for pad in pads {
            mb_pad_set_link_function(
                pad.pointer,
                { pad, _, peer in
                    guard let pad, let peer, let context = pad.pointee.linkdata,
                        Unmanaged<LateLinkChoice>.ofContext(context)._withUnsafeGuaranteedRef({
                            !$0.allows(Pad(retaining: peer), Pad(retaining: pad))
                        })
                    else { return GST_PAD_LINK_OK }
                    return GST_PAD_LINK_REFUSED
                }, Unmanaged.context(choice), SignalRelease.destroy)
        }
        _ = beforeAllHandlers
        for giver in givers {
            mb_object_attach(giver.pointer, key, Unmanaged.context(choice), SignalRelease.destroy)
        }
        return choice
    }

    /// The name of an element's choice among the data that are attached to it.
    private static let key = "mediabridge-late-link-choice"

    /// Begins the links of a new source pad. GStreamer's parser has connected its handlers before
    /// this object exists; only an emission hook runs before them.
    private static let beforeAllHandlers: Void = {
        g_signal_add_emission_hook(
            g_signal_lookup("pad-added", gst_element_get_type()), 0,
            { _, _, values, _ in
                guard let values, let element = g_value_get_object(values),
                    let pad = g_value_get_object(values + 1),
                    gst_pad_get_direction(
                        UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GstPad.self))
                        == GST_PAD_SRC,
                    let context = mb_object_attached(element, key)
                else { return 1 }
                Unmanaged<LateLinkChoice>.ofContext(context)._withUnsafeGuaranteedRef {
                    g_rec_mutex_lock($0.linking)
                }
                return 1
            }, nil, nil)
    }()

    /// Ends the links of a new source pad: its last handler has run.
    func finish() { g_rec_mutex_unlock(linking) }

    /// Links a pad that no delayed link took to the first receiver that was refused it: the receiver
    /// that it was kept for waits for a pad of another element.
    func settle(_ pad: Pad) {
        let source = UInt(bitPattern: pad.pointer)
        let refused = state.withLock { state in
            state.settled.insert(source)
            return state.refused.removeValue(forKey: source) ?? []
        }
        defer { state.withLock { _ = $0.settled.remove(source) } }
        guard !pad.isLinked else { return }
        for receiver in refused.compactMap(Self.pad) where !receiver.isLinked {
            if pad.link(to: receiver) { return }
        }
    }

    private func allows(_ pad: Pad, _ receiver: Pad) -> Bool {
        let source = UInt(bitPattern: pad.pointer)
        let taker = UInt(bitPattern: receiver.pointer)
        guard let giver = pad.element, giver.isOfString, LateLinks.hasLatePads(giver),
            !state.withLock({ $0.settled.contains(source) }),
            let offered = pad.currentOrPossibleCaps
        else { return true }
        let kind = OpenEnds.Kind(of: offered)
        let taste = Taste(of: receiver)
        if let only = taste.onlyKind, let kind, only != kind { return false }
        let isKept = receivers.contains { other in
            guard other != taker, let other = Self.pad(other), !other.isLinked else { return false }
            return Taste(of: other).isBetter(than: taste, for: offered, of: kind)
        }
        if isKept { state.withLock { $0.refused[source, default: []].append(taker) } }
        return !isKept
    }

    private static func pad(_ address: UInt) -> Pad? {
        UnsafeMutablePointer<GstPad>(bitPattern: address).map { Pad(retaining: $0) }
    }
}

/// What a sink pad, and the elements behind it, take.
private struct Taste {
    let caps: Caps
    /// Whether the string itself states these caps.
    let isStated: Bool
    /// The only kind of media that the sink at the end plays, although it takes other formats:
    /// `autoaudiosink` without a device takes any.
    private(set) var onlyKind: OpenEnds.Kind?
    /// The kind of media by which the appsink at the end is named.
    private(set) var namedKind: OpenEnds.Kind?

    init(of pad: Pad) {
        caps = gst_pad_query_caps(pad.pointer, nil).map { Caps(adopting: $0) } ?? .any
        var last = pad.element
        isStated = last?.factoryName == "capsfilter"
        for _ in 0..<256 {
            guard let next = last?.pad("src")?.peer?.element else { break }
            last = next
        }
        guard let end = last else { return }
        let klass = end.klass
        onlyKind =
            klass.hasPrefix("Sink/Audio") ? .audio : klass.hasPrefix("Sink/Video") ? .video : nil
        guard end.factoryName == "appsink" else { return }
        namedKind =
            end.name.hasPrefix("audio") ? .audio : end.name.hasPrefix("video") ? .video : nil
    }

    /// Whether it takes the offered formats, and the other takes more than these.
    func isBetter(than other: Taste, for offered: Caps, of kind: OpenEnds.Kind?) -> Bool {
        guard onlyKind == nil || kind == nil || onlyKind == kind,
            !caps.intersection(offered).isEmpty
        else { return false }
        if caps.isAny {
            return other.caps.isAny && kind != nil && fitness(for: kind) > other.fitness(for: kind)
        }
        if other.caps.isAny { return true }
        if isStated, !other.isStated { return caps.isSubset(of: other.caps) }
        return Set(caps.mediaTypes).isStrictSubset(of: other.caps.mediaTypes)
    }

    /// How well a receiver of any formats fits a kind of media: by its sink or name, or else by chance.
    private func fitness(for kind: OpenEnds.Kind?) -> Int {
        guard let own = onlyKind ?? namedKind else { return 1 }
        return own == kind ? 2 : 0
    }
}

extension OpenEnds.Kind {
    /// The kind of media of the first format, raw, encoded or in RTP packets; `nil` for anything
    /// else.
    fileprivate init?(of caps: Caps) {
        let type = caps.mediaType
        let kind = type == "application/x-rtp" ? caps.text(of: "media") ?? "" : type
        if kind.hasPrefix("audio") {
            self = .audio
        } else if kind.hasPrefix("video") || kind.hasPrefix("image/") {
            self = .video
        } else {
            return nil
        }
    }
}

extension PipelineChains {
    /// Returns the string with a capsfilter for the caps of each link of an element that has several
    /// delayed links. GStreamer makes that filter only when a pad appears; before, it is unknown
    /// which pad such a link needs.
    static func withFilters(_ text: String) -> String {
        guard let chains = PipelineChains(text) else { return text }
        func giver(_ node: Node) -> Node? {
            node.isReference ? chains.element(of: node.name) : node
        }
        let links = chains.chains.flatMap { chain in zip(chain, chain.dropFirst()) }
        var bytes = Array(text.utf8)
        for (node, next) in links.reversed() {
            guard let caps = node.capsBehind, let name = giver(node)?.name,
                links.count(where: { giver($0.0)?.name == name }) > 1,
                let factory = giver(node)?.factory,
                ElementFactory.padTemplates(of: factory, .source)?
                    .contains(where: { $0.presence == .sometimes }) == true,
                !caps.contains(where: { "\"'\\".contains($0) })
            else { continue }
            let link = node.place.upperBound..<next.place.lowerBound
            // `a : caps : b` links all pads.
            guard bytes[link].first(where: { $0 > 32 }) == UInt8(ascii: "!") else { continue }
            let trimmed = caps.trimming { $0.isWhitespace }
            bytes.replaceSubrange(link, with: " ! capsfilter caps=\"\(trimmed)\" ! ".utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
