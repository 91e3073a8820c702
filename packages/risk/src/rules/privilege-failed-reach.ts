import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

const MANY = 3;

/** Detects reads of one object after another until some are refused. */
export const privilegeFailedReach: Rule = {
  id: 'privilege.failed-reach',
  title: 'Reading one object after another until some fail',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'One read tool is called for several different objects; some calls succeed, then one fails: the agent enumerates objects beyond its permissions.',
  weight: 0.4,
  falsePositives: 'Guessing at names that do not exist.',
  recommendation: {
    title: 'Narrow what the agent can reach',
    text: 'Give its key access only to what the task needs, and check what it read before the failure.',
  },
  detect(view) {
    const failing = new Set(
      view.steps.filter((step) => !step.acts && step.outcome !== 0).map((step) => step.tool),
    );
    for (const hash of failing) {
      const calls = view.steps.filter((step) => step.tool === hash && !step.acts && step.argument !== 0);
      if (calls.length < MANY || new Set(calls.map((step) => step.argument)).size < MANY) continue;
      const succeeded = calls.find((step) => step.outcome === 0);
      const failed = calls.filter(
        (step) => step.outcome !== 0 && succeeded !== undefined && step.at > succeeded.at,
      );
      if (failed.length === 0) continue;
      return matched(
        [succeeded as (typeof calls)[number], ...failed],
        1,
        `${toolName(view, hash)} was called for ${new Set(calls.map((step) => step.argument)).size} different objects and failed for some of them.`,
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
