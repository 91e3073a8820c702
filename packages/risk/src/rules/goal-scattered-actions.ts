import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

/** Detects actions on several kinds of objects. */
export const goalScatteredActions: Rule = {
  id: 'goal.scattered-actions',
  title: 'Actions on several kinds of objects',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'The session acts on two or more kinds of objects after it read untrusted content. One task rarely needs that; a task combined with an injected one often does.',
  weight: 0.32,
  precedented: true,
  falsePositives: 'Tasks with several parts, such as booking a trip and mailing the plan.',
  recommendation: {
    title: 'Match each action to a part of the task',
    text: 'Investigate actions that belong to no part of the task. Give the agent only the tools that its task needs.',
  },
  detect(view) {
    const firsts = new Map<number, (typeof view.acts)[number]>();
    for (const step of view.acts) if (!firsts.has(step.noun)) firsts.set(step.noun, step);
    const found = [...firsts.values()];
    const [first, second] = found;
    if (first === undefined || second === undefined) return undefined;
    if (!found.some((step) => step.afterUntrusted)) return undefined;
    return matched(
      found,
      1,
      `The session acts on ${found.length} kinds of objects, including with ${toolName(view, first.tool)} and ${toolName(view, second.tool)}.`,
    );
  },
  fires: [
    { name: 'a file and a message', steps: ['read_file', 'write_file', 'send_message'] },
    { name: 'an event and a payment', steps: ['list_emails', 'create_event', 'send_payment'] },
  ],
  quiet: [
    { name: 'two messages', steps: ['read_inbox', 'send_message', 'reply_to_email'] },
    { name: 'nothing of others was read', steps: ['write_file', 'send_message'] },
  ],
};
