import { useConnection } from '../connection.ts';
import { useList } from '../hooks/use-list.ts';
import { HeldList } from '../parts/held-actions/held-list.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';

const statuses = ['pending', 'approved', 'denied', 'expired'] as const;

const none = {
  pending: 'Nothing is waiting.',
  approved: 'Nothing was approved.',
  denied: 'Nothing was denied.',
  expired: 'Nothing has expired.',
};

/** Page with pending and past actions. */
export function Approvals({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const status = statuses.find((known) => known === query.get('status')) ?? 'pending';
  const shown = useList(
    `approvals ${status}`,
    (page, signal) => client.guardian.pendingActions.list({ status, ...page }, { signal }),
    // New actions must not move what the user is reading or typing.
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
