import type { PolicyCheck } from '@actlog/protocol';

/** A checked or held action, as far as an approval is bound to it. */
export interface ApprovedAction extends Pick<PolicyCheck, 'action'> {
  readonly sessionId?: string | null | undefined;
  readonly principal?: string | null | undefined;
  readonly subagent?: string | null | undefined;
  readonly parentAgentIds?: readonly string[] | undefined;
}

/**
 * Returns the subject of an approval as text: session, tool, arguments hash, shown arguments, principal, subagent and the
 * agents above. The text is
 * equal only for equal actions. The order of members does not matter (RFC 8785). An action without shown arguments
 * differs from one that shows an empty object.
 */
export function approvalSubject({
  sessionId,
  action: { toolName, argumentsHash, arguments: shown },
  principal,
  subagent,
  parentAgentIds = [],
}: ApprovedAction): string {
  const action: unknown[] = [sessionId ?? null, toolName, argumentsHash];
  // Shown arguments are an object and the principal is a text, so one cannot stand for the other.
  if (shown !== undefined) action.push(sorted(shown));
  if (principal != null) action.push(principal);
  // Sorted arguments have one member, with an empty name.
  if (subagent != null || parentAgentIds.length > 0) action.push({ subagent, parentAgentIds });
  return JSON.stringify(action);
}

/** Sorts members as entries: an object would put numeric names first and drop `__proto__`. */
function sorted(value: unknown): unknown {
  // An object, which no shown value becomes, because members are sorted as the value of an empty name.
  if (typeof value === 'bigint') return { integer: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const names = Object.keys(value).sort();
  return { '': names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]) };
}
