import {
  type AuditEntry,
  type AuditEntryPage,
  type AuditFieldChange,
  auditTargetKinds,
} from '@actlog/protocol';
import { useMemo } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { serverPages, useFilterForm, useList } from '../hooks/use-list.ts';
import { managesKeys } from '../identity.ts';
import { Field, FilterSelect, submitted, trimmed } from '../parts/field.tsx';
import { type CsvColumns, SavedViews, SaveList } from '../parts/list-tools.tsx';
import { AdministratorsOnly } from '../parts/problem.tsx';
import { LogList } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';

/** Maximum number of fields in view; the others open on request. */
const shownFields = 3;

function Value({ value, kind }: { value: unknown; kind: 'del' | 'ins' }) {
  const text = valueText(value);
  if (text === undefined) return <span class="faint">nothing</span>;
  const Kind = kind;
  return (
    <Kind translate={false}>
      <bdi>{text}</bdi>
    </Kind>
  );
}

function FieldChange({ change }: { change: AuditFieldChange }) {
  const { field, before, after } = change;
  return (
    <li>
      <span class="faint">{field}</span>{' '}
      {before === undefined && after === undefined ? (
        'was changed'
      ) : (
        <>
          {before !== undefined && before !== null && (
            <>
              <Value value={before} kind="del" /> <span aria-hidden="true">→</span>
              <span class="hidden">became</span>{' '}
            </>
          )}
          <Value value={after} kind="ins" />
        </>
      )}
    </li>
  );
}

function FieldChanges({ changes }: { changes: readonly AuditFieldChange[] }) {
  if (changes.length === 0) return null;
  const rest = changes.slice(shownFields);
  const list = (some: readonly AuditFieldChange[]) => (
    <ul class="field-changes">
      {some.map((change) => (
        <FieldChange key={change.field} change={change} />
      ))}
    </ul>
  );
  return (
    <>
      {list(changes.slice(0, shownFields))}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length === 1 ? '1 more field' : `${rest.length} more fields`}</summary>
          {list(rest)}
        </details>
      )}
    </>
  );
}

/** One change in the audit log: who, what, when, and the fields before and after. */
function AuditItem({ entry }: { entry: AuditEntry }) {
  const { actor, action, target, at, changes } = entry;
  const place = targetHref(target, action);
  const name = <bdi translate={false}>{target.name ?? target.id}</bdi>;
  return (
    <li id={`entry-${entry.id}`}>
      <p class="log-line">
        <span>
          <span class="log-action">{actionText(action)}</span>{' '}
          {place === undefined ? <strong>{name}</strong> : <a href={place}>{name}</a>}
        </span>
        <Time at={at} />
      </p>
      <p class="faint">
        by{' '}
        {actor.id === null ? (
          actorText(actor)
        ) : (
          <>
            <bdi translate={false}>{actorText(actor)}</bdi>
            {actor.principal !== null && (
              <>
                {' with '}
                <bdi translate={false}>{actor.name}</bdi>
              </>
            )}{' '}
            <a href={href(['audit'], { actor: actor.id })}>{actor.id}</a>
          </>
        )}
      </p>
      <FieldChanges changes={changes} />
    </li>
  );
}

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

/** Columns of the saved file. */
const columns: CsvColumns<AuditEntry> = {
  time: ({ at }) => at,
  by: ({ actor }) => actorText(actor),
  actorId: ({ actor }) => actor.id,
  action: ({ action }) => action,
  kind: ({ target }) => target.kind,
  target: ({ target }) => target.id,
  name: ({ target }) => target.name,
  changes: ({ changes }) => changes,
};

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
  const list = serverPages<AuditEntryPage>(client, '/server/v1/audit', filters);
  const shown = useList(`audit ${query}`, list, { everyMs: 10_000, nameOf: ({ id }) => id });
  const isFiltered = Object.values(search).some(Boolean);
  return (
    <>
      <p class="faint">
        Who changed what: policies, keys, agents, webhooks, decisions of approvers, settings. The command{' '}
        <code>actlog audit --limit all --jsonl</code> exports all of it.
      </p>
      <AuditFilters search={search} />
      <div class="list-tools">
        <SavedViews place="audit" query={query} />
        <SaveList
          name="audit"
          columns={columns}
          list={(page, signal) => list({ ...page, limit: 200 }, signal)}
        />
      </div>
      <LogList
        shown={shown}
        label="Changes, newest first"
        empty={isFiltered ? 'No change matches.' : 'Nothing was changed yet.'}
        item={(entry) => <AuditItem key={entry.id} entry={entry} />}
      />
    </>
  );
}

const kinds = {
  '': 'anything',
  ...Object.fromEntries(auditTargetKinds.map((kind) => [kind, actionText(kind)])),
};

const times = {
  '': 'any time',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
  '90d': 'last 90 days',
};

/** Filters of the audit log, as they are in the address. */
interface AuditSearch {
  readonly kind: string;
  readonly actor: string;
  readonly target: string;
  readonly since: string;
}

/** Bar of filters of the audit log. Every search is a separate location. */
function AuditFilters({ search }: { search: AuditSearch }) {
  const form = useFilterForm({ ...search });
  return (
    <search>
      <form
        ref={form}
        class="filters log-filters"
        onSubmit={submitted((fields) => {
          location.hash = href(['audit'], trimmed(fields));
        })}
      >
        <FilterSelect label="Changes of" name="kind" options={kinds} />
        <FilterSelect label="When" name="since" options={times} />
        <Field label="By the person or key with the id">
          <input name="actor" placeholder="any" spellcheck={false} autocomplete="off" />
        </Field>
        <Field label="Of the thing with the id">
          <input name="target" placeholder="any" spellcheck={false} autocomplete="off" />
        </Field>
        <p class="buttons">
          <button type="submit">Filter</button>
          {Object.values(search).some(Boolean) && <a href={href(['audit'])}>Show all</a>}
        </p>
      </form>
    </search>
  );
}

/** Returns a kind of change as words: `webhook.secret_rotated` becomes "webhook secret rotated". */
export function actionText(action: string): string {
  return action.replaceAll(/[._]/g, ' ');
}

/** Returns the author of a change as words: the person if there is one, otherwise the name of the key. */
export function actorText({ kind, id, name, principal }: AuditEntry['actor']): string {
  if (kind === 'server') return 'The server';
  if (kind === 'operator') return 'The server’s command';
  return principal ?? name ?? id ?? 'A key';
}

/** Returns a value of a field as text; undefined for none. */
export function valueText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
}

/** Returns the address of the page of a changed thing; undefined if it has none. */
export function targetHref(
  { kind, id }: AuditEntry['target'],
  action: AuditEntry['action'],
): string | undefined {
  switch (kind) {
    case 'held_action':
      return action === 'held_action.partially_approved'
        ? href(['approvals'])
        : href(['approvals'], { status: action.replace('held_action.', '') });
    case 'judgment':
      return href(['judgments'], action === 'judgment.ended' ? { status: 'ended' } : {});
    case 'grant':
      return href(['approvals'], { status: 'grants' });
    case 'policy':
      return href(['policies', id]);
    case 'webhook':
      return href(['webhooks', id]);
    case 'session':
      return href(['sessions', id]);
    case 'agent':
      return href(['sessions'], { agent: id });
    case 'legal_hold':
      return href(['records'], action === 'legal_hold.released' ? { status: 'released' } : {});
    case 'key':
    case 'sign_in':
      return href(['keys']);
    default:
      return undefined;
  }
}
