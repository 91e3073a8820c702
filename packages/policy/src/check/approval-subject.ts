import type { PolicyCheck } from '@actlog/protocol';

/**
 * Returns the subject of an approval as text: session, tool, arguments hash and shown arguments. The text is equal
 * only for equal actions. The order of members does not matter (RFC 8785). An action without shown arguments differs
 * from one that shows an empty object.
 */
export function approvalSubject({
  sessionId,
  action: { toolName, argumentsHash, arguments: shown },
}: Pick<PolicyCheck, 'action'> & { readonly sessionId?: string | null | undefined }): string {
  const action = [sessionId ?? null, toolName, argumentsHash];
  return JSON.stringify(shown === undefined ? action : [...action, sorted(shown)]);
}

/** Sorts members as entries: an object would put numeric names first and drop `__proto__`. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const names = Object.keys(value).sort();
  return { '': names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]) };
}
