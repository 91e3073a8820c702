import type { AuditEntry, AuditFieldChange } from '@actlog/protocol';
import { actionText, actorText, targetHref, valueText } from '../../audit/audit-text.ts';
import { href } from '../../route.ts';
import { Time } from '../time.tsx';

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
export function AuditItem({ entry }: { entry: AuditEntry }) {
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
