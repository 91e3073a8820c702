import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { version } from '../lib/version.ts';
import { type Batch, type BatchRecord, connectionError, type Destination } from './destination.ts';

/** Settings of a syslog receiver. */
export interface SyslogSettings {
  readonly host: string;
  readonly port: number;
  /** Files with the issuers of the receiver's certificate, and with the certificate and key of this client. */
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Name of this machine in the messages. */
  readonly hostname: string;
}

/** Facility "log audit" of RFC 5424. */
const facility = 13;

/** Severities of RFC 5424 by those of OCSF. */
const severities: readonly number[] = [5, 6, 5, 4, 3, 2, 1];

/**
 * Syslog (RFC 5424) over TLS (RFC 5425), with octet counting and the OCSF event as the message. Syslog acknowledges no
 * message. Therefore each batch has a connection, which this side closes first: the receiver closes its side when it has
 * read everything, and a connection that it resets instead fails the batch.
 */
export class SyslogDestination implements Destination {
  readonly #settings: SyslogSettings;
  readonly #tls: ConnectionOptions;

  constructor(settings: SyslogSettings) {
    const { host, port, caFile, certFile, keyFile } = settings;
    this.#settings = settings;
    this.#tls = {
      host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      ...(caFile !== undefined && { ca: readFileSync(caFile) }),
      ...(certFile !== undefined && { cert: readFileSync(certFile) }),
      ...(keyFile !== undefined && { key: readFileSync(keyFile) }),
    };
  }

  async send(batch: Batch): Promise<void> {
    const { host, port } = this.#settings;
    const frames = batch.records.map((record) => frame(this.#message(record)));
    const socket = connect(this.#tls);
    const abort = () => socket.destroy(new Error('aborted'));
    batch.signal.addEventListener('abort', abort, { once: true });
    try {
      await sendAll(socket, Buffer.concat(frames));
    } catch (cause) {
      throw connectionError(`${host}:${port}`, cause, batch.signal);
    } finally {
      batch.signal.removeEventListener('abort', abort);
      socket.destroy();
    }
  }

  async close(): Promise<void> {}

  #message({ event, json }: BatchRecord): string {
    const priority = facility * 8 + (severities[event.severity_id as number] ?? 6);
    const time = new Date(event.time as number).toISOString();
    // Only registered elements: the record's id and tenant are in the event.
    const data = `[origin software="actlog" swVersion="${version}"]`;
    const header = `<${priority}>1 ${time} ${this.#settings.hostname} actlog - ${event.class_uid}`;
    // The byte order mark says that the message is UTF-8 (section 6.4).
    return `${header} ${data} \u{feff}${json}`;
  }
}

/** Returns a message with its length in octets (RFC 5425, section 4.3). */
function frame(message: string): Buffer {
  const bytes = Buffer.from(message, 'utf8');
  return Buffer.concat([Buffer.from(`${bytes.length} `), bytes]);
}

/** Writes everything, closes this side, and resolves when the receiver has closed its side. */
function sendAll(socket: TLSSocket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let isWritten = false;
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the receiver closed the connection')));
    socket.once('end', () => {
      if (isWritten) resolve();
      else reject(new Error('the receiver closed the connection before it had read the batch'));
    });
    socket.once('secureConnect', () => {
      socket.end(bytes, () => {
        isWritten = true;
      });
      socket.resume();
    });
  });
}
