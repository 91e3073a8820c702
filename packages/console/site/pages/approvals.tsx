import { useConnection } from '../connection.ts';
import { HeldList } from '../parts/held-list.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';
import { useList } from '../use-list.ts';

const statuses = ['pending', 'approved', 'denied', 'expired'] as const;

const none = {
  pending: 'Nothing is waiting.',
  approved: 'Nothing was approved.',
  denied: 'Nothing was denied.',
  expired: 'Nothing has expired.',
};

/** The actions that wait for a person, and those that waited. */
export function Approvals({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const status = statuses.find((known) => known === query.get('status')) ?? 'pending';
  const shown = useList(
    `approvals ${status}`,
    (page, signal) => client.guardian.pendingActions.list({ status, ...page }, { signal }),
    // What a person reads, and what they type there, is not pushed off by what comes.
    { everyMs: 3000, nameOf: ({ id }) => id, stays: status === 'pending' },
  );
  return (
    <>
      <h1>Approvals</h1>
      <StatusTabs place="approvals" statuses={statuses} current={status} />
      {shown.items?.length === 0 && <p class="empty">{none[status]}</p>}
      <h2 class="hidden">{status}</h2>
      <HeldList shown={shown} />
    </>
  );
}
