import type { AuditFieldChange } from '@actlog/protocol';

/** Maximum length of a value in the log, as JSON, in characters. Of a longer one the log has only the field. */
const maxValueLength = 2000;

/**
 * Returns the fields that differ between two states of a target, with both values.
 *
 * @param before - state before the change; `undefined` if the target did not exist
 * @param fields - fields whose values the log may keep: no secret, and nothing that an agent sent
 */
export function fieldChanges<State extends object>(
  before: State | undefined,
  after: State | undefined,
  fields: readonly (keyof State & string)[],
): AuditFieldChange[] {
  return fields.flatMap((field) => {
    const [from, to] = [before?.[field] ?? null, after?.[field] ?? null];
    const lengths = [JSON.stringify(from), JSON.stringify(to)] as const;
    if (lengths[0] === lengths[1]) return [];
    const isLong = lengths.some(({ length }) => length > maxValueLength);
    return [isLong ? { field } : { field, before: from, after: to }];
  });
}

/** Returns the address of a webhook without its query and fragment, which may have a secret. */
export function addressWithoutQuery(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href;
}
