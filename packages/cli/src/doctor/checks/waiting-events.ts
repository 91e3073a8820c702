import type { ProcessJournal } from '@actlog/recorder/spool';
import { countOf } from '../../spool/count-of.ts';
import { oldestWaiting } from '../../spool/oldest-waiting.ts';
import type { TenantSpool } from '../../spool/spool-survey.ts';
import { type Check, found, type Outcome, ok } from '../check.ts';
import { known } from '../known.ts';

/** Time after which events of a running process should have been delivered, in milliseconds. */
const deliveryMs = 5 * 60_000;

/** Check of the events that wait on disk. */
export const waitingEvents: Check = {
  id: 'waiting',
  title: 'Waiting events',
  requires: ['spool-folder'],
  run({ spool, client }) {
    const { tenants } = known(spool);
    // Without the address and the key, the folder of each is unknown.
    const current = tenants.filter(({ isCurrent }) => isCurrent || !client);
    const journals = current.flatMap((tenant) => tenant.journals);
    const others = tenants.filter((tenant) => !current.includes(tenant));
    const problems = [...ofEnded(journals), ...ofRunning(journals), ...others.flatMap(ofOthers)];
    return problems.length > 0 ? problems : ok(stateOf(journals));
  },
};

function ofEnded(journals: readonly ProcessJournal[]): Outcome[] {
  const ended = journals.filter(({ owner }) => owner === 'ended');
  const since = oldestWaiting(ended);
  return since === undefined ? [] : [found('waiting-of-ended', { count: events(ended), since })];
}

function ofRunning(journals: readonly ProcessJournal[]): Outcome[] {
  const running = journals.filter(({ owner, waiting }) => owner === 'running' && waiting > 0);
  const since = oldestWaiting(running);
  if (since === undefined || Date.now() - Date.parse(since) < deliveryMs) return [];
  const pids = running.map(({ process: { pid } }) => pid).join(', ');
  return [found('waiting-too-long', { count: events(running), pids, since })];
}

function ofOthers({ folder, journals }: TenantSpool): Outcome[] {
  // A running process delivers its own.
  const ended = journals.filter(({ owner, waiting }) => owner === 'ended' && waiting > 0);
  return ended.length === 0 ? [] : [found('waiting-elsewhere', { count: events(ended), path: folder })];
}

function stateOf(journals: readonly ProcessJournal[]): string {
  const running = journals.filter(({ owner }) => owner === 'running');
  if (running.length === 0) return 'none';
  const owners = running.map(({ process: { pid } }) => pid).join(', ');
  return `${events(running)}, of ${running.length === 1 ? 'process' : 'processes'} ${owners}`;
}

function events(journals: readonly ProcessJournal[]): string {
  return countOf(
    journals.reduce((sum, { waiting }) => sum + waiting, 0),
    'event',
  );
}
