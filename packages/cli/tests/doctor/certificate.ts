import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

/** A certificate that nobody but its own file vouches for. */
export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** File for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string;
}

/**
 * Creates a certificate.
 *
 * @param names - such as `DNS:localhost` or `IP:127.0.0.1`
 * @param days - days for which it is valid; negative for one that has expired
 */
export function createCertificate(names: string, days = 30): Certificate {
  const folder = temporaryFolder();
  const [keyFile = '', request = '', extensions = '', file = ''] = [
    'key',
    'request',
    'names',
    'certificate',
  ].map((name) => join(folder, `${name}.pem`));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  openssl('req', '-new', ...newKey, '-subj', '/CN=actlog-test', '-out', request);
  writeFileSync(extensions, `subjectAltName=${names}\n`);
  const signed = ['-signkey', keyFile, '-extfile', extensions, '-days', String(days)];
  openssl('x509', '-req', '-in', request, ...signed, '-out', file);
  return { key: readFileSync(keyFile), cert: readFileSync(file), file };
}
