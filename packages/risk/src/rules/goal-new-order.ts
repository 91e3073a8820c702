import { stepHash } from '../baseline/past-session.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

/** Detects an action at an unusual position of the workflow. */
export const goalNewOrder: Rule = {
  id: 'goal.new-order',
  title: 'Action at an unusual position in the workflow',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    'An action follows a call that it never followed in similar past sessions, or reading continues where it always ended.',
  weight: 0.23,
  habitual: false,
  falsePositives: 'Models vary the order of their calls.',
  recommendation: {
    title: 'Compare with an earlier session of the workflow',
    text: 'Compare the session with an earlier one and check what directly preceded the action.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined) return undefined;
    let before = 0;
    let beforeActs = false;
    let resumes = false;
    const found = view.steps.filter((step) => {
      const step16 = stepHash(before, step.tool);
      const seen = expected.near.some((past) => past.steps.has(step16));
      const odd = !seen && !step.followsGap && (step.acts || beforeActs);
      if (odd && !step.acts) resumes = true;
      before = step.tool;
      beforeActs = step.acts;
      return odd;
    });
    const first = found[0];
    if (first === undefined) return undefined;
    const strength = (resumes ? 1 : 0.7) * expected.confidence;
    return matched(
      found,
      strength,
      `${toolName(view, first.tool)} was called at a position where past sessions never called it.`,
    );
  },
  fires: [
    {
      name: 'acts before it has read all',
      steps: ['read_inbox', 'send_message', 'read_file'],
      history: [['read_inbox', 'read_file', 'send_message']],
    },
  ],
  quiet: [
    {
      name: 'the usual order',
      steps: ['read_inbox', 'read_file', 'send_message'],
      history: [['read_inbox', 'read_file', 'send_message']],
    },
    {
      name: 'reads in another order',
      steps: ['read_file', 'read_inbox'],
      history: [['read_inbox', 'read_file']],
    },
  ],
};
