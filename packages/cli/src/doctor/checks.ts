import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Actlog } from '@actlog/client';
import { keyPrefixes } from '@actlog/protocol';
import { type Check, found, known, type Outcome, ok, skipped } from './check.ts';
import { forwarding, key, permissions, quota, readTenantLimits } from './checks/key-and-quota.ts';
import { proxy, tls } from './checks/network.ts';
import { frameworks, recorderCopies } from './checks/packages.ts';
import { baseUrl, clock, service, serviceVersion } from './checks/service.ts';
import { deadLetters, spoolFolder, spoolSize, waitingEvents } from './checks/spool.ts';
import { codeOf, connectTo, hostOf, portOf } from './connect-to.ts';

/** Check of the form of `ACTLOG_API_KEY`, by the rules of the client. Nothing of the key is shown. */
const apiKey: Check = {
  id: 'api-key',
  title: 'API key',
  run(facts) {
    const { variables } = facts;
    const value = variables.get('ACTLOG_API_KEY');
    if (value === undefined) {
      return variables.isInEnvFile('ACTLOG_API_KEY')
        ? found('api-key-not-loaded', { file: '.env' })
        : found('api-key-missing', {});
    }
    try {
      new Actlog({ apiKey: value, baseURL: 'http://127.0.0.1', proxy: false });
    } catch {
      return problemOf(value);
    }
    facts.apiKey = value;
    return ok(value.startsWith(keyPrefixes.live) ? 'a live key' : 'a test key');
  },
};

/** Returns the reason for which the client refuses a key. */
function problemOf(value: string): Outcome {
  if (/^["']|["']$/.test(value)) return found('api-key-quoted', {});
  if (/\s/.test(value)) return found('api-key-white-space', {});
  return /^[\x21-\x7e]+$/.test(value) ? found('api-key-foreign', {}) : found('api-key-not-ascii', {});
}

/** Check that the name of the service has an address. */
const name: Check = {
  id: 'name',
  title: 'Name resolution',
  requires: ['base-url', 'proxy'],
  async run(facts) {
    const host = hostOf(known(facts.baseURL));
    if (facts.proxy) return ok('done by the proxy');
    if (isIP(host) !== 0) return ok(`${host} is an address`);
    try {
      // As the client's connections: by the system, with its hosts file.
      const addresses = await lookup(host, { all: true });
      return ok(addresses.map(({ address }) => address).join(', '));
    } catch (error) {
      return found('name-unknown', { host, code: codeOf(error) });
    }
  },
};

/** Check that the service understands the spans that it receives, where it counts those that it does not. */
const spans: Check = {
  id: 'spans',
  title: 'Spans',
  requires: ['key'],
  async run({ client }) {
    const unread = (await readTenantLimits(known(client)))?.unreadSpans;
    if (!unread) return skipped('the service does not show them to this key');
    const problems = unread.map(({ scope, reason, count }) =>
      found(isRecorded(reason) ? 'spans-without-arguments' : 'spans-not-recorded', { scope, reason, count }),
    );
    return problems.length > 0 ? problems : ok('none that is not understood since the service started');
  },
};

/** Returns `true` for a reason for which an event lacks only the hash of its arguments. */
function isRecorded(reason: string): boolean {
  return reason.startsWith('arguments');
}

/** Check that the port of the service accepts connections. */
const connection: Check = {
  id: 'connection',
  title: 'Connection',
  requires: ['name'],
  async run(facts) {
    const url = known(facts.baseURL);
    if (facts.proxy) return ok('made by the proxy');
    const code = await connectTo(url, facts.options.timeoutMs);
    const port = portOf(url);
    const host = hostOf(url);
    if (code === undefined) return ok(`port ${port}`);
    return found(code === 'ECONNREFUSED' ? 'port-closed' : 'port-unreachable', { host, port, code });
  },
};

/** Check of the version of Node.js against the range in package.json's `engines`. */
const nodeVersion: Check = {
  id: 'node',
  title: 'Node.js',
  run() {
    const { node: version } = process.versions;
    return isSupported(version) ? ok(version) : found('node-unsupported', { version });
  },
};

/** Returns `true` for `^22.19.0 || >=24.11.0`. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 22 && minor >= 19) || (major === 24 && minor >= 11) || major > 24;
}

/** All checks in the order in which they run. A check comes after those that it requires. */
export const checks: readonly Check[] = [
  nodeVersion,
  baseUrl,
  apiKey,
  proxy,
  name,
  connection,
  tls,
  service,
  clock,
  key,
  permissions,
  serviceVersion,
  quota,
  spans,
  forwarding,
  spoolFolder,
  spoolSize,
  waitingEvents,
  deadLetters,
  recorderCopies,
  frameworks,
];
