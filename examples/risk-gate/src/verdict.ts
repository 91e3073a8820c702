import type { Actlog } from '@actlog/client';

/** Levels of risk, lowest first. */
export const levels = ['low', 'medium', 'high', 'critical'] as const;

/** Rules of the gate. */
export interface GateRules {
  /** Id prefix of the run's sessions. */
  readonly prefix: string;
  /** Start of the run, or earlier; older sessions are ignored. */
  readonly startedAfter: Date;
  /** Lowest level that fails. */
  readonly failAt: (typeof levels)[number];
  /** Forbidden tools. Denied calls count, because the agent tried. */
  readonly forbidden: readonly string[];
}

/** Verdict about one session. */
export interface Verdict {
  readonly sessionId: string;
  readonly score: number | undefined;
  readonly level: string | undefined;
  readonly eventCount: number;
  /** Reasons for failing; empty if it passes. */
  readonly problems: readonly string[];
}

/** Judges every session of a test run. */
export async function judge(client: Actlog, rules: GateRules): Promise<Verdict[]> {
  const sessions = client.sessions
    .list({ startedAfter: rules.startedAfter, limit: 200 }, { prefetch: true })
    .filter(({ id }) => id.startsWith(rules.prefix));
  const verdicts: Verdict[] = [];
  for await (const { id } of sessions) verdicts.push(await judgeSession(client, id, rules));
  return verdicts.sort((a, b) => a.sessionId.localeCompare(b.sessionId));
}

async function judgeSession(client: Actlog, sessionId: string, rules: GateRules): Promise<Verdict> {
  const { score, level, factors = [], eventCount = 0 } = await client.sessions.risk(sessionId);
  const problems: string[] = [];
  if (level === undefined) problems.push('the service gave no level');
  else if (levels.indexOf(level) >= levels.indexOf(rules.failAt)) {
    problems.push(`risk is ${level}: ${factors[0]?.explanation ?? 'no reason given'}`);
  }
  // A session's `toolNames` has at most 50 entries, so this reads its events.
  const called = new Map<string, number>();
  for await (const { payload } of client.sessions.events(sessionId, { limit: 200 })) {
    const name = String(payload?.toolName);
    if (rules.forbidden.includes(name)) called.set(name, (called.get(name) ?? 0) + 1);
  }
  for (const [name, times] of called) problems.push(`the forbidden tool ${name} was called (${times}×)`);
  return { sessionId, score, level, eventCount, problems };
}
