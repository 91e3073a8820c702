import { counted, matched, type Rule, stamped } from '../rule.ts';
import { lastOf, tallyOf } from '../session/session-view.ts';

/** Detects the same action by several agents. */
export const cascadeSameIntent: Rule = {
  id: 'cascade.same-intent',
  title: 'Same action by several agents',
  dimension: 'ASI08',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'At least three agents take the same action within minutes, which suggests a common cause.',
  weight: 0.3,
  acts: ['same_intent'],
  falsePositives: 'Agents that were started together for one job.',
  recommendation: {
    title: 'Find the common cause',
    text: 'Look for the text or message that all of them read. Make such actions idempotent.',
  },
  detect: (view) =>
    stamped(view, 'same_intent', 1, 'Several agents took the same action within a few minutes.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_email', stamps: ['same_intent'] }] }],
  quiet: [{ name: 'alone', steps: ['send_email'] }],
};

/** Detects failures that several agents share. */
export const cascadeFailureSpread: Rule = {
  id: 'cascade.failure-spread',
  title: 'Failures across several agents',
  dimension: 'ASI08',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal: 'Calls fail while calls of at least two other agents also fail: a fault is cascading.',
  weight: 0.25,
  acts: ['failure_spread'],
  falsePositives: 'A shared service that is down.',
  recommendation: {
    title: 'Find the common cause',
    text: 'Look for the tool or service that all of them use, and pause the agents that keep retrying.',
  },
  detect: (view) =>
    stamped(view, 'failure_spread', 1, 'Calls failed while calls of several other agents also failed.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'read_file', status: 503, stamps: ['failure_spread'] }] }],
  quiet: [{ name: 'a failure of its own', steps: [{ tool: 'read_file', status: 503 }] }],
};

const manyFailures = 12;

/** Detects a session that continues although many calls fail. */
export const cascadeFailingOn: Rule = {
  id: 'cascade.failing-on',
  title: 'Continuing although many calls fail',
  dimension: 'ASI08',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal: 'Twelve calls or more fail: the agent does not stop on errors.',
  weight: 0.12,
  falsePositives: 'Outages during which an agent retries correctly.',
  recommendation: {
    title: 'Stop the agent on repeated failures',
    text: 'Set a limit of failures after which it asks a person.',
  },
  detect(view) {
    const failed = (['unauthorized', 'throttled', 'client_error', 'server_error'] as const).map((mark) =>
      tallyOf(view, mark),
    );
    const failures = failed.reduce((sum, tally) => sum + tally.count, 0) - view.withheld;
    if (failures < manyFailures) return undefined;
    return matched(
      failed.filter(({ count }) => count > 0).map(lastOf),
      Math.min(1, failures / 24),
      `${counted(failures, 'call')} failed, and the agent continued.`,
      failures,
    );
  },
  fires: [
    { name: 'fourteen of fifteen fail', steps: ['read_file', { tool: 'read_page', status: 500, times: 14 }] },
  ],
  quiet: [
    {
      name: 'thirty that a policy denied',
      steps: Array.from({ length: 30 }, (_, at) => [
        { tool: 'pay', given: `${at}`, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'pay', given: `${at}`, status: 403 },
      ])
        .flat()
        .concat([{ tool: 'get_record', given: 'a', status: 200 }]),
    },
    { name: 'three fail', steps: [{ tool: 'read_page', status: 500, times: 3 }] },
    {
      name: 'eight of thirty fail',
      steps: [
        { tool: 'read_file', times: 22 },
        { tool: 'read_page', status: 500, times: 8 },
      ],
    },
  ],
};
