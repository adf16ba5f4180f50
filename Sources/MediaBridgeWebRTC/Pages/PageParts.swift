package import HTTPTypes

/// What the pages have in common.
package enum PageParts {
    /// The header fields of a page. It can connect only to its own server, and other sites cannot frame it.
    package static let fields: HTTPFields = [
        .contentType: "text/html; charset=utf-8",
        .cacheControl: "no-store",
        .xContentTypeOptions: "nosniff",
        HTTPField.Name(known: "Referrer-Policy"): "no-referrer",
        .contentSecurityPolicy:
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            + "connect-src 'self'; media-src 'self' blob:; img-src 'self' data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    ]

    /// Returns a whole page.
    ///
    /// - Parameters:
    ///   - title: Plain text.
    ///   - asksForServers: Whether the page asks for STUN and TURN servers before it connects.
    package static func page(
        title: String, style: String, body: String, script: String, asksForServers: Bool
    ) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <meta name="color-scheme" content="dark">
        <title>\(escaped(title))</title>
        <link rel="icon" href="data:,">
        <style>
        \(commonStyle)
        \(style)
        </style>
        </head>
        <body>
        \(body)
        <script>
        'use strict';
        const asksForServers = \(asksForServers);
        \(commonScript)
        \(script)
        </script>
        </body>
        </html>

        """
    }

    static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            default: String(character)
            }
        }.joined()
    }

    private static let commonStyle = #"""
        * { box-sizing: border-box; margin: 0 }
        html, body { height: 100%; background: #101216; color: #e8eaed;
          font: 16px/1.5 system-ui, sans-serif }
        button, input, select { font: inherit; color: inherit; background: #23262d; min-height: 44px;
          border: 1px solid #3c4048; border-radius: 10px; padding: 8px 16px }
        button { cursor: pointer } button:hover { background: #2e323b }
        button:disabled { opacity: .5; cursor: default }
        :focus-visible { outline: 2px solid #8ab4f8; outline-offset: 2px }
        [hidden] { display: none !important }
        """#

    /// Tokens, servers and offers.
    private static let commonScript = #"""
        const $ = id => document.getElementById(id);
        const hash = () => new URLSearchParams(location.hash.slice(1)).get('token');
        let token = hash();
        addEventListener('hashchange', () => { token = hash(); location.reload(); });
        function headers(more) {
          return token ? { ...more, Authorization: 'Bearer ' + token } : { ...more };
        }
        function unquote(text) {
          return text === undefined ? undefined : text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1');
        }
        function iceServers(link) {
          const found = [];
          const pattern = /<([^>]+)>((?:\s*;\s*[\w-]+=(?:"(?:[^"\\]|\\.)*"|[^;,\s]*))*)/g;
          for (const [, url, rest] of (link || '').matchAll(pattern)) {
            const values = {};
            for (const [, name, value] of rest.matchAll(/;\s*([\w-]+)=("(?:[^"\\]|\\.)*"|[^;,\s]*)/g))
              values[name.toLowerCase()] = unquote(value);
            if (values.rel !== 'ice-server') continue;
            const server = { urls: url };
            if (values.username !== undefined) server.username = values.username;
            if (values.credential !== undefined) server.credential = values.credential;
            found.push(server);
          }
          return found;
        }
        async function connection(endpoint) {
          let servers = [];
          if (asksForServers) {
            const reply = await fetch(endpoint, { method: 'OPTIONS', headers: headers() });
            servers = iceServers(reply.headers.get('Link'));
          }
          return new RTCPeerConnection({ bundlePolicy: 'max-bundle', iceServers: servers });
        }
        // Posts at once: the server finds the way back by itself, and gathering would cost time.
        async function negotiate(pc, endpoint) {
          await pc.setLocalDescription();
          if (asksForServers) await gathered(pc);
          const reply = await fetch(endpoint, { method: 'POST', body: pc.localDescription.sdp,
            headers: headers({ 'Content-Type': 'application/sdp' }) });
          const text = await reply.text();
          if (reply.status !== 201) throw { status: reply.status, text: text.split('\n')[0],
            wait: 1000 * (+reply.headers.get('Retry-After') || 0) };
          const session = new URL(reply.headers.get('Location'), reply.url).href;
          try { await pc.setRemoteDescription({ type: 'answer', sdp: text }); }
          catch (error) { leave(session); throw error; }
          return session;
        }
        function gathered(pc) {
          return new Promise(done => {
            if (pc.iceGatheringState === 'complete') return done();
            setTimeout(done, 1000);
            pc.addEventListener('icegatheringstatechange', () => {
              if (pc.iceGatheringState === 'complete') done();
            });
          });
        }
        function leave(session) {
          if (session) fetch(session, { method: 'DELETE', keepalive: true, headers: headers() })
            .catch(() => {});
        }
        function askForToken(wasWrong) {
          $('tokenform').hidden = false;
          $('tokenhint').textContent = wasWrong ? 'This token is not valid.' : 'A token is required.';
          $('token').focus();
        }
        $('tokenform').onsubmit = event => {
          event.preventDefault();
          location.hash = 'token=' + encodeURIComponent($('token').value.trim());
        };
        """#

    /// The form for the token, which both pages have.
    package static let tokenForm = #"""
        <form id="tokenform" hidden>
        <p id="tokenhint"></p>
        <input id="token" type="password" autocomplete="off" aria-label="Token" placeholder="Token">
        <button>Go</button>
        </form>
        """#
}
