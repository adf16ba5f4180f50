/// The page on which a browser watches.
enum ViewerPage {
    static func html(title: String, asksForServers: Bool) -> String {
        PageParts.page(
            title: title, style: style, body: body, script: script, asksForServers: asksForServers)
    }

    private static let style = #"""
        body { overflow: hidden }
        video { position: fixed; inset: 0; width: 100%; height: 100%; object-fit: contain;
          background: #000 }
        #notice { position: fixed; inset: 0; display: flex; flex-direction: column; gap: 16px;
          align-items: center; justify-content: center; text-align: center; padding: 24px;
          background: rgba(16, 18, 22, .75); transition: opacity .3s }
        #state { font-size: 20px }
        #bar { position: fixed; right: max(12px, env(safe-area-inset-right));
          bottom: max(12px, env(safe-area-inset-bottom)); display: flex; gap: 8px;
          transition: opacity .3s }
        .idle #bar { opacity: 0 }
        """#

    private static let body = #"""
        <video id="video" autoplay muted playsinline></video>
        <div id="notice" role="status"><p id="state">Connecting …</p>
        """# + PageParts.tokenForm + #"""
            </div>
            <div id="bar">
            <button id="sound" hidden>Sound on</button>
            <button id="full">Full screen</button>
            </div>
            """#

    private static let script = #"""
        const video = $('video'), endpoint = new URL('whep', location.href.split('#')[0]);
        let current = null, wait = 500;
        function say(text) {
          $('state').textContent = text;
          $('notice').hidden = text === '';
        }
        function reason(error) {
          switch (error.status) {
            case undefined: return 'The server cannot be reached. Trying again …';
            case 406: return 'This browser cannot play the stream: ' + error.text;
            case 409: return 'Nothing is being shared. Waiting …';
            case 429: case 503: return 'The server is full. Waiting …';
            default: return 'The server refused: ' + error.text + '. Trying again …';
          }
        }
        async function start() {
          const me = current = { session: null, pc: null };
          const isPast = () => current !== me;
          const again = (text, least = 0) => {
            if (isPast()) return;
            current = null;
            me.pc?.close();
            leave(me.session);
            say(text);
            setTimeout(start, Math.max(wait, least));
            wait = Math.min(2 * wait, 8000);
          };
          try {
            const pc = me.pc = await connection(endpoint);
            if (isPast()) return pc.close();
            const [, audio] = ['video', 'audio'].map(kind =>
              pc.addTransceiver(kind, { direction: 'recvonly' }));
            // Tells at once when the server ends the session.
            pc.createDataChannel('messages').onclose = () => again('The stream has ended. Waiting …');
            video.srcObject = new MediaStream(pc.getReceivers().map(receiver => receiver.track));
            let grace;
            pc.onconnectionstatechange = () => {
              clearTimeout(grace);
              if (isPast()) return;
              switch (pc.connectionState) {
                case 'connected': wait = 500; break;
                case 'disconnected':
                  grace = setTimeout(() => again('The connection was lost. Trying again …'), 2000);
                  break;
                case 'failed': case 'closed': again('The connection was lost. Trying again …');
              }
            };
            me.session = await negotiate(pc, endpoint);
            if (isPast()) return leave(me.session);
            me.hasSound = audio.currentDirection === 'recvonly';
            showSound();
            say(pc.connectionState === 'connected' ? 'Waiting for video …' : 'Connecting …');
            watch(me, again);
          } catch (error) {
            if (isPast()) return;
            if (error.status === 401) {
              current = null;
              me.pc?.close();
              say('');
              $('notice').hidden = false;
              return askForToken(token !== null);
            }
            again(reason(error), error.wait);
          }
        }
        // Looks once a second whether pictures are shown. Packets without pictures for six seconds: again.
        // No packets for three seconds: the server is asked whether it still has the session.
        function watch(me, again) {
          const since = performance.now();
          let decoded = 0, packets = 0, lastPicture = since, lastPacket = since;
          const timer = setInterval(async () => {
            if (current !== me) return clearInterval(timer);
            let frames = 0, received = 0, total = 0, seen = false;
            (await me.pc.getStats()).forEach(entry => {
              if (entry.type !== 'inbound-rtp') return;
              total += entry.packetsReceived || 0;
              if (entry.kind !== 'video') return;
              seen = true;
              frames += entry.framesDecoded || 0;
              received += entry.packetsReceived || 0;
            });
            if (current !== me) return;
            const now = performance.now(), isConnected = me.pc.connectionState === 'connected';
            if (frames !== decoded) lastPicture = now;
            else if (received !== me.received && now - lastPicture > 6000) return again('The video has stopped. Trying again …');
            if (total !== packets) lastPacket = now;
            else if (isConnected && now - lastPacket > 3000) {
              lastPacket = now;
              if (!await exists(me.session)) return again('The connection was lost. Trying again …');
              if (current !== me) return;
            }
            [decoded, packets, me.received] = [frames, total, received];
            const isStill = now - lastPicture > 4000;
            if (frames > 0 && !isStill) say('');
            else if (frames > 0) say('The video is paused');
            else if (!seen && total > 0) say('Audio only');
            else if (isConnected) say('Waiting for video …');
            else if (now - since > 15000) again('The media connection failed. Trying again …');
          }, 1000);
          video.onplaying = () => { if (current === me) { lastPicture = performance.now(); say(''); } };
        }
        async function exists(session) {
          try {
            return (await fetch(session, { method: 'OPTIONS', signal: AbortSignal.timeout(3000) })).ok;
          } catch { return false; }
        }
        function showSound() {
          $('sound').hidden = !current?.hasSound;
          $('sound').textContent = video.muted ? 'Sound on' : 'Sound off';
        }
        $('sound').onclick = event => { event.stopPropagation(); video.muted = !video.muted; showSound(); };
        // The first click on the picture turns the sound on, which browsers do not allow before.
        video.addEventListener('click', () => { video.muted = false; video.play(); showSound(); },
          { once: true });
        $('full').onclick = () => {
          if (document.fullscreenElement) document.exitFullscreen();
          else if (document.documentElement.requestFullscreen) document.documentElement.requestFullscreen();
          else video.webkitEnterFullscreen?.();
        };
        let idle;
        function stir() {
          document.body.classList.remove('idle');
          clearTimeout(idle);
          idle = setTimeout(() => document.body.classList.add('idle'), 3000);
        }
        for (const name of ['pointermove', 'pointerdown', 'keydown']) addEventListener(name, stir);
        addEventListener('pagehide', () => {
          const me = current;
          current = null;
          leave(me?.session);
          me?.pc?.close();
        });
        addEventListener('pageshow', event => { if (event.persisted) start(); });
        showSound();
        stir();
        start();
        """#
}
