import BridgeCommands
import Foundation
import MediaBridge
import Synchronization

/// One user's membership in a channel, as the command shows it.
final class Participation: Sendable {
    let engine: MediaEngine
    let reception: Reception
    let end: EndOfServing
    private let users = Mutex<Set<UserID>>([])
    private let rates = Mutex<[UserID: RateOfCount]>([:])
    private let isReconnecting = Mutex(false)
    private let ownRate = RateOfCount()

    init(_ engine: MediaEngine, _ reception: Reception, _ end: EndOfServing) {
        self.engine = engine
        self.reception = reception
        self.end = end
    }

    /// Follows the engine's events until it is shut down.
    func follow() -> Task<Void, Never> {
        let events = engine.events
        return Task {
            for await event in events {
                note(event)
                await reception.handle(event, end)
            }
        }
    }

    private func note(_ event: EngineEvent) {
        switch event {
        case .userJoined(let user): _ = users.withLock { $0.insert(user) }
        case .userOffline(let user, _): _ = users.withLock { $0.remove(user) }
        case .connectionChanged(.reconnecting(1, let error)):
            isReconnecting.withLock { $0 = true }
            Terminal.say("reconnecting: \(error)")
        case .connectionChanged(.reconnecting): break
        case .connectionChanged(.connected):
            let wasAway = isReconnecting.withLock { value in
                defer { value = false }
                return value
            }
            if wasAway { Terminal.say("reconnected") }
        case .publicationChanged(_, .sending): Terminal.say("sending")
        case .publicationChanged(_, .paused): Terminal.say("sending is paused")
        case .sourceEnded: end.note(.endOfStream)
        case .sourceFailed(_, let error), .publicationChanged(_, .failed(let error)):
            end.note(.failure(error))
        case .sourceStalled(_, let time):
            Terminal.say("the capture has delivered nothing for \(time)")
        case .audioSourceFailed(let error), .audioPublicationFailed(let error):
            Terminal.say("continuing without audio: \(error)")
        case .firstRemoteFrame(let user, .main, let size):
            Terminal.say("\(user) sends video: \(size.width)x\(size.height)")
        case .firstRemoteAudio(let user, _): Terminal.say("\(user) sends audio")
        case .trackUnpublished(.main, let user): Terminal.say("\(user) no longer sends video")
        case .videoMuted(let isMuted, .main, let user):
            Terminal.say("\(user) has \(isMuted ? "muted" : "unmuted") the video")
        case .audioMuted(let isMuted, let user):
            Terminal.say("\(user) has \(isMuted ? "muted" : "unmuted") the audio")
        case .messageReceived(let message, let user):
            Terminal.say("\(user): \(String(decoding: message.bytes, as: UTF8.self))")
        default: break
        }
    }

    /// Returns the status line: the users in the channel, and the rates of received and sent
    /// frames.
    func line() async -> String {
        let statistics = await engine.statistics
        let names = users.withLock { $0.sorted { $0.name < $1.name } }
        let others = names.map { user in
            let received = statistics.remote[user]?[.main]?.received ?? 0
            let rate = rates.withLock { rates in
                let rate = rates[user] ?? RateOfCount()
                rates[user] = rate
                return rate
            }
            let now = rate.note(received)
            // No frames arrive from a user that is not shown or recorded here.
            return received == 0 ? "\(user)" : "\(user) \(Text.decimal(now, 1)) fps"
        }
        let sent = statistics.sent
        return "\(isReconnecting.withLock { $0 } ? "reconnecting  " : "")"
            + "\(names.count + 1) \(names.isEmpty ? "member" : "members")  "
            + "\(Text.decimal(ownRate.note(sent), 1)) fps sent  "
            + (others.isEmpty ? "no other members" : others.joined(separator: "  "))
    }
}

/// The lines of standard input as messages and commands.
final class Console: Sendable {
    private let task: Task<Void, Never>

    init(_ participation: Participation) {
        let (lines, line) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(256))
        // A background process cannot read the terminal: a process that tries is stopped, unless it
        // ignores the signal. Reading cannot be cancelled; the thread lives as long as the process.
        signal(SIGTTIN, SIG_IGN)
        Thread.detachNewThread {
            while let text = readLine() { line.yield(text) }
            line.finish()
        }
        task = Task { for await line in lines { await Self.obey(line, participation) } }
    }

    private static func obey(_ line: String, _ participation: Participation) async {
        let engine = participation.engine
        do {
            switch line {
            case "": break
            case "/mute", "/unmute":
                engine.muteLocalAudio(line == "/mute")
                try await engine.muteLocalVideo(line == "/mute")
            case "/leave": participation.end.note(.interrupt)
            default: try await engine.sendMessage(ChannelMessage(Array(line.utf8)))
            }
        } catch {
            Terminal.say("\(error)")
        }
    }

    func end() { task.cancel() }
}

extension ServingReport {
    /// Adds the counts of a channel, sent and received. The frames of a user are its received video
    /// frames.
    mutating func add(_ statistics: EngineStatistics) {
        for (user, tracks) in statistics.remote {
            captures[user.name] = .init(frames: tracks[.main]?.received ?? 0, dropped: 0)
        }
        for (stream, remote) in statistics.gone.remote.latest where stream.track == .main {
            captures[stream.user.name, default: .init(frames: 0, dropped: 0)].frames +=
                remote.received
        }
        // After the end of the membership, for example by a kick, only the engine's own counts are
        // left.
        outputs["channel"] = .init(statistics.channel?.outgoing.balance ?? statistics.outgoing)
    }
}
