import { isTo, type Mutant, refusal } from './mutant.ts';

let seconds = 0;

/** Returns a time one second after the last one. */
export function freshTime(): string {
  seconds += 1;
  return new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
}

/** Archives every policy only once. */
export function archivesOnce() {
  const archived = new Set<string>();
  return {
    request: ({ method, path }: { method: string; path: string }) => {
      if (method !== 'DELETE') return undefined;
      if (archived.has(path)) return refusal(404, 'NOT_FOUND');
      archived.add(path);
      return undefined;
    },
  };
}

/** Accepts a decision against an earlier one. */
export function turnsDecisions(): ReturnType<Mutant['fault']> {
  return {
    response: (it, passing) => {
      const isTurn = it.status === 409 && isTo('POST /v1/guardian/pending-actions/:id/decide', passing);
      if (isTurn) Object.assign(it, { status: 200, body: '{}' });
    },
  };
}

/** Returns 403 for the sessions of another tenant. */
export function forbidsForeign({ other }: { readonly other: string }): ReturnType<Mutant['fault']> {
  return {
    response: (it, passing) => {
      const isForeign =
        passing.headers.authorization === `Bearer ${other}` && passing.path.includes('-session-');
      if (isForeign && it.status === 404) it.status = 403;
    },
  };
}
