/// The page from which a browser sends its camera, its microphone or its screen.
enum SenderPage {
    static func html(title: String, asksForServers: Bool) -> String {
        PageParts.page(
            title: title, style: style, body: body, script: script, asksForServers: asksForServers)
    }

    private static let style = #"""
        main { max-width: 720px; margin: 0 auto; padding: 16px; display: flex; flex-direction: column;
          gap: 12px }
        video { width: 100%; aspect-ratio: 16 / 9; object-fit: contain; background: #000;
          border-radius: 12px }
        video.mirrored { transform: scaleX(-1) }
        #state { font-size: 18px; min-height: 1.5em }
        #figures { color: #9aa0a6; min-height: 1.5em; font-variant-numeric: tabular-nums }
        label { display: flex; flex-direction: column; gap: 4px; color: #9aa0a6 }
        label > * { color: #e8eaed }
        .row { display: flex; gap: 8px; flex-wrap: wrap } .row > * { flex: 1 1 200px }
        #start.live { background: #b3261e; border-color: #b3261e }
        #start { background: #1a73e8; border-color: #1a73e8; font-weight: 600 }
        """#

    private static let body = #"""
        <main>
        <video id="video" autoplay muted playsinline></video>
        <p id="state" role="status">Ready</p>
        <p id="figures"></p>
        """# + PageParts.tokenForm + #"""
            <div class="row">
            <label>Video <select id="camera"></select></label>
            <label>Audio <select id="microphone"></select></label>
            </div>
            <label>Name <input id="name" maxlength="64" placeholder="Chosen by the server"
              autocomplete="name"></label>
            <button id="start">Start</button>
            </main>
            """#

    private static let script = #"""
        const video = $('video'), base = location.href.split('#')[0].split('?')[0];
        let stream = null, current = null, wait = 500, isOn = false;
        function say(text) { $('state').textContent = text; }
        function option(select, value, text) {
          const entry = document.createElement('option');
          entry.value = value; entry.textContent = text;
          select.append(entry);
        }
        // Names of devices are known only after the first permission.
        async function list() {
          const [camera, microphone] = [$('camera'), $('microphone')];
          const before = [camera.value, microphone.value];
          const devices = await navigator.mediaDevices.enumerateDevices();
          camera.replaceChildren(); microphone.replaceChildren();
          const fill = (select, kind, noun) => devices.filter(device => device.kind === kind)
            .forEach((device, index) =>
              option(select, device.deviceId || noun, device.label || noun + ' ' + (index + 1)));
          fill(camera, 'videoinput', 'camera'); fill(microphone, 'audioinput', 'microphone');
          if (navigator.mediaDevices.getDisplayMedia) option(camera, 'screen', 'Screen or window');
          option(camera, 'none', 'No video'); option(microphone, 'none', 'No audio');
          [[camera, before[0]], [microphone, before[1]]].forEach(([select, value]) => {
            if ([...select.options].some(entry => entry.value === value)) select.value = value;
          });
        }
        const chosen = (value, noun) => value === noun || value === '' ? true : { deviceId: { exact: value } };
        async function capture() {
          const picture = $('camera').value, sound = $('microphone').value;
          const isScreen = picture === 'screen';
          const wanted = {
            video: picture === 'none' || isScreen ? false
              : Object.assign({ width: { ideal: 1280 }, height: { ideal: 720 } },
                  picture === 'camera' || picture === '' ? {} : chosen(picture, 'camera')),
            audio: sound === 'none' ? false : chosen(sound, 'microphone') };
          const tracks = [];
          if (isScreen)
            tracks.push(...(await navigator.mediaDevices.getDisplayMedia({ video: true })).getVideoTracks());
          if (wanted.video || wanted.audio)
            tracks.push(...(await navigator.mediaDevices.getUserMedia(wanted)).getTracks());
          if (!tracks.length) throw new Error('choose video or audio');
          if (isScreen) tracks.filter(track => track.kind === 'video')
            .forEach(track => { track.contentHint = 'detail'; });
          tracks.forEach(track => { track.onended = () => stop('The device stopped the capture.'); });
          video.classList.toggle('mirrored', !isScreen);
          return new MediaStream(tracks);
        }
        async function start() {
          isOn = true;
          $('start').textContent = 'Stop'; $('start').classList.add('live');
          for (const id of ['camera', 'microphone', 'name']) $(id).disabled = true;
          try {
            say('Waiting for permission …');
            const captured = await capture();
            if (!isOn) return captured.getTracks().forEach(track => track.stop());
            stream = video.srcObject = captured;
            list();
            connect();
          } catch (error) {
            stop(error.name === 'NotAllowedError' ? 'The browser blocked the capture. Check its permissions in the address bar.'
              : error.name === 'NotFoundError' ? 'The device was not found.'
              : error.name === 'NotReadableError' ? 'Another program is using the device.'
              : 'Cannot start: ' + error.message);
          }
        }
        function stop(text) {
          const me = current;
          [isOn, current] = [false, null];
          leave(me?.session); me?.pc?.close();
          stream?.getTracks().forEach(track => { track.onended = null; track.stop(); });
          stream = video.srcObject = null;
          $('start').textContent = 'Start'; $('start').classList.remove('live');
          for (const id of ['camera', 'microphone', 'name']) $(id).disabled = false;
          $('figures').textContent = '';
          say(text);
        }
        async function connect() {
          const me = current = { session: null, pc: null };
          const isPast = () => current !== me;
          const again = (text, least = 0) => {
            if (isPast()) return;
            current = null;
            me.pc?.close(); leave(me.session);
            say(text);
            setTimeout(() => { if (isOn && !current) connect(); }, Math.max(wait, least));
            wait = Math.min(2 * wait, 8000);
          };
          const endpoint = new URL('whip', base), name = $('name').value.trim();
          if (name) endpoint.searchParams.set('name', name);
          try {
            say('Connecting …');
            const pc = me.pc = await connection(endpoint);
            if (isPast()) return pc.close();
            for (const track of stream.getTracks()) {
              const { sender } = pc.addTransceiver(track, { direction: 'sendonly', streams: [stream] });
              if (track.kind !== 'video') continue;
              // Recordings begin a new file with each size: rather fewer pictures than smaller ones.
              const parameters = sender.getParameters();
              parameters.degradationPreference = 'maintain-resolution';
              sender.setParameters(parameters).catch(() => {});
            }
            pc.createDataChannel('messages').onclose = () => again('The server ended the session.');
            let grace;
            pc.onconnectionstatechange = () => {
              clearTimeout(grace);
              if (isPast()) return;
              switch (pc.connectionState) {
                case 'connected': wait = 500; say('Sending'); break;
                case 'disconnected':
                  grace = setTimeout(() => again('The connection was lost. Trying again …'), 3000);
                  break;
                case 'failed': case 'closed': again('The connection was lost. Trying again …');
              }
            };
            me.session = await negotiate(pc, endpoint);
            if (isPast()) return leave(me.session);
            figures(me);
            setTimeout(() => {
              if (!isPast() && pc.connectionState !== 'connected')
                again('The media connection failed. Trying again …');
            }, 15000);
          } catch (error) {
            if (isPast()) return;
            switch (error.status) {
              case 401: stop(''); return askForToken(token !== null);
              case undefined: return again('The server cannot be reached. Trying again …');
              case 400: case 403: case 406: case 415:
                return stop('The server refused the stream: ' + error.text);
              default: again('The server refused: ' + error.text + '. Trying again …', error.wait);
            }
          }
        }
        function figures(me) {
          let [bytes, time] = [0, 0];
          const timer = setInterval(async () => {
            if (current !== me) return clearInterval(timer);
            let [sent, size, rate] = [0, '', 0];
            (await me.pc.getStats()).forEach(entry => {
              if (entry.type !== 'outbound-rtp') return;
              sent += entry.bytesSent || 0;
              if (entry.kind !== 'video') return;
              if (entry.frameWidth) size = entry.frameWidth + '×' + entry.frameHeight;
              rate = entry.framesPerSecond || 0;
            });
            if (current !== me) return;
            const now = performance.now();
            if (time) $('figures').textContent = [size, rate ? Math.round(rate) + ' fps' : '',
              Math.round(8 * (sent - bytes) / (now - time)) + ' kbit/s'].filter(text => text).join(' · ');
            [bytes, time] = [sent, now];
          }, 1000);
        }
        $('start').onclick = () => { if (isOn) stop('Stopped'); else start(); };
        addEventListener('pagehide', () => { if (isOn) stop('Stopped'); });
        $('name').value = new URLSearchParams(location.search).get('name') || '';
        if (navigator.mediaDevices) {
          list();
          navigator.mediaDevices.ondevicechange = () => { if (!isOn) list(); };
        } else {
          $('start').disabled = true;
          say('Browsers allow cameras only on https pages and on http://localhost.');
        }
        """#
}
