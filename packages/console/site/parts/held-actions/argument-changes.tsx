import type { EditableArgument, PendingAction } from '@actlog/client';
import { Field } from '../field.tsx';

/** Changed values of arguments, by path. */
export type Changes = Readonly<Record<string, unknown>>;

/** Argument that the approver may change, with the requested value. */
interface Changeable {
  readonly limit: EditableArgument;
  readonly requested: unknown;
}

/** Returns the arguments of an action that its approver may change; an empty list if its agent cannot run changed ones. */
export function changeableArguments({ action, editable }: PendingAction): readonly Changeable[] {
  if (action?.acceptsChanges !== true) return [];
  return (editable ?? []).flatMap((limit) => {
    const requested = valueAt(action.arguments, limit.path);
    return isOfKind(limit, requested) ? [{ limit, requested }] : [];
  });
}

function valueAt(from: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
          ? (value as Changes)[name]
          : undefined,
      from,
    );
}

function isOfKind({ subset, oneOf, anyText }: EditableArgument, value: unknown): boolean {
  if (subset) return Array.isArray(value) && value.length > 1;
  if (oneOf || anyText) return typeof value === 'string';
  return value !== undefined && /^-?\d/.test(JSON.stringify(value));
}

/** Fields with which the approver changes arguments within the limits of the policy. Renders nothing without any. */
export function ChangeFields({
  action,
  changes,
  onChange,
}: {
  action: PendingAction;
  changes: Changes;
  onChange: (changes: Changes) => void;
}) {
  const changeable = changeableArguments(action);
  if (changeable.length === 0) return null;
  const change = ({ limit: { path }, requested }: Changeable, value: unknown) => {
    const { [path]: _, ...others } = changes;
    onChange(textOf(value) === textOf(requested) ? others : { ...others, [path]: value });
  };
  return (
    <details class="changes" open={Object.keys(changes).length > 0}>
      <summary>Change arguments before approving</summary>
      {changeable.map((one) => (
        <ChangeField
          key={one.limit.path}
          changeable={one}
          value={Object.hasOwn(changes, one.limit.path) ? changes[one.limit.path] : one.requested}
          onChange={(value) => change(one, value)}
        />
      ))}
    </details>
  );
}

function ChangeField({
  changeable: { limit, requested },
  value,
  onChange,
}: {
  changeable: Changeable;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const { path, min = 0, max, oneOf, anyText } = limit;
  if (Array.isArray(requested)) {
    const kept: readonly unknown[] = Array.isArray(value) ? value : [];
    const isKept = keptOf(requested, kept);
    const keep = (index: number, isChecked: boolean) =>
      onChange(requested.filter((_, other) => (other === index ? isChecked : isKept[other])));
    return (
      <fieldset>
        <legend translate={false}>{path}</legend>
        {requested.map((element, index) => (
          <label key={index} class="check">
            <input
              type="checkbox"
              checked={isKept[index]}
              onInput={(event) => keep(index, event.currentTarget.checked)}
            />
            <span translate={false}>{textOf(element)}</span>
          </label>
        ))}
      </fieldset>
    );
  }
  if (oneOf) {
    const options = [...new Set([String(requested), ...oneOf])];
    return (
      <Field label={path} hint="One of these values">
        <select onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((text) => (
            <option key={text} value={text} selected={text === value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    );
  }
  if (anyText) {
    return (
      <Field label={path} hint="At most 2,000 characters">
        <textarea
          rows={2}
          maxLength={2000}
          value={String(value)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </Field>
    );
  }
  const highest = max === undefined ? 'the requested number' : `${max}, and not above the requested number`;
  return (
    <Field label={path} hint={`From ${min} to ${highest}`}>
      <input
        inputMode="decimal"
        value={typeof value === 'string' ? value : textOf(value)}
        onInput={(event) => onChange(numberIn(event.currentTarget.value))}
      />
    </Field>
  );
}

/** Returns a number with all its digits; the text, which the service refuses, if it is none. */
function numberIn(text: string): unknown {
  const trimmed = text.trim();
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(trimmed)) return text;
  const { rawJSON } = JSON as { readonly rawJSON?: (source: string) => unknown };
  return trimmed.length > 15 && rawJSON ? rawJSON(trimmed) : Number(trimmed);
}

/** Returns for each element of a list whether it is in a part of the list. */
function keptOf(list: readonly unknown[], part: readonly unknown[]): readonly boolean[] {
  let next = 0;
  return list.map((element) => {
    if (next >= part.length || textOf(element) !== textOf(part[next])) return false;
    next += 1;
    return true;
  });
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

/** List of changed arguments, each with its value before and after. Renders nothing for none. */
export function ChangeList({ action, changes }: { action: PendingAction; changes: Changes }) {
  const changed = Object.entries(changes);
  if (changed.length === 0) return null;
  return (
    <ul class="change-list" aria-label="Changed arguments" translate={false}>
      {changed.map(([path, value]) => (
        <li key={path}>
          <code>{path}</code>: <del>{textOf(valueAt(action.action?.arguments, path))}</del> to{' '}
          <ins>{textOf(value)}</ins>
        </li>
      ))}
    </ul>
  );
}
