import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { lastOf, tallyOf } from '../session/session-view.ts';

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
