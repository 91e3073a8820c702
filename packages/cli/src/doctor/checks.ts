import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Check, found, ok, skipped } from './check.ts';
import { apiKey } from './checks/api-key.ts';
import { clock } from './checks/clock.ts';
import { deadLetters } from './checks/dead-letters.ts';
import { frameworks } from './checks/frameworks.ts';
import { key } from './checks/key.ts';
import { permissions } from './checks/permissions.ts';
import { proxy } from './checks/proxy.ts';
import { quota } from './checks/quota.ts';
import { recorderCopies } from './checks/recorder-copies.ts';
import { baseUrl, service, serviceVersion } from './checks/service.ts';
import { spoolFolder, spoolSize } from './checks/spool-folder.ts';
import { tls } from './checks/tls.ts';
import { waitingEvents } from './checks/waiting-events.ts';
import { codeOf, connectTo, hostOf, portOf } from './connect-to.ts';
import { known } from './known.ts';
import { readTenantLimits } from './tenant-limits.ts';

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
  spoolFolder,
  spoolSize,
  waitingEvents,
  deadLetters,
  recorderCopies,
  frameworks,
];
