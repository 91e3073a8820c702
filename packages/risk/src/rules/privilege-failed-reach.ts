import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { lastOf, tallyOf, toolName } from '../session/session-view.ts';

const manyFailedReaches = 3;

/** Detects reads of one object after another until some are refused. */
export const privilegeFailedReach: Rule = {
  id: 'privilege.failed-reach',
  title: 'Reading one object after another until some fail',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'One read tool is called three times or more; some calls succeed, then one fails: the agent may enumerate objects beyond its permissions.',
  weight: 0.12,
  falsePositives: 'Guessing at names that do not exist.',
  recommendation: {
    title: 'Narrow what the agent can reach',
    text: 'Give its key access only to what the task needs, and check what it read before the failure.',
  },
  detect(view) {
    for (const [hash, tool] of view.state.looking.entries()) {
      const { count, firstSuccessMs, lastFailedMs } = tool;
      if (count < manyFailedReaches || firstSuccessMs === 0 || lastFailedMs <= firstSuccessMs) continue;
      const failed = tallyOf(view, 'failed_look');
      const refused = tallyOf(view, 'unauthorized');
      return matched(
        [lastOf(failed.count > 0 ? failed : refused)],
        1,
        `${toolName(view, hash)} was called ${count} times and failed after it had succeeded.`,
        count,
      );
    }
    return undefined;
  },
  fires: [
    {
      name: 'three channels, the last is closed',
      steps: [
        { tool: 'read_channel', times: 3 },
        { tool: 'read_channel', status: 403 },
      ],
    },
  ],
  quiet: [
    { name: 'three channels, all open', steps: [{ tool: 'read_channel', times: 3 }] },
    { name: 'one that fails, then works', steps: [{ tool: 'read_channel', status: 500 }, 'read_channel'] },
  ],
};
