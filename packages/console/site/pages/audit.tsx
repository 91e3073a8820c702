import type { AuditEntryPage } from '@actlog/protocol';
import { useMemo } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { useList } from '../hooks/use-list.ts';
import { managesKeys } from '../identity.ts';
import { AdministratorsOnly } from '../parts/administrators-only.tsx';
import { AuditFilters, type AuditSearch } from '../parts/audit/audit-filters.tsx';
import { AuditItem } from '../parts/audit/audit-item.tsx';
import { LogList } from '../parts/log-list.tsx';

const hourMs = 3_600_000;

/** Lengths of the time presets, in milliseconds. */
const lengths: Readonly<Record<string, number>> = {
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
  '90d': 90 * 24 * hourMs,
};

function filtersOf({ kind, actor, target, since }: AuditSearch) {
  const lengthMs = lengths[since];
  const filters = {
    targetKind: kind,
    actor,
    target,
    since: lengthMs === undefined ? '' : new Date(now().getTime() - lengthMs).toISOString(),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
}

/** Page with the changes by people and keys, newest first, filtered by the address. */
export function Audit({ query }: { query: URLSearchParams }) {
  const { identity } = useConnection();
  return (
    <>
      <h1>Audit log</h1>
      {managesKeys(identity) ? <Changes query={query} /> : <AdministratorsOnly what="Changes" />}
    </>
  );
}

function Changes({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const given = (name: string) => query.get(name) ?? '';
  const search = {
    kind: given('kind'),
    actor: given('actor'),
    target: given('target'),
    since: given('since'),
  };
  // Pages of one list have the same filters, so the start of the time stays.
  const filters = useMemo(() => filtersOf(search), [String(query)]);
  const shown = useList(
    `audit ${query}`,
    async (page, signal) => {
      const path = '/server/v1/audit';
      const data = await client.request<AuditEntryPage>('GET', path, {
        query: { ...filters, ...page },
        signal,
      });
      return { ...data, hasNextPage: () => data.nextCursor !== null };
    },
    { everyMs: 10_000, nameOf: ({ id }) => id },
  );
  const isFiltered = Object.values(search).some(Boolean);
  return (
    <>
      <p class="faint">
        Who changed what: policies, keys, agents, webhooks, decisions of approvers, settings. Export it with{' '}
        <code>actlog audit --limit all --jsonl</code>.
      </p>
      <AuditFilters search={search} />
      <LogList
        shown={shown}
        label="Changes, newest first"
        empty={isFiltered ? 'No change matches.' : 'Nothing was changed yet.'}
        item={(entry) => <AuditItem key={entry.id} entry={entry} />}
      />
    </>
  );
}
