import type { StoredEvent } from '@actlog/client';

/** Summarizes an event: the tool, or the subject of its category. */
export function eventSubject({ category, payload }: StoredEvent): string {
  const { toolName, toAgentId, model, key, decision } = payload ?? {};
  const named = toolName ?? toAgentId ?? model ?? key ?? decision;
  return typeof named === 'string' ? named : (category ?? '');
}
