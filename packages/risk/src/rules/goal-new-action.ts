import { shareOf } from '../baseline/expectation.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf, toolName } from '../session/session-view.ts';
import { actionBits, irreversibleBits } from '../taxonomy/tag.ts';

/** Detects an action that this workflow never took. */
export const goalNewAction: Rule = {
  id: 'goal.new-action',
  title: 'Action that this workflow never took',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'The agent acts with a tool that no or almost no similar past session used. The actions of a workflow rarely change; injected actions are new.',
  weight: 0.25,
  acts: ['act'],
  cluster: 'new-action',
  habitual: false,
  falsePositives: 'A workflow that was extended on purpose or that varies a lot.',
  recommendation: {
    title: 'Confirm that the new action is wanted',
    text: 'If nobody changed the workflow, treat everything the agent read before the action as hostile. If it was changed, let the next sessions be learned.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined) return undefined;
    let best = 0;
    let strange = 0;
    let calls = 0;
    for (const [hash, tool] of view.tools) {
      if ((tool.bits & actionBits) === 0) continue;
      const share = shareOf(expected, (past) => past.tools.has(hash));
      const novelty = share === 0 ? 1 : share <= 1 / 3 ? 0.3 : 0;
      if (novelty === 0) continue;
      calls += tool.count;
      const strength = novelty * (tool.bits & irreversibleBits ? 1 : 0.85);
      if (strength <= best) continue;
      best = strength;
      strange = hash;
    }
    if (best === 0) return undefined;
    const acts = tallyOf(view, 'act');
    return matched(
      acts.lastTool === strange ? [lastOf(acts)] : [firstOf(acts)],
      best * expected.confidence,
      `${toolName(view, strange)} is an action that similar past sessions never or almost never took.`,
      calls,
    );
  },
  fires: [
    {
      name: 'sends where it only ever read',
      steps: ['search_emails', 'send_email'],
      history: [['search_emails'], ['search_emails', 'read_email'], ['search_emails']],
    },
  ],
  quiet: [
    {
      name: 'sends as always',
      steps: ['search_emails', 'send_email'],
      history: [
        ['search_emails', 'send_email'],
        ['search_emails', 'send_email'],
      ],
    },
    { name: 'no past is known', steps: ['search_emails', 'send_email'] },
  ],
};
