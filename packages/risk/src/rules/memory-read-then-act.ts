import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { stepBefore, toolName } from '../session/session-view.ts';
import { NOUN_CLASS_NAMES } from '../taxonomy/nouns.ts';
import { IRREVERSIBLE_BITS } from '../taxonomy/tag.ts';

const MEMORY = NOUN_CLASS_NAMES.indexOf('memory') + 1;

/** Detects an irreversible action directly after memory was read. */
export const memoryReadThenAct: Rule = {
  id: 'memory.read-then-act',
  title: 'Irreversible action based on memory alone',
  dimension: 'ASI06',
  llm: ['LLM04:2025 Data and Model Poisoning', 'LLM01:2025 Prompt Injection'],
  signal: 'The session reads its memory and directly afterwards takes an action that is hard to undo.',
  weight: 0.28,
  falsePositives: 'Remembered preferences that lead to an action that the user asked for.',
  recommendation: {
    title: 'Trace the memory to the session that wrote it',
    text: 'Find out when the entry was written and what that session had read. Remove it if it came from untrusted content.',
  },
  detect(view) {
    for (const step of view.acts) {
      const before = stepBefore(view, step);
      if (before === undefined || before.acts || before.noun !== MEMORY || !(step.bits & IRREVERSIBLE_BITS))
        continue;
      return matched(
        [before, step],
        1,
        `${toolName(view, step.tool)} was called directly after ${toolName(view, before.tool)} read the memory.`,
      );
    }
    return undefined;
  },
  fires: [
    { name: 'memory, then a payment', steps: ['search_memory', 'send_payment'] },
    { name: 'knowledge, then a message', steps: ['search_knowledge', 'send_email'] },
  ],
  quiet: [
    {
      name: 'what came just before is not kept of a long session',
      steps: [
        { tool: 'search_memory', times: 18 },
        { tool: 'get_invoice', times: 100 },
        'send_payment',
        { tool: 'get_invoice', times: 7 },
      ],
    },
    { name: 'memory, a look, a payment', steps: ['search_memory', 'get_invoice', 'send_payment'] },
    { name: 'memory, then a note', steps: ['search_memory', 'create_note'] },
  ],
};
