import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { librariesIn, unpackedPackages } from '../../../log/tests/debian-packages.ts';
import { freePort } from '../free-port.ts';
import { atTestEnd } from '../test-end.ts';

/** Folder for what is downloaded once. */
const cache = join(import.meta.dirname, '../../../../node_modules/.cache/rsyslog');

const packages = ['rsyslog', 'rsyslog-openssl', 'libestr0', 'libfastjson4'];

/** Creates a certificate for 127.0.0.1 in a folder. Returns the files of the certificate and its key. */
export function createCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key];
  const names = ['-subj', '/CN=actlog-test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30'];
  execFileSync('openssl', ['req', '-x509', ...newKey, ...names, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}

/** A running rsyslog. */
export interface Rsyslog {
  readonly port: number;
  /** Returns the messages that it has written, without their headers. */
  messages(): string[];
  stop(): Promise<void>;
}

/**
 * Starts Debian's rsyslog, which receives messages over TLS. It is downloaded with `apt-get`, without root, into
 * `node_modules/.cache`.
 *
 * @param port - 0 for a free one
 */
export async function startRsyslog(folder: string, port = 0): Promise<Rsyslog> {
  const system = await unpackedPackages(cache, async () => packages);
  const libraries = await librariesIn(system);
  const { cert, key } = existsSync(join(folder, 'cert.pem'))
    ? { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    : createCertificate(folder);
  const chosen = port === 0 ? await freePort() : port;
  const output = join(folder, 'messages');
  const config = join(folder, 'rsyslog.conf');
  writeFileSync(
    config,
    `global(workDirectory="${folder}" maxMessageSize="64k" parser.escapeControlCharactersOnReceive="off"
  defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="${cert}"
  defaultNetstreamDriverCertFile="${cert}" defaultNetstreamDriverKeyFile="${key}")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="lines" type="string" string="%pri% %app-name% %msgid% %structured-data% %msg%\\n")
input(type="imtcp" address="127.0.0.1" port="${chosen}")
action(type="omfile" file="${output}" template="lines" asyncWriting="off" flushOnTXEnd="on")
`,
  );
  const args = ['-n', '-f', config, '-i', join(folder, 'rsyslog.pid'), '-M', join(libraries, 'rsyslog')];
  const child = spawn(join(system, 'usr/sbin/rsyslogd'), args, {
    env: { ...process.env, LD_LIBRARY_PATH: libraries },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  atTestEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) await stop();
  });
  await vi.waitFor(async () => expect(await isListening(chosen)).toBe(true), {
    timeout: 20_000,
    interval: 50,
  });
  return {
    port: chosen,
    messages: () =>
      existsSync(output)
        ? readFileSync(output, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : [],
    stop,
  };
}

/** `true` if some process listens on a port: then it cannot be taken. */
async function isListening(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const [error] = await Promise.race([
    once(server, 'listening').then(() => [undefined]),
    new Promise<[Error]>((resolve) => server.once('error', (failure) => resolve([failure]))),
  ]);
  server.close();
  return error !== undefined;
}
