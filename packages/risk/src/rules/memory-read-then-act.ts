import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects an irreversible action after memory was read. */
export const memoryReadThenAct: Rule = {
  id: 'memory.read-then-act',
  title: 'Irreversible action after memory was read',
  dimension: 'ASI06',
  llm: ['LLM04:2025 Data and Model Poisoning', 'LLM01:2025 Prompt Injection'],
  signal: 'The session reads its memory and afterwards takes an action that is hard to undo.',
  weight: 0.2,
  acts: ['final'],
  circumstantial: true,
  falsePositives: 'Remembered preferences that lead to an action that the user asked for.',
  recommendation: {
    title: 'Trace the memory to the session that wrote it',
    text: 'Find out when the entry was written and what that session had read. Remove it if it came from untrusted content.',
  },
  detect(view) {
    const found = sequence(view, 'read_memory', 'final');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} was called after ${toolName(view, read.tool)} read the memory.`,
      tallyOf(view, 'final').count + 1,
    );
  },
  fires: [
    { name: 'memory, then a payment', steps: ['search_memory', 'send_payment'] },
    { name: 'knowledge, then a message', steps: ['search_knowledge', 'send_email'] },
  ],
  quiet: [
    { name: 'a payment, then the memory', steps: ['send_payment', 'search_memory'] },
    { name: 'memory, then a note', steps: ['search_memory', 'create_note'] },
  ],
};
