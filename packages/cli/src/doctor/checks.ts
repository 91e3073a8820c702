import type { Check } from './check.ts';
import { apiKey } from './checks/api-key.ts';
import { baseUrl } from './checks/base-url.ts';
import { clock } from './checks/clock.ts';
import { connection } from './checks/connection.ts';
import { deadLetters } from './checks/dead-letters.ts';
import { frameworks } from './checks/frameworks.ts';
import { key } from './checks/key.ts';
import { name } from './checks/name.ts';
import { nodeVersion } from './checks/node-version.ts';
import { permissions } from './checks/permissions.ts';
import { proxy } from './checks/proxy.ts';
import { quota } from './checks/quota.ts';
import { recorderCopies } from './checks/recorder-copies.ts';
import { service } from './checks/service.ts';
import { serviceVersion } from './checks/service-version.ts';
import { spans } from './checks/spans.ts';
import { spoolFolder } from './checks/spool-folder.ts';
import { spoolSize } from './checks/spool-size.ts';
import { tls } from './checks/tls.ts';
import { waitingEvents } from './checks/waiting-events.ts';

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
