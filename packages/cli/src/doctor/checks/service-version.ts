import { gt, lt, major, valid } from 'semver';
import { version as own } from '../../version.ts';
import { type Check, found, type Outcome, ok, skipped } from '../check.ts';

/** Oldest version of the server that has everything that the commands use. */
const oldest = '0.0.0';

/** Check of the version of the server, where it shows one. */
export const serviceVersion: Check = {
  id: 'version',
  title: 'Service version',
  requires: ['key'],
  run({ identity }) {
    const service = identity?.serverVersion;
    return service === undefined
      ? skipped('the service does not show its version')
      : compareVersions(service, own, oldest);
  },
};

/** Compares the version of a server with that of this command, and with the oldest that it works with. */
export function compareVersions(service: string, ownVersion: string, oldestVersion: string): Outcome {
  if (valid(service) === null) return skipped(`the service shows the version "${service}"`);
  if (lt(service, oldestVersion)) return found('service-too-old', { service, oldest: oldestVersion });
  // The contract only grows within a major version.
  const isTooNew = gt(service, ownVersion) && major(service) !== major(ownVersion);
  return isTooNew ? found('service-too-new', { service, own: ownVersion }) : ok(service);
}
