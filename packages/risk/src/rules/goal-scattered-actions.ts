import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';

function size(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Detects actions on several kinds of objects. */
export const goalScatteredActions: Rule = {
  id: 'goal.scattered-actions',
  title: 'Actions on several kinds of objects',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'The session acts on two or more kinds of objects after it read untrusted content. One task rarely needs that; a task combined with an injected one often does.',
  weight: 0.42,
  circumstantial: true,
  precedented: true,
  falsePositives: 'Tasks with several parts, such as booking a trip and mailing the plan.',
  recommendation: {
    title: 'Match each action to a part of the task',
    text: 'Investigate actions that belong to no part of the task. Give the agent only the tools that its task needs.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'reach');
    const kinds = size(view.state.reachedNouns);
    if (found === undefined || kinds < 2) return undefined;
    const [read, act] = found;
    const acts = tallyOf(view, 'reach');
    return matched(
      [read, act, lastOf(acts)],
      1,
      `The session acts on ${kinds} kinds of objects, including with ${toolName(view, act.tool)}.`,
      acts.count,
    );
  },
  fires: [
    { name: 'an event and a message', steps: ['read_file', 'create_event', 'send_message'] },
    { name: 'an event and a payment', steps: ['list_emails', 'create_event', 'send_payment'] },
  ],
  quiet: [
    { name: 'two messages', steps: ['read_inbox', 'send_message', 'reply_to_email'] },
    { name: 'nothing of others was read', steps: ['write_file', 'send_message'] },
  ],
};
