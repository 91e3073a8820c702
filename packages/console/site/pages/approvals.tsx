import type { PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { noticeState, switchNotices } from '../desktop-notice.ts';
import { useList } from '../hooks/use-list.ts';
import { hasKnownOwner } from '../identity.ts';
import { WayBack } from '../parts/empty-state.tsx';
import { GrantList } from '../parts/grants/grant-list.tsx';
import { HeldList } from '../parts/held-actions/held-list.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';

const statuses = ['pending', 'approved', 'denied', 'expired', 'withdrawn'] as const;

type Status = (typeof statuses)[number];

const none: Readonly<Record<Status, string>> = {
  pending: 'Nothing is waiting.',
  approved: 'Nothing was approved.',
  denied: 'Nothing was denied.',
  expired: 'Nothing has expired.',
  withdrawn: 'Nothing was withdrawn.',
};

/** Page with pending and past actions, and the grants for later ones. */
export function Approvals({ id, query }: { id: string | undefined; query: URLSearchParams }) {
  const { identity } = useConnection();
  // Only the actlog server lists grants.
  const tabs = hasKnownOwner(identity) ? [...statuses, 'grants'] : statuses;
  const current = tabs.find((known) => known === query.get('status')) ?? 'pending';
  const status = statuses.find((known) => known === current);
  if (id !== undefined) return <OneAction key={id} id={id} />;
  return (
    <>
      <h1>Approvals</h1>
      <div class="approvals-bar">
        <StatusTabs place="approvals" statuses={tabs} current={current} />
        <NoticeSwitch />
      </div>
      <h2 class="hidden">{current}</h2>
      {status === undefined ? <GrantList /> : <ActionsWith key={status} status={status} />}
    </>
  );
}

/** One action, to which a message in Slack, Teams, a mailbox or a browser leads. */
function OneAction({ id }: { id: string }) {
  const { client } = useConnection();
  const shown = useList(
    `approval ${id}`,
    async (_page, signal) => {
      const path = `/server/v1/pending-actions/${encodeURIComponent(id)}`;
      const action = await client.request<PendingAction>('GET', path, { signal });
      return { items: [action], nextCursor: null, hasNextPage: () => false };
    },
    { everyMs: 3000, nameOf: (action) => action.id, stays: true },
  );
  return (
    <>
      <WayBack place="approvals" title="Approvals" />
      <h1>Approval</h1>
      <HeldList shown={shown} />
    </>
  );
}

function ActionsWith({ status }: { status: Status }) {
  const { client } = useConnection();
  const shown = useList(
    `approvals ${status}`,
    (page, signal) => client.guardian.pendingActions.list({ status, ...page }, { signal }),
    // New actions must not move what the user is reading or typing.
    { everyMs: 3000, nameOf: ({ id }) => id, stays: status === 'pending' },
  );
  return (
    <>
      {shown.items?.length === 0 && <p class="empty">{none[status]}</p>}
      <HeldList shown={shown} />
    </>
  );
}

/** Button that turns desktop notifications of waiting actions on or off. */
function NoticeSwitch() {
  const [state, setState] = useState(noticeState);
  if (state === 'unavailable') return null;
  if (state === 'blocked') {
    return <span class="faint">The browser blocks notifications of this page.</span>;
  }
  const isOn = state === 'on';
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={isOn}
      onClick={() => void switchNotices(!isOn).then(setState)}
    >
      Desktop notifications: {isOn ? 'on' : 'off'}
    </button>
  );
}
