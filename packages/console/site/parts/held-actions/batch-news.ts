import type { PendingAction } from '@actlog/client';
import type { ActionDecisionResult } from '@actlog/client/server';
import { lateNews } from './decision-news.ts';

/** Texts for the statuses after a decision. */
const outcomes: Readonly<Record<string, string>> = {
  approved: 'approved',
  denied: 'denied',
  pending: 'waiting for another approver',
};

/** Returns a summary of several decisions: the number of each outcome, and each decision that was refused. */
export function batchNews(
  actions: readonly PendingAction[],
  results: readonly ActionDecisionResult[],
): string {
  const counts = new Map<string, number>();
  for (const { action } of results) {
    if (!action) continue;
    const outcome = outcomes[action.status ?? ''] ?? 'decided';
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  const summary = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  const refusals = results.flatMap(({ id, error }) => {
    const action = actions.find((one) => one.id === id);
    if (!error || !action) return [];
    return lateNews(action, error) ?? `${action.action?.toolName} by ${action.agentId}: ${error.message}`;
  });
  return [...(summary === '' ? [] : [`${summary}.`]), ...refusals].join(' ');
}
