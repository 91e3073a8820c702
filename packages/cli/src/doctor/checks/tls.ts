import { isIP } from 'node:net';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { type Check, found, type Outcome, ok } from '../check.ts';
import { codeOf, hostOf, portOf } from '../connect-to.ts';
import { known } from '../known.ts';

const expired: readonly string[] = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];

/** Check of the certificate of the service. */
export const tls: Check = {
  id: 'tls',
  title: 'TLS',
  requires: ['connection'],
  async run(facts) {
    const url = known(facts.baseURL);
    if (url.protocol === 'http:') return ok('not used with http');
    if (facts.proxy) return ok('checked with the request through the proxy');
    return checkCertificate(url, facts.options.timeoutMs);
  },
};

/** Makes a handshake that accepts every certificate and sends nothing, to see what is wrong with it. */
async function checkCertificate(url: URL, timeoutMs: number): Promise<Outcome> {
  const host = hostOf(url);
  const port = portOf(url);
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = connect({
    host,
    port,
    rejectUnauthorized: false,
    timeout: timeoutMs,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  socket.once('secureConnect', () => resolve(judge(socket, host)));
  socket.once('timeout', () => resolve(found('tls-failed', { host, port, code: 'TIMEOUT' })));
  socket.once('error', (error) => resolve(found('tls-failed', { host, port, code: codeOf(error) })));
  socket.once('close', () => resolve(found('tls-failed', { host, port, code: 'closed' })));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function judge(socket: TLSSocket, host: string): Outcome {
  const certificate = socket.getPeerCertificate();
  if (socket.authorized) return ok(`certificate valid to ${timeOf(certificate.valid_to)}`);
  const { authorizationError } = socket as { authorizationError: unknown };
  const code = authorizationError instanceof Error ? codeOf(authorizationError) : String(authorizationError);
  if (expired.includes(code)) {
    return found('tls-expired', {
      host,
      from: timeOf(certificate.valid_from),
      to: timeOf(certificate.valid_to),
    });
  }
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? found('tls-name', { host, names: namesOf(certificate) })
    : found('tls-untrusted', { host, code });
}

function namesOf({ subject, subjectaltname }: PeerCertificate): string {
  return subjectaltname?.replaceAll(/(DNS|IP Address):/g, '') ?? String(subject?.CN ?? 'none');
}

function timeOf(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString().slice(0, 10);
}
